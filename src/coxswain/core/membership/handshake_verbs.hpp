#pragma once
// Hello and Resume (§3.1, §2.2): admission, and how a session continues.

#include "coxswain/core/access/credential.hpp"
#include "coxswain/core/kernel/concern.hpp"
#include "coxswain/core/kernel/sessions.hpp"
#include "coxswain/core/membership/wrong_tokens.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::core {

class handshake_verbs final : public concern {
 public:
  using concern::concern;

  void hello(time_point now, connection_id from, hello_args const& args);
  void resume(time_point now, connection_id from, std::uint64_t answered_through,
              resume_args const& args);
  void replace_credentials(std::vector<credential> by);
  // The address of a peer that was refused for its token; null for others.
  [[nodiscard]] std::string const* wrong_token(connection_id of) const;
  // The highest term that a client has seen, if it is above this coordinator's.
  [[nodiscard]] std::optional<std::uint64_t> newer_term() const noexcept;
  // Sums up the wrong tokens of a period.
  void wrong_tokens_due(time_point now);

  void save(state_writer& to) const override;
  void load(state_reader& from) override;
  void job_failed(time_point, status const&, barrier_failure const*) override {}
  void stopping(time_point now, status const& why) override;
  [[nodiscard]] std::size_t armed() const override { return wrong_tokens_alarm_.armed() ? 1 : 0; }

 private:
  static void fields(auto& a, auto& s) {
    a.members(s.wrong_tokens_, s.wrong_tokens_alarm_, s.newer_term_);
  }

  [[nodiscard]] status refusal(hello_args const& args) const;
  [[nodiscard]] std::optional<role> role_of(hello_args const& args) const;
  void refuse_hello(time_point now, connection_id from, status why);
  void carry_on(time_point now, connection_id from, std::uint64_t answered_through,
                resume_args const& args);
  void was_replaced(connection_id from, std::uint64_t term);

  wrong_tokens wrong_tokens_;
  alarm wrong_tokens_alarm_;
  std::uint64_t newer_term_{};
};

}  // namespace coxswain::core
