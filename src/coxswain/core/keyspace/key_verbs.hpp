#pragma once
// Keys: changing and reading them, and waking waiting calls. Not here: the keys (kv_store), gets of
// several keys (multi_get_verbs), watches (key_watch_verbs).

#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/concern.hpp"
#include "coxswain/core/keyspace/kv_store.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace coxswain::core {

class key_verbs final : public blocking_concern, public timed_concern {
 public:
  explicit key_verbs(concerns& all);

  void handle(call const& c, put_args& args);
  void handle(call const& c, append_args& args);
  void handle(call const& c, compare_and_set_args& args);
  void handle(call const& c, put_all_args& args);
  void handle(call const& c, remove_args& args);
  void handle(call const& c, remove_tree_args& args);
  void handle(call const& c, increment_args& args);
  void handle(call const& c, get_args& args);
  void handle(call const& c, try_get_args& args);
  void handle(call const& c, list_args& args);
  void handle(call const& c, count_keys_args& args);

  // See the functions of coordinator.
  [[nodiscard]] listing_answer keys(std::string const& prefix, std::string const& after,
                                    std::size_t most) const;
  [[nodiscard]] result<value_answer> value(std::string_view key) const;
  bytes exchange_value(std::string_view key, bytes by);

  // The task is gone, and its ephemeral keys with it: they are absent at once, and are removed a
  // page at a time between two advances.
  void remove_keys_of(task_id owner);
  void remove_page_of_ended_keys();
  [[nodiscard]] bool has_ended_keys() const noexcept {
    return keys_.has_ended_keys() || !ended_directories_.empty();
  }
  // Removes the directory likewise; its keys are there until then.
  void remove_directory(std::string directory);
  // Each task in `moved` has its new number.
  void renumber(std::map<task_id, task_id> const& moved) { keys_.renumber_owners(moved); }
  // Before a call looks at the key, so that no client sees it after its removal was announced.
  void remove_if_ended(std::string const& key);

  // Whether the decision about a put depends on its value: the key was made by a process of a task,
  // and has a value of this length.
  [[nodiscard]] bool compares_value(put_args const& put) const;

  // "; 'address/0' exists" for a key without a value, if its name may be misspelt; else empty.
  [[nodiscard]] std::string similar_text(std::string const& key);

  [[nodiscard]] kv_store& store() noexcept { return keys_; }
  [[nodiscard]] kv_store const& store() const noexcept { return keys_; }
  // Normalizes the key.
  [[nodiscard]] status checked_key(std::string& key, std::string_view what = "key") const;
  // OK: a value may be that long, and `may_be_volatile`.
  [[nodiscard]] status checked_value(std::size_t bytes, bool may_be_volatile = false) const;
  // The coordinator was restarted: its volatile values are gone.
  void forget_volatile_values();
  [[nodiscard]] status checked_count(session const& by, std::size_t keys) const;
  // OK if one reply may have this encoded size and hold this many bytes of keys; else the text
  // names the limit.
  [[nodiscard]] status checked_listing(std::size_t encoded, std::size_t keys) const;

  void save(state_writer& to) const override;
  void load(state_reader& from) override;
  void job_failed(time_point now, status const& why, barrier_failure const* missing) override;
  void stopping(time_point now, status const& why) override;
  void check_invariants() const override;

  void cancel(ticket who, parked const& p) override;
  [[nodiscard]] answer_ptr overdue(time_point now, parked const& p) override;
  [[nodiscard]] std::string missing_text(time_point now, ticket who, parked const& p) override;
  [[nodiscard]] std::string goal_text(parked const& p) const override;
  [[nodiscard]] std::string stuck_text(parked const& p) const override;
  [[nodiscard]] std::vector<task_id> awaited(parked const&) const override { return {}; }
  [[nodiscard]] std::size_t waiting() const override;
  void check(ticket who, parked const& p) const override;

 private:
  [[nodiscard]] bool is_volatile(kv_store::entry const* held) const;
  [[nodiscard]] key_maker maker(call const& c) const;
  static void fields(auto& a, auto& s) {
    a.members(s.keys_, s.removals_left_, s.ended_directories_);
  }

  [[nodiscard]] status may_put_all(put_all_args const& args, std::size_t bytes, std::size_t beside);
  void stored(call const& c, std::string const& key, result<kv_store::changed> const& made);
  void wake(std::string const& key);
  void cancel_reads(status const& why);
  void remove_ended_keys();

  kv_store keys_;
  std::size_t removals_left_;
  fifo<std::string> ended_directories_;
  rare_string awaited_last_;  // the last key a get waited for: the next often waits for the same
};

}  // namespace coxswain::core
