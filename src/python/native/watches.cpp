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

// A watch is a directory and the version up to which all changes were returned. Python has both, so
// that a result that does not reach its caller changes nothing.

asio::awaitable<std::uint64_t> open(client& c, std::string directory,
                                    std::optional<std::uint64_t> after) {
  auto const watch = co_await c.watch(directory, after);
  co_return watch.version();
}

// A list of changes, and the version up to which it is complete.
struct changes_update {
  std::vector<key_change> changes;
  std::uint64_t version{};
};
py::object given(changes_update const& update) {
  return py::make_tuple(python::given(update.changes), update.version);
}

asio::awaitable<changes_update> next(client& c, std::string directory, std::uint64_t after,
                                     duration time) {
  auto watch = co_await c.watch(directory, after);
  changes_update update;
  update.changes = co_await watch.next(time);
  update.version = watch.version();
  co_return update;
}

struct list_update {
  std::vector<key_value> keys;
  std::uint64_t version{};
};
py::object given(list_update const& update) {
  return py::make_tuple(python::given(update.keys), update.version);
}

asio::awaitable<list_update> list(client& c, std::string directory) {
  auto watch = co_await c.watch(directory, 0);
  list_update update;
  update.keys = co_await watch.list();
  update.version = watch.version();
  co_return update;
}

// A snapshot on its way to its caller.
struct tasks_update {
  core::tasks_answer tasks;
};
py::object given(tasks_update const& update) {
  return py::cast(std::make_shared<tasks_update>(update));
}

// Python threads and the client's thread use it. A snapshot counts once its caller has it.
class process_watch {
 public:
  // Waits for a snapshot that differs from the last; the first one comes at once.
  static asio::awaitable<tasks_update> next(std::shared_ptr<process_watch> self, client& c,
                                            duration time) {
    auto const after = self->version();
    tasks_update update;
    update.tasks = co_await c.watch_tasks(after, time);
    co_return update;
  }

  process_update update(core::tasks_answer tasks) {
    std::lock_guard const lock{mutex_};
    process_update result;
    result.lost = table_.update(std::move(tasks));
    result.tasks = table_.tasks();
    return result;
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
  offer(of, "watch_open",
        [](client& c, std::string const& directory, std::optional<std::uint64_t> after) {
          return open(c, directory, after);
        });
  offer(of, "watch_next",
        [](client& c, std::string const& directory, std::uint64_t after, timeout time) {
          return next(c, directory, after, time.value);
        });
  offer(of, "watch_list",
        [](client& c, std::string const& directory) { return list(c, directory); });

  py::class_<tasks_update, std::shared_ptr<tasks_update>>(into, "TasksUpdate");
  py::class_<process_watch, process_watch_ptr> watch{into, "ProcessWatch"};
  watch.def(py::init<>());
  define(watch, "update", [](process_watch& self, std::shared_ptr<tasks_update> const& update) {
    return given(self.update(update->tasks));
  });
  define(watch, "mark_failed",
         [](process_watch& self, task_id task, std::uint32_t code, std::string message) {
           return given(self.mark_failed(task, errc_of(code), std::move(message)));
         });
  define(watch, "check_current",
         [](process_watch& self, std::vector<std::pair<std::uint32_t, std::uint64_t>> members) {
           self.check_current(processes_of(members));
         });
  offer(of, "processes_next", [](client& c, process_watch_ptr const& at, timeout time) {
    return process_watch::next(at, c, time.value);
  });
}

}  // namespace coxswain::python
