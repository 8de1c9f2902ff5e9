// Keys, queues and locks.

#include "python/native/arguments.hpp"
#include "python/native/bindings.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::python {
namespace {

put_mode mode_of(bool overwrite) { return overwrite ? put_mode::overwrite : put_mode::create; }

key_lifetime lifetime_of(bool with_task) {
  return with_task ? key_lifetime::ephemeral : key_lifetime::persistent;
}

// At most one of them is set.
expectation expected_of(std::optional<std::uint64_t> version, std::optional<content> const& value) {
  if (version == 0) return expectation::absent();  // as in a reply
  if (version) return expectation::version(*version);
  if (value) return expectation::value(value->bytes);
  return expectation::absent();
}

queue_item item_of(std::uint64_t number, std::uint32_t redeliveries) {
  queue_item made;
  made.number = number;
  made.redeliveries = redeliveries;
  return made;
}

}  // namespace

void bind_keys(session_class& of) {
  offer(
      of, "put",
      [](client& c, std::string const& key, content const& value, bool overwrite, bool with_task) {
        return c.put(key, value.bytes, put_options{mode_of(overwrite), lifetime_of(with_task)});
      });
  offer(of, "put_all",
        [](client& c, std::vector<std::pair<std::string, content>> const& given, bool overwrite) {
          std::vector<std::pair<std::string, std::string>> entries;
          for (auto const& [key, value] : given) entries.emplace_back(key, value.bytes);
          return c.put_all(std::move(entries), mode_of(overwrite));
        });
  offer(of, "compare_and_set",
        [](client& c, std::string const& key, content const& value,
           std::optional<std::uint64_t> version, std::optional<content> const& expected,
           bool with_task) {
          return c.compare_and_set(key, value.bytes, expected_of(version, expected),
                                   lifetime_of(with_task));
        });
  offer(of, "append", [](client& c, std::string const& key, content const& more) {
    return c.append(key, more.bytes);
  });
  offer(of, "get",
        [](client& c, std::string const& key, timeout time) { return c.get(key, time.value); });
  offer(of, "get_all", [](client& c, std::vector<std::string> const& keys, timeout time) {
    return c.get_all(keys, time.value);
  });
  offer(of, "try_get", [](client& c, std::string const& key) { return c.try_get(key); });
  offer(of, "list", [](client& c, std::string const& directory) { return c.list(directory); });
  offer(of, "queue_length",
        [](client& c, std::string const& queue) { return c.queue_length(queue); });
  offer(of, "count", [](client& c, std::string const& directory) { return c.count(directory); });
  offer(of, "remove", [](client& c, std::string const& key) { return c.remove(key); });
  offer(of, "remove_tree", [](client& c, std::string const& directory, bool all) {
    return c.remove_tree(directory, all ? remove_mode::all : remove_mode::tree);
  });
  offer(of, "increment",
        [](client& c, std::string const& key, std::int64_t by) { return c.increment(key, by); });
  offer(of, "push", [](client& c, std::string const& queue, content const& value) {
    return c.push(queue, value.bytes);
  });
  using calls = detail::client_calls;
  offer(of, "pop", [](calls const& c, std::string const& queue, timeout time) {
    return c.pop(queue, time.value);
  });
  offer(of, "take", [](calls const& c, std::string const& queue, timeout time, timeout lease) {
    return c.take(queue, take_options{time.value}.with_lease(lease.value));
  });
  offer(of, "finish", [](client& c, std::uint64_t number, std::uint32_t redeliveries) {
    return c.finish(item_of(number, redeliveries));
  });
  offer(of, "release", [](client& c, std::uint64_t number, std::uint32_t redeliveries) {
    return c.release(item_of(number, redeliveries));
  });
  offer(of, "extend",
        [](client& c, std::uint64_t number, std::uint32_t redeliveries, timeout lease) {
          return c.extend(item_of(number, redeliveries), lease.value);
        });
  offer(of, "lock", [](calls const& c, std::string const& name, timeout time) {
    return c.lock(name, time.value);
  });
  offer(of, "try_lock",
        [](calls const& c, std::string const& name) { return c.try_lock(name, {}); });
  offer(of, "unlock", [](client& c, std::string const& name, std::uint64_t token) {
    return c.unlock(name, token);
  });
}

}  // namespace coxswain::python
