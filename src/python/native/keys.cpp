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
expectation expected_of(std::optional<std::uint64_t> version, std::optional<content> value) {
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
  offer(of, "put", [](std::string key, content value, bool overwrite, bool with_task) {
    return [key = std::move(key), value = std::move(value.bytes), mode = mode_of(overwrite),
            lifetime = lifetime_of(with_task)](client& c) {
      return c.put(key, value, put_options{mode, lifetime});
    };
  });
  offer(of, "put_all", [](std::vector<std::pair<std::string, content>> given, bool overwrite) {
    std::vector<std::pair<std::string, std::string>> entries;
    for (auto& [key, value] : given) entries.emplace_back(std::move(key), std::move(value.bytes));
    return [entries = std::move(entries), mode = mode_of(overwrite)](client& c) {
      return c.put_all(entries, mode);
    };
  });
  offer(of, "compare_and_set",
        [](std::string key, content value, std::optional<std::uint64_t> version,
           std::optional<content> expected, bool with_task) {
          return [key = std::move(key), value = std::move(value.bytes),
                  what = expected_of(version, std::move(expected)),
                  lifetime = lifetime_of(with_task)](client& c) {
            return c.compare_and_set(key, value, what, lifetime);
          };
        });
  offer(of, "append", [](std::string key, content more) {
    return [key = std::move(key), more = std::move(more.bytes)](client& c) {
      return c.append(key, more);
    };
  });
  offer(of, "get", [](std::string key, timeout time) {
    return [=, key = std::move(key)](client& c) { return c.get(key, time.value); };
  });
  offer(of, "get_all", [](std::vector<std::string> keys, timeout time) {
    return [=, keys = std::move(keys)](client& c) { return c.get_all(keys, time.value); };
  });
  offer(of, "try_get", [](std::string key) {
    return [key = std::move(key)](client& c) { return c.try_get(key); };
  });
  offer(of, "list", [](std::string directory) {
    return [directory = std::move(directory)](client& c) { return c.list(directory); };
  });
  offer(of, "queue_length", [](std::string queue) {
    return [queue = std::move(queue)](client& c) { return c.queue_length(queue); };
  });
  offer(of, "count", [](std::string directory) {
    return [directory = std::move(directory)](client& c) { return c.count(directory); };
  });
  offer(of, "remove", [](std::string key) {
    return [key = std::move(key)](client& c) { return c.remove(key); };
  });
  offer(of, "remove_tree", [](std::string directory, bool all) {
    return [directory = std::move(directory), mode = all ? remove_mode::all : remove_mode::tree](
               client& c) { return c.remove_tree(directory, mode); };
  });
  offer(of, "increment", [](std::string key, std::int64_t by) {
    return [=, key = std::move(key)](client& c) { return c.increment(key, by); };
  });
  offer(of, "push", [](std::string queue, content value) {
    return [queue = std::move(queue), value = std::move(value.bytes)](client& c) {
      return c.push(queue, value);
    };
  });
  using calls = detail::client_calls;
  offer_grant(of, "pop", [](std::string queue, timeout time) {
    return [=, queue = std::move(queue)](calls const& c) { return c.pop(queue, time.value); };
  });
  offer_grant(of, "take", [](std::string queue, timeout time, timeout lease) {
    return [=, queue = std::move(queue)](calls const& c) {
      return c.take(queue, take_options{time.value}.with_lease(lease.value));
    };
  });
  offer(of, "finish", [](std::uint64_t number, std::uint32_t redeliveries) {
    return [=](client& c) { return c.finish(item_of(number, redeliveries)); };
  });
  offer(of, "release", [](std::uint64_t number, std::uint32_t redeliveries) {
    return [=](client& c) { return c.release(item_of(number, redeliveries)); };
  });
  offer(of, "extend", [](std::uint64_t number, std::uint32_t redeliveries, timeout lease) {
    return [=](client& c) { return c.extend(item_of(number, redeliveries), lease.value); };
  });
  offer_grant(of, "lock", [](std::string name, timeout time) {
    return [=, name = std::move(name)](calls const& c) { return c.lock(name, time.value); };
  });
  offer_grant(of, "try_lock", [](std::string name) {
    return [name = std::move(name)](calls const& c) { return c.try_lock(name, {}); };
  });
  offer(of, "unlock", [](std::string name, std::uint64_t token) {
    return [=, name = std::move(name)](client& c) { return c.unlock(name, token); };
  });
}

}  // namespace coxswain::python
