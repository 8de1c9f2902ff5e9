#include "coxswain/core/keyspace/kv_store.hpp"

#include "coxswain/core/kernel/text.hpp"
#include "coxswain/core/model/reasons.hpp"

#include <algorithm>
#include <charconv>

namespace coxswain::core {
namespace {

// The memory of an entry without its value: the key, at most twice, the nodes, and its index
// entries.
std::size_t overhead(std::string const& key) { return key.size() + 208; }

// The memory of its ownership.
constexpr std::size_t owner_overhead = 96;

// Whether it is ASCII without a NUL, and a path in its normal form, as most keys are.
bool is_plain(std::string_view key) noexcept {
  return !key.empty() && key.front() != '/' && key.back() != '/' && key.find("//") == key.npos &&
         std::all_of(key.begin(), key.end(),
                     [](char c) { return static_cast<signed char>(c) > 0; });
}

// The names without their common beginning and end have at most two characters each, not only
// digits.
bool is_misspelling(std::string_view a, std::string_view b) {
  constexpr std::size_t difference_max = 2;
  constexpr std::size_t common_min = 3;
  auto const [shorter, longer] = std::minmax({a.size(), b.size()});
  if (longer - shorter > difference_max || shorter < common_min) return false;
  auto const front = static_cast<std::size_t>(
      std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  a.remove_prefix(front);
  b.remove_prefix(front);
  auto const back = static_cast<std::size_t>(
      std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first - a.rbegin());
  a.remove_suffix(back);
  b.remove_suffix(back);
  auto const is_number = [](std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  return front + back >= common_min && std::max(a.size(), b.size()) <= difference_max &&
         !(is_number(a) && is_number(b));
}

}  // namespace

status normalise_key(std::string& key, std::size_t bytes_max) {
  if (key.size() <= bytes_max && is_plain(key)) return {};
  if (key.find('\0') != key.npos) return fail<&reasons::key_has_nul>();
  if (!is_utf8(key)) return fail<&reasons::key_is_not_utf8>();
  std::string path;
  path.reserve(key.size());
  for (char const c : key) {
    if (c != '/' || (!path.empty() && path.back() != '/')) path.push_back(c);
  }
  if (path.ends_with('/')) path.pop_back();
  if (path.size() > bytes_max)
    return fail<&reasons::too_long>("key", path.size(), "key_bytes_max", bytes_max);
  key = std::move(path);
  return {};
}

status key_exists(std::string_view key) { return fail<&reasons::key_exists>(shortened(key, 900)); }

status no_such_key(std::string_view key) {
  return fail<&reasons::no_such_key>(shortened(key, 900));
}

kv_store::~kv_store() {
  for (auto const& [key, e] : entries_) {
    memory_->subtract(overhead(key) + (e.ephemeral ? owner_overhead : 0));
  }
}

kv_store::entry const* kv_store::find(std::string const& key) const {
  auto const* const at = index_.find(key);
  return at && !(*at)->second.has_ended() ? &(*at)->second : nullptr;
}

result<kv_store::changed> kv_store::put(std::string const& key, std::string&& value, bool overwrite,
                                        std::optional<task_id> const& owner, key_maker const& by) {
  if (!overwrite && find(key)) return key_exists(key);
  return set(key, std::move(value), owner, by);
}

void kv_store::inherit(std::string const& key, key_maker const& by) {
  (*index_.find(key))->second.made_by = by;
}

result<kv_store::changed> kv_store::append(std::string const& key, std::string_view more) {
  entry const* const held = find(key);
  if (!held) return set(key, std::string{more}, std::nullopt);
  if (status why = make_room(held->value.size() + more.size(), cost_of(key)); !why.ok()) return why;
  std::string whole;
  whole.reserve(held->value.size() + more.size());
  whole.append(held->value.view()).append(more);
  return set(key, std::move(whole), held->owner());
}

std::size_t kv_store::cost_of(std::string const& key) {
  return overhead(key) + owner_overhead + change_log::overhead(key);
}

status kv_store::make_room(std::size_t value_bytes, std::size_t beside) {
  std::size_t const more = value_bytes + beside + memory_->owned_max() / 16;
  auto const fits_without = [&](std::size_t freed) {
    std::size_t const used = memory_->used() - std::min(memory_->used(), freed);
    return used <= memory_->owned_max() && more <= memory_->owned_max() - used;
  };
  // A value that can never fit must not drop old changes.
  bool const may_fit = fits_without(changes_.cost());
  while (!memory_->fits(more)) {
    if (may_fit && changes_.forget_oldest()) continue;
    return fail<&reasons::no_room_for_value>(value_bytes, usage_text(*memory_));
  }
  return {};
}

void kv_store::forget_changes() {
  while (changes_.forget_oldest()) continue;
}

result<kv_store::sum> kv_store::increment(std::string const& key, std::int64_t by) {
  std::int64_t old = 0;
  entry const* const held = find(key);
  if (held) {
    std::string_view const text = held->value.view();
    auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), old);
    if (problem != std::errc{} || end != text.data() + text.size())
      return fail<&reasons::value_is_no_integer>(key);
  }
  std::int64_t total = 0;
  if (__builtin_add_overflow(old, by, &total))
    return fail<&reasons::counter_overflows>(key, old, by);
  auto const stored = set(key, std::to_string(total), held ? held->owner() : std::nullopt);
  if (!stored) return stored.error();
  return sum{total, stored->version};
}

bytes kv_store::exchange(std::string const& key, bytes by) {
  auto const* const at = index_.find(key);
  if (!at) return {};
  auto& value = (*at)->second.value;
  bytes_ += by.size();
  bytes_ -= value.size();
  return std::exchange(value, std::move(by));
}

bool kv_store::remove(std::string const& key) {
  auto const* const at = index_.find(key);
  if (!at) return false;
  erase(*at);
  return true;
}

kv_store::removal kv_store::remove_tree(std::string const& directory, std::string const& after,
                                        std::size_t most) {
  removal made;
  if (after.empty() && remove(directory)) ++made.count;
  std::string const prefix = directory.empty() ? "" : directory + '/';
  auto at = first(prefix, after);
  auto const is_below = [&] { return at != entries_.end() && at->first.starts_with(prefix); };
  for (std::size_t below = 1; below <= most && is_below(); ++below) {
    if (below == most) made.last = at->first;
    at = erase(at);
    ++made.count;
  }
  if (!is_below()) made.last.clear();
  return made;
}

std::size_t kv_store::remove_larger(std::size_t than) {
  std::size_t count = 0;
  for (auto at = entries_.begin(); at != entries_.end();) {
    bool const is_one = at->second.value.size() > than;
    count += is_one ? 1 : 0;
    at = is_one ? erase(at) : std::next(at);
  }
  return count;
}

void kv_store::end_owner(task_id owner) {
  auto const of_task = owned_.extract(owner);
  if (!of_task) return;
  of_task.mapped()->has_ended = true;
  ended_.push_back(std::move(of_task.mapped()));
}

void kv_store::renumber_owners(std::map<task_id, task_id> const& moved) {
  for (auto& [owner, keys] : std::exchange(owned_, {})) {
    keys->owner = moved.at(owner);
    owned_.emplace(keys->owner, std::move(keys));
  }
}

std::size_t kv_store::remove_ended(std::size_t most) {
  std::size_t count = 0;
  while (!ended_.empty()) {
    auto const& keys = ended_.front()->keys;
    for (; count < most && !keys.empty(); ++count) erase(*index_.find(*keys.begin()));
    if (!keys.empty()) break;
    ended_.pop_front();
  }
  return count;
}

bool kv_store::remove_if_ended(std::string const& key) {
  auto const* const at = ended_.empty() ? nullptr : index_.find(key);
  bool const has_ended = at && (*at)->second.has_ended();
  if (has_ended) erase(*at);
  return has_ended;
}

std::optional<std::string> kv_store::similar_to(std::string const& key) const {
  constexpr std::size_t neighbours = 64;  // on each side
  auto const at = entries_.rank(entries_.lower_bound(key));
  auto const begin = entries_.nth(at < neighbours ? 0 : at - neighbours);
  auto const end = entries_.nth(std::min(at + neighbours, entries_.size()));
  auto const found = std::find_if(begin, end, [&key](named_entry const& e) {
    return !e.second.has_ended() && is_misspelling(key, e.first);
  });
  return found == end ? std::nullopt : std::optional{found->first};
}

std::uint64_t kv_store::count(std::string const& directory) const {
  if (directory.empty()) return size();
  auto const before = [this](std::string const& key) {
    return entries_.rank(entries_.lower_bound(key));
  };
  static_assert('/' + 1 == '0');
  return before(directory + '0') - before(directory + '/');
}

status kv_store::checked_version(std::uint64_t version) const {
  std::uint64_t const present = this->version();
  if (version <= present) return {};
  return fail<&reasons::no_such_version>(version, present);
}

kv_store::waiter_number kv_store::wait(std::string const& key, ticket who) {
  waiter_number const number = ++waiter_;
  auto& of_key = waiters_[key];
  of_key.emplace_hint(of_key.end(), number, who);
  ++waiting_;
  return number;
}

void kv_store::cancel(std::string const& key, waiter_number number) {
  auto const at = waiters_.find(key);
  if (at == waiters_.end()) return;
  waiting_ -= at->second.erase(number);
  if (at->second.empty()) waiters_.erase(at);
}

std::vector<ticket> kv_store::take_waiters(std::string const& key) {
  std::vector<ticket> taken;
  auto const at = waiters_.find(key);
  if (at == waiters_.end()) return taken;
  taken.reserve(at->second.size());
  for (auto const& [_, who] : at->second) taken.push_back(who);
  waiting_ -= taken.size();
  waiters_.erase(at);
  return taken;
}

std::vector<ticket> kv_store::take_all_waiters() {
  std::vector<ticket> taken;
  taken.reserve(waiting_);
  for (auto const& [_, of_key] : waiters_) {
    for (auto const& [number, who] : of_key) taken.push_back(who);
  }
  waiters_.clear();
  waiting_ = 0;
  return taken;
}

result<kv_store::changed> kv_store::set(std::string const& key, std::string&& value,
                                        std::optional<task_id> const& owner, key_maker const& by) {
  auto const* const held = index_.find(key);
  if (status why = make_room(value.size(), cost_of(key)); !why.ok()) return why;
  auto const at = held ? *held : add(key);
  entry& e = at->second;
  bytes_ += value.size();
  bytes_ -= e.value.size();
  e.value = bytes{std::move(value), memory_};
  own(at, owner);
  e.made_by = by;
  e.version = changes_.add(key, e.value);
  return changed{e.version};
}

kv_store::entries::iterator kv_store::add(std::string const& key) {
  auto const at = entries_.insert({key, {}}).first;
  index_.add(at);
  memory_->add(overhead(key));
  return at;
}

void kv_store::own(entries::iterator at, std::optional<task_id> const& owner) {
  if (auto* const old = std::exchange(at->second.ephemeral, nullptr)) {
    old->keys.erase(at->first);
    if (old->keys.empty() && !old->has_ended) owned_.erase(old->owner);
    memory_->subtract(owner_overhead);
  }
  if (!owner) return;
  auto& all = owned_[*owner];
  if (!all) all = std::make_unique<ephemeral_keys>(ephemeral_keys{*owner, false, {}});
  give(at, *all);
}

void kv_store::give(entries::iterator at, ephemeral_keys& to) {
  to.keys.emplace(at->first);
  at->second.ephemeral = &to;
  memory_->add(owner_overhead);
}

kv_store::entries::iterator kv_store::erase(entries::iterator at) {
  own(at, std::nullopt);
  memory_->subtract(overhead(at->first));
  bytes_ -= at->second.value.size();
  changes_.add(at->first, std::nullopt);
  index_.remove(at);
  return entries_.erase(at);
}

}  // namespace coxswain::core
