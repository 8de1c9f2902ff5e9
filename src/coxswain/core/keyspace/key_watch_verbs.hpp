#pragma once
// Watches of keys: what has changed below a directory since a version. Not here: the waiting calls
// (key_watches), the changes (change_log).

#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/concern.hpp"
#include "coxswain/core/keyspace/key_watches.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace coxswain::core {

class key_watch_verbs final : public waiting_concern, public timed_concern {
 public:
  explicit key_watch_verbs(concerns& all);

  void handle(call const& c, watch_keys_args& args);
  // Something may have changed after that version.
  void answer_watchers(std::uint64_t since);
  // The error for changes that are no longer kept.
  [[nodiscard]] answer_ptr forgotten() const;

  void save(state_writer& to) const override;
  void load(state_reader& from) override;
  void job_failed(time_point, status const&, barrier_failure const*) override {}
  void stopping(time_point now, status const& why) override;

  void cancel(ticket who, parked const& p) override;
  [[nodiscard]] answer_ptr overdue(time_point now, parked const& p) override;
  [[nodiscard]] std::string missing_text(time_point, ticket, parked const&) override {
    return "nothing has changed";
  }
  [[nodiscard]] std::size_t waiting() const override;
  void check(ticket who, parked const& p) const override;

 private:
  static void fields(auto& a, auto& s) { a(1, s.watches_); }

  [[nodiscard]] key_changes_answer changes_below(std::string const& directory,
                                                 std::uint64_t after) const;

  key_watches watches_;
};

}  // namespace coxswain::core
