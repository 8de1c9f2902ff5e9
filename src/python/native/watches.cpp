// Watches: changes of keys and of tasks.

#include "python/native/arguments.hpp"
#include "python/native/bindings.hpp"

#include "coxswain/client/key_watch.hpp"
#include "coxswain/client/process_table.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::python {
namespace {

// Accessed only by the client's thread after construction.
class shared_key_watch {
 public:
  key_watch watch;
};
using watch_ptr = std::shared_ptr<shared_key_watch>;

asio::awaitable<std::uint64_t> open(watch_ptr at, client& c, std::string directory,
                                    std::optional<std::uint64_t> after) {
  at->watch = co_await c.watch(directory, after);
  co_return at->watch.version();
}

// A list of changes, and the version up to which it is complete.
struct told_changes {
  std::vector<key_change> changes;
  std::uint64_t version{};
};
py::object given(told_changes const& told) {
  return py::make_tuple(python::given(told.changes), told.version);
}

asio::awaitable<told_changes> next(watch_ptr of, duration time) {
  told_changes told;
  told.changes = co_await of->watch.next(time);
  told.version = of->watch.version();
  co_return told;
}

struct told_list {
  std::vector<key_value> keys;
  std::uint64_t version{};
};
py::object given(told_list const& told) {
  return py::make_tuple(python::given(told.keys), told.version);
}

asio::awaitable<told_list> list(watch_ptr of) {
  told_list told;
  told.keys = co_await of->watch.list();
  told.version = of->watch.version();
  co_return told;
}

// The client's thread delivers the snapshots, Python threads request them.
class process_watch {
 public:
  // Waits for a snapshot that differs from the last; the first one comes at once.
  static asio::awaitable<process_news> next(std::shared_ptr<process_watch> self, client& c,
                                            duration time) {
    auto const after = self->version();
    auto tasks = co_await c.watch_tasks(after, time);
    co_return self->update(std::move(tasks));
  }

  std::vector<process> mark_failed(task_id task, errc code, std::string message) {
    std::lock_guard const lock{mutex_};
    return table_.mark_failed(task, {code, std::move(message)}).value();
  }

  void check_current(std::vector<process> const& members) const {
    std::lock_guard const lock{mutex_};
    if (auto const stale = table_.check_current(members); !stale.ok()) throw error{stale};
  }

 private:
  [[nodiscard]] std::optional<std::uint64_t> version() const {
    std::lock_guard const lock{mutex_};
    if (table_.tasks().tasks.empty()) return std::nullopt;
    return table_.tasks().version;
  }

  process_news update(core::tasks_answer tasks) {
    std::lock_guard const lock{mutex_};
    process_news news;
    news.lost = table_.update(std::move(tasks));
    news.tasks = table_.tasks();
    return news;
  }

  mutable std::mutex mutex_;
  process_table table_;
};
using process_watch_ptr = std::shared_ptr<process_watch>;

std::vector<process> processes_of(std::vector<std::pair<std::uint32_t, std::uint64_t>> const& all) {
  std::vector<process> made;
  for (auto const& [task, self] : all) made.push_back({task_id{task}, incarnation{self}});
  return made;
}

}  // namespace

void bind_watches(py::module_& into, session_class& of) {
  py::class_<shared_key_watch, watch_ptr>(into, "KeyWatch").def(py::init<>());
  offer(of, "watch_open",
        [](watch_ptr at, std::string directory, std::optional<std::uint64_t> after) {
          return [=, directory = std::move(directory)](client& c) {
            return open(at, c, directory, after);
          };
        });
  offer(of, "watch_next", [](watch_ptr at, timeout time) {
    return [=, at = std::move(at)](client&) { return next(at, time.value); };
  });
  offer(of, "watch_list",
        [](watch_ptr at) { return [at = std::move(at)](client&) { return list(at); }; });

  py::class_<process_watch, process_watch_ptr> watch{into, "ProcessWatch"};
  watch.def(py::init<>());
  define(watch, "mark_failed",
         [](process_watch& self, task_id task, std::uint32_t code, std::string message) {
           return given(self.mark_failed(task, errc_of(code), std::move(message)));
         });
  define(watch, "check_current",
         [](process_watch& self, std::vector<std::pair<std::uint32_t, std::uint64_t>> members) {
           self.check_current(processes_of(members));
         });
  offer(of, "processes_next", [](process_watch_ptr at, timeout time) {
    return [=, at = std::move(at)](client& c) { return process_watch::next(at, c, time.value); };
  });
}

}  // namespace coxswain::python
