#pragma once
// The keys: an ordered map of paths to values, the log of their changes, and the calls that wait
// for keys. Every change gives the key a new version from one counter. Waiters are returned to the
// caller, which answers them. Not here: deadlines and replies (coordinator).

#include "coxswain/base/bytes.hpp"
#include "coxswain/base/fifo.hpp"
#include "coxswain/base/ids.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/core/kernel/ticket.hpp"
#include "coxswain/core/keyspace/change_log.hpp"
#include "coxswain/core/keyspace/name_index.hpp"

#include <boost/multi_index/member.hpp>
#include <boost/multi_index/ranked_index.hpp>
#include <boost/multi_index_container.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::core {

// Removes slashes at both ends and repeated slashes (§7.3.1, §7.1). INVALID_ARGUMENT: a NUL
// byte, or text that is not UTF-8. RESOURCE_EXHAUSTED: what remains is longer than `bytes_max`.
[[nodiscard]] status normalise_key(std::string& key, std::size_t bytes_max);

// ALREADY_EXISTS, NOT_FOUND. The key is shortened, since a kept reply has at most 1 KiB (§2.2).
[[nodiscard]] status key_exists(std::string_view key);
[[nodiscard]] status no_such_key(std::string_view key);

// The process of a task that has stored a value. Zero: it is not known.
struct key_maker {
  incarnation self{};
  task_id task{};

  // Whether it is another process of the same task.
  [[nodiscard]] bool precedes(key_maker const& other) const noexcept {
    return self != incarnation{} && other.self != incarnation{} && self != other.self &&
           task == other.task;
  }
};

class kv_store {
 public:
  // Of one task, from its first ephemeral key to its end.
  struct ephemeral_keys {
    task_id owner;
    bool has_ended{};                 // they are being removed
    std::set<std::string_view> keys;  // views of the entries' keys
  };

  struct entry {
    owned_bytes value;
    std::uint64_t version{};
    ephemeral_keys* ephemeral{};  // null: it outlives its task
    key_maker made_by;            // of the whole value

    [[nodiscard]] bool has_ended() const noexcept { return ephemeral && ephemeral->has_ended; }
    [[nodiscard]] std::optional<task_id> owner() const {
      return ephemeral ? std::optional{ephemeral->owner} : std::nullopt;
    }
  };

  // Identifies a waiter of a key.
  using waiter_number = std::uint64_t;

  explicit kv_store(meter_ptr memory, change_log::limits remembered = {})
      : memory_{std::move(memory)}, changes_{memory_, remembered} {}
  ~kv_store();
  kv_store(kv_store const&) = delete;
  kv_store& operator=(kv_store const&) = delete;

  // Null if the key has no value, or its task has ended.
  [[nodiscard]] entry const* find(std::string const& key) const;

  // What a change has made of a key.
  struct changed {
    std::uint64_t version{};
  };

  // A short value is copied, so that the caller can use its memory again.
  // ALREADY_EXISTS: the key has a value and `overwrite` is false.
  // RESOURCE_EXHAUSTED: the store's memory is used up.
  result<changed> put(std::string const& key, std::string&& value, bool overwrite,
                      std::optional<task_id> const& owner = std::nullopt, key_maker const& by = {});

  // The key, which exists, keeps its value and version, but is made by another process now.
  void inherit(std::string const& key, key_maker const& by);

  // Adds to the end of the value, whoever owns it. RESOURCE_EXHAUSTED as above.
  result<changed> append(std::string const& key, std::string_view more);

  // RESOURCE_EXHAUSTED: there is no room for values of this size and their overhead, even after
  // dropping all old changes. A sixteenth of the memory stays free of values, so that barriers
  // still work when values fill the rest.
  [[nodiscard]] status make_room(std::size_t value_bytes, std::size_t beside);

  void forget_changes();

  // The memory of a new key without its value, but with its change.
  [[nodiscard]] static std::size_t cost_of(std::string const& key);

  // Replaces the value without a change or a version. Returns the old one; does nothing if there is
  // none.
  bytes exchange(std::string const& key, bytes by);

  struct sum {
    std::int64_t value{};
    std::uint64_t version{};
  };

  // FAILED_PRECONDITION: the value is not a decimal 64-bit integer. OUT_OF_RANGE: the sum
  // overflows.
  result<sum> increment(std::string const& key, std::int64_t by);

  // Returns whether there was such a key.
  bool remove(std::string const& key);

  struct removal {
    std::uint64_t count{};
    std::string last{};  // more keys follow this one; empty: there are none
  };

  // Removes the key equal to the directory, and the first keys below it, up to a limit; the empty
  // directory is the root. To continue, pass the `last` of the previous removal as `after`.
  removal remove_tree(std::string const& directory, std::string const& after, std::size_t most);

  // Removes all keys with longer values. Returns how many.
  std::size_t remove_larger(std::size_t than);

  // The task has ended: its ephemeral keys are absent for `find`, and are to be removed.
  void end_owner(task_id owner);
  // Each task in `moved` has its new number.
  void renumber_owners(std::map<task_id, task_id> const& moved);
  [[nodiscard]] bool has_ended_keys() const noexcept { return !ended_.empty(); }
  // Removes keys of tasks that have ended, in the order of their ends and in byte order, up to a
  // limit. Returns how many.
  std::size_t remove_ended(std::size_t most);
  // Removes this one, if its task has ended. Returns whether it has.
  bool remove_if_ended(std::string const& key);

  // Everything below `directory`, at any depth, in byte order; the empty directory is the root.
  // `visit(key, entry)` returns false to stop.
  template <class Visit>
  void list(std::string const& directory, Visit visit) const {
    scan(directory.empty() ? "" : directory + '/', "", visit);
  }

  // The same for all keys that begin with `prefix` and come after `after`.
  template <class Visit>
  void scan(std::string const& prefix, std::string const& after, Visit visit) const {
    for (auto at = first(prefix, after); at != entries_.end(); ++at) {
      if (!at->first.starts_with(prefix) || !visit(at->first, at->second)) return;
    }
  }

  // How many keys `list` visits, without visiting them.
  [[nodiscard]] std::uint64_t count(std::string const& directory) const;

  // A key with a value whose name is probably what was meant: it differs in one place, by at most
  // two characters that are not just another number. Looks at the keys around it only.
  [[nodiscard]] std::optional<std::string> similar_to(std::string const& key) const;

  waiter_number wait(std::string const& key, ticket who);
  void cancel(std::string const& key, waiter_number number);

  // Removes and returns the waiters of the key, oldest first.
  std::vector<ticket> take_waiters(std::string const& key);

  // The same for all keys, in the order of the keys.
  std::vector<ticket> take_all_waiters();

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] std::size_t bytes_stored() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_; }
  // Of the last change of any key.
  [[nodiscard]] std::uint64_t version() const noexcept { return changes_.last(); }
  // INVALID_ARGUMENT: the keys have not reached this version.
  [[nodiscard]] status checked_version(std::uint64_t version) const;
  [[nodiscard]] change_log const& changes() const noexcept { return changes_; }
  // Of the tasks that own keys and have not ended.
  [[nodiscard]] auto const& owned() const noexcept { return owned_; }

  static void fields(auto& a, auto& s);

 private:
  struct named_entry {
    std::string first;
    mutable entry second;
  };
  // In byte order of the keys; it knows how many come before each.
  using entries = boost::multi_index_container<
      named_entry, boost::multi_index::indexed_by<boost::multi_index::ranked_unique<
                       boost::multi_index::member<named_entry, std::string, &named_entry::first>>>>;

  // The first key that may begin with `prefix` and comes after `after`.
  [[nodiscard]] entries::const_iterator first(std::string const& prefix,
                                              std::string const& after) const {
    return after < prefix ? entries_.lower_bound(prefix) : entries_.upper_bound(after);
  }

  result<changed> set(std::string const& key, std::string&& value,
                      std::optional<task_id> const& owner, key_maker const& by = {});
  entries::iterator add(std::string const& key);
  void give(entries::iterator at, ephemeral_keys& to);
  void own(entries::iterator at, std::optional<task_id> const& owner);
  entries::iterator erase(entries::iterator at);

  meter_ptr memory_;
  entries entries_;
  name_index<entries> index_;
  std::map<std::string, std::map<waiter_number, ticket>, std::less<>> waiters_;
  std::map<task_id, std::unique_ptr<ephemeral_keys>> owned_;
  fifo<std::unique_ptr<ephemeral_keys>> ended_;
  change_log changes_;
  waiter_number waiter_{};
  std::size_t bytes_{};
  std::size_t waiting_{};
};

}  // namespace coxswain::core
