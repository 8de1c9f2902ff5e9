#pragma once
// Calls without a reply yet, by the id of the request that waits for them in the core; also by
// stream, in `client::calls`. Counts their memory as in transit, and the answered ones by method.
// Private to xla. Not thread-safe.

#include "coxswain/base/bytes.hpp"
#include "coxswain/base/ids.hpp"
#include "coxswain/base/recycling_allocator.hpp"
#include "coxswain/xla/directory_pages.hpp"
#include "coxswain/xla/effects.hpp"
#include "coxswain/xla/messages.hpp"
#include "coxswain/xla/methods.hpp"
#include "coxswain/xla/outcome.hpp"
#include "coxswain/xla/task_session.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace coxswain::xla {

struct open_call {
  client* from{};  // null: no client waits for it
  std::int32_t stream{};
  method_path of{};
  carrier* by{};
  std::string name{};              // of its key, directory or barrier
  std::int64_t counter{};          // of its barrier
  std::vector<task_name> asked{};  // by GetAliveTasks; or the caller, for its job's name
  std::unique_ptr<directory_pages> pages{};
  std::unique_ptr<std::string> topology{};  // to be inserted, while its key is read
};

// Answered calls of a method, and how many of them failed.
struct call_count {
  std::uint64_t calls{};
  std::uint64_t failed{};
};
using call_counts = std::array<call_count, methods>;

class open_call_table {
 public:
  // Replies are appended to `replies`, which must outlive it.
  open_call_table(meter_ptr memory, std::vector<effect>& replies);
  ~open_call_table();
  open_call_table(open_call_table const&) = delete;
  open_call_table& operator=(open_call_table const&) = delete;

  // Ids rise and are never used again.
  request_id add(open_call call);
  // An open call waits for another request from now on. Returns that one's id.
  request_id renumber(request_id id);

  [[nodiscard]] bool contains(request_id id) const { return calls_.contains(id); }
  // The call must be open.
  [[nodiscard]] open_call& at(request_id id) { return calls_.at(id); }
  // Null: there is no such call.
  [[nodiscard]] open_call* find(request_id id);
  [[nodiscard]] std::size_t size() const noexcept { return calls_.size(); }

  // Nothing is sent if no client waits for the call.
  void answer(open_call const& to, outcome how, encoded_reply what = {},
              bool says_only_alive = false);
  // An open call ends without a reply; or with one.
  void forget(request_id id);
  void finish(request_id id, outcome how, encoded_reply what = {});

  // The client repeats an open call: the reply goes to that stream. The older call gets `how`.
  void move(request_id id, client& from, std::int32_t stream, outcome how);
  // No client waits for an open call any more.
  void abandon(request_id id);

  [[nodiscard]] call_counts const& counted() const noexcept { return counts_; }

  // Ends the program if something does not hold that always must.
  void check_invariants() const;

 private:
  static void unlink(open_call& call);

  meter_ptr memory_;
  std::vector<effect>& replies_;
  std::unordered_map<request_id, open_call, std::hash<request_id>, std::equal_to<>,
                     recycling_allocator<std::pair<request_id const, open_call>>>
      calls_;
  std::uint64_t last_id_{};
  call_counts counts_{};
};

}  // namespace coxswain::xla
