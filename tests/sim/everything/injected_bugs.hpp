#pragma once
// Bugs planted into a simulated job: messages between a client and the coordinator are changed in
// transit, or the coordinator is configured differently than promised. The rules must find each of
// them. Not here: the rules.

#include "coxswain/core/config.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/frame.hpp"
#include "tests/sim/memory_journal.hpp"
#include "tests/sim/network.hpp"
#include "tests/sim/relay_process.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::sim {

class bug_injector;

using client_messages = std::vector<core::client_message>;
using server_messages = std::vector<wire::server_message>;

struct injected_bug {
  std::string_view name;
  std::string_view imitates;
  // May change, duplicate or remove the message: initially there is one.
  void (*up)(bug_injector& by, std::size_t process, client_messages& sent){};
  void (*down)(bug_injector& by, std::size_t process, server_messages& sent){};
  void (*configure)(core::config& options){};
  restart_bug restarts{restart_bug::none};
  bool is_of_epochs{};  // found in elastic jobs
  bool is_of_relays{};  // found in jobs with relays
  relay_bug relays{relay_bug::none};
};

[[nodiscard]] std::vector<injected_bug> const& all_bugs();
// Null if there is none of this name.
[[nodiscard]] injected_bug const* find_bug(std::string_view name);

// Changes messages on all connections of a job except the auditor's.
class bug_injector {
 public:
  bug_injector(injected_bug const& how, std::uint64_t seed) : how_{how}, random_{seed} {}

  [[nodiscard]] std::string up(std::size_t process, link const& on, std::string_view bytes);
  [[nodiscard]] std::string down(std::size_t process, link const& on, std::string_view bytes);

  // For the injected bugs.
  [[nodiscard]] bool one_in(std::uint64_t n) { return between(random_, 1, n) == 1; }
  // The request with this id if it is of one of these kinds; else null.
  template <class Args>
  [[nodiscard]] Args const* asked(std::size_t process, request_id id) const {
    auto const at = requests_.find({process, id});
    return at == requests_.end() ? nullptr : std::get_if<Args>(&at->second);
  }
  [[nodiscard]] bool is_guest(std::size_t process) const { return guests_.contains(process); }
  // State of an injected bug, by key or queue.
  std::map<std::string, core::value_answer> remembered;

 private:
  [[nodiscard]] wire::frame_decoder& decoder(std::map<std::uint64_t, wire::frame_decoder>& of,
                                             link const& on);

  injected_bug const& how_;
  generator random_;
  std::map<std::uint64_t, wire::frame_decoder> up_;
  std::map<std::uint64_t, wire::frame_decoder> down_;
  std::map<std::pair<std::size_t, request_id>, core::request> requests_;
  std::set<std::size_t> guests_;
};

}  // namespace coxswain::sim
