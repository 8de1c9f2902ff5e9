// Keys: put, get, list, remove, increment, and waking those who wait.

#include "coxswain/core/state.hpp"
#include "coxswain/core/text.hpp"

#include <utility>

namespace coxswain::core {
namespace {

result<std::string> checked_key(std::string_view key, std::size_t bytes_max) {
  auto path = normalise_key(key, bytes_max);
  if (path && path->empty()) return status{errc::invalid_argument, "the key is empty"};
  return path;
}

}  // namespace

void coordinator::state::handle(call const& c, put_args& args) {
  auto const key = checked_key(args.key, options.key_bytes_max);
  if (!key) return refuse(c, key.error());
  if (args.value.size() > options.value_bytes_max) {
    return refuse(c,
                  {errc::resource_exhausted, "the value is " + std::to_string(args.value.size()) +
                                                 " bytes long; the limit value_bytes_max is " +
                                                 std::to_string(options.value_bytes_max)});
  }
  auto const stored = keys_.put(*key, std::move(args.value), args.overwrite);
  // A refusal is kept too: sent again, the put might find the key gone and succeed.
  answer_now(c, stored ? share(status{}) : share(stored.error()), true);
  if (stored) wake(*key);
}

void coordinator::state::handle(call const& c, get_args& args) {
  auto key = checked_key(args.key, options.key_bytes_max);
  if (!key) return refuse(c, key.error());
  if (auto const* const held = keys_.find(*key)) {
    return answer_now(c, share(value_answer{held->value, held->version}), false);
  }
  if (error) return refuse(c, job_failed(errc::cancelled));
  parked p;
  p.where = parked::place::key;
  p.task = c.task;
  p.number = keys_.wait(*key, c.from);
  p.name = *std::move(key);
  arm_call(c, p, args.timeout);
  park(c, std::move(p));
}

void coordinator::state::handle(call const& c, try_get_args& args) {
  auto const key = checked_key(args.key, options.key_bytes_max);
  if (!key) return refuse(c, key.error());
  auto const* const held = keys_.find(*key);
  if (!held) return refuse(c, {errc::not_found, "key " + shortened(*key, 900) + " not found"});
  answer_now(c, share(value_answer{held->value, held->version}), false);
}

void coordinator::state::handle(call const& c, list_args& args) {
  auto const directory = normalise_key(args.directory, options.key_bytes_max);
  if (!directory) return refuse(c, directory.error());
  listing_answer listing;
  std::size_t bytes = 0;
  bool fits = true;
  keys_.list(*directory, [&](std::string const& key, kv_store::entry const& e) {
    bytes += key.size() + e.value.size() + 32;
    fits = bytes <= options.frame_bytes_max();
    if (fits) listing.entries.push_back({key, e.value, e.version});
    return fits;
  });
  if (!fits) {
    return refuse(c, {errc::resource_exhausted,
                      "the listing of " + quoted(*directory) + " is longer than " +
                          std::to_string(options.frame_bytes_max()) +
                          " bytes, the limit frame_bytes_max; list a smaller directory"});
  }
  answer_now(c, share(std::move(listing)), false);
}

void coordinator::state::handle(call const& c, remove_args& args) {
  auto const key = normalise_key(args.key, options.key_bytes_max);
  if (!key) return refuse(c, key.error());
  if (key->empty() && !args.all) {
    return refuse(c, {errc::invalid_argument, "removing the root removes every key: say `all`"});
  }
  answer_now(c, share(removed_answer{keys_.remove(*key)}), true);
}

void coordinator::state::handle(call const& c, increment_args& args) {
  auto const key = checked_key(args.key, options.key_bytes_max);
  if (!key) return refuse(c, key.error());
  auto const sum = keys_.increment(*key, args.by);
  if (!sum) return answer_now(c, share(sum.error()), true);
  answer_now(c, share(counter_answer{sum->value, sum->version}), true);
  wake(*key);
}

// One value wanted by many is held and encoded once.
void coordinator::state::wake(std::string const& key) {
  std::vector<ticket> const waiting = keys_.take_waiters(key);
  if (waiting.empty()) return;
  auto const& held = *keys_.find(key);
  answer_all(waiting, share(value_answer{held.value, held.version}));
}

}  // namespace coxswain::core
