// The coordinator in this process, on a thread of its own that never waits for Python.

#include "python/native/arguments.hpp"
#include "python/native/bindings.hpp"
#include "python/native/patience.hpp"

#include "coxswain/host/hosted_coordinator.hpp"
#include "coxswain/net/signals_blocked.hpp"
#include "coxswain/server/background_server.hpp"

#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace coxswain::python {
namespace {

class embedded;

// Guarded by the GIL.
std::set<embedded*>& open_coordinators() {
  static auto* const all = new std::set<embedded*>;
  return *all;
}

class embedded : public std::enable_shared_from_this<embedded> {
 public:
  explicit embedded(std::unique_ptr<server::background_server> server)
      : server_{std::move(server)} {}

  // With the GIL.
  ~embedded() {
    open_coordinators().erase(this);
    if (is_forked()) {
      static_cast<void>(server_.release());
      for (auto& one : threads_) one.detach();
      return;
    }
    gil_released const meanwhile;
    server_->stop("the coordinator's program ends");
    for (auto& one : threads_) one.join();
    server_.reset();
  }
  embedded(embedded const&) = delete;
  embedded& operator=(embedded const&) = delete;

  server::background_server& server() {
    if (is_forked()) throw error{{errc::failed_precondition, "coordinator used after fork"}};
    return *server_;
  }

  void stop(std::string reason) {
    if (is_forked()) return;
    call_inside const here;
    auto const done = std::make_shared<bell>();
    start_thread([this, done, reason = std::move(reason)] {
      server_->stop(reason);
      done->ring();
    });
    wait_for(*done, [&] { done->ring(); });
  }

  // Whether the job is over; false: the time has passed.
  bool wait_done(duration limit) {
    call_inside const here;
    auto const done = std::make_shared<bell>();
    {
      std::lock_guard const lock{mutex_};
      if (is_done_) return true;
      waiting_.push_back(done);
      if (!std::exchange(is_watched_, true)) start_watcher();
    }
    auto const give_up = [&] { done->ring(); };
    return wait_for(*done, give_up, limit);
  }

 private:
  // background_server's own waits hear neither signals nor a limit.
  template <class Wait>
  void start_thread(Wait wait) {
    net::signals_blocked const blocked;
    threads_.emplace_back(std::move(wait));
  }

  void start_watcher() {
    start_thread([this] {
      server_->wait_done();
      std::lock_guard const lock{mutex_};
      is_done_ = true;
      for (auto const& one : waiting_) one->ring();
    });
  }

  [[nodiscard]] bool is_forked() const { return ::getpid() != process_; }

  pid_t process_{::getpid()};
  std::unique_ptr<server::background_server> server_;
  std::mutex mutex_;
  bool is_done_{};
  bool is_watched_{};
  std::vector<std::shared_ptr<bell>> waiting_;
  std::vector<std::thread> threads_;  // with the GIL
};

// A server that is being made; that may take as long as to look up a name.
struct server_to_be {
  bell done;
  std::unique_ptr<server::background_server> server;
  std::exception_ptr failure;
};

// Whoever gives up leaves the server to the thread that makes it.
std::unique_ptr<server::background_server> made_server(server::options o) {
  call_inside const here;
  auto const made = std::make_shared<server_to_be>();
  auto const make = [made, o = std::move(o)] {
    try {
      made->server = std::make_unique<server::background_server>(o);
    } catch (...) {
      made->failure = std::current_exception();
    }
    made->done.ring();
  };
  {
    net::signals_blocked const blocked;
    std::thread{make}.detach();
  }
  wait_for(made->done, [&] { made->done.ring(); });
  if (made->failure) std::rethrow_exception(made->failure);
  return std::move(made->server);
}

std::shared_ptr<embedded> start(server::options o) {
  o.core.version = COXSWAIN_VERSION;
  auto made = std::make_shared<embedded>(made_server(std::move(o)));
  open_coordinators().insert(made.get());
  return made;
}

core::role role_of(std::string const& name) {
  if (auto const found = core::role_named(name)) return *found;
  throw py::value_error("a role is 'reader', 'operator' or 'worker', not '" + name + "'");
}

// A property in seconds for one of the core's durations.
template <class Member>
void add_duration(py::class_<server::options>& to, char const* name, Member member) {
  to.def_property(
      name,
      [member](server::options const& o) {
        return std::chrono::duration<double>{o.core.*member}.count();
      },
      [member](server::options& o, timeout time) { o.core.*member = time.value; });
}

template <class Member>
void add_setting(py::class_<server::options>& to, char const* name, Member member) {
  to.def_property(
      name, [member](server::options const& o) { return o.core.*member; },
      [member](server::options& o, std::remove_cvref_t<decltype(o.core.*member)> value) {
        o.core.*member = std::move(value);
      });
}

void bind_server_options(py::module_& into) {
  py::class_<server::options> one{into, "ServerOptions"};
  one.def(py::init<>())
      .def_static("hosting", hosting_options)
      .def_readwrite("listen", &server::options::listen)
      .def_readwrite("insecure", &server::options::insecure)
      .def("add_token",
           [](server::options& o, std::string const& role, std::string token) {
             o.core.credentials.push_back({role_of(role), std::move(token)});
           })
      .def("use_tls", [](server::options& o, std::string authorities, std::string certificate,
                         std::string key, std::string peer_uri_prefix) {
        o.tls.authorities_file = std::move(authorities);
        o.tls.certificate_file = std::move(certificate);
        o.tls.key_file = std::move(key);
        o.tls.peer_uri_prefix = std::move(peer_uri_prefix);
      });
  using config = core::config;
  add_setting(one, "num_tasks", &config::num_tasks);
  add_setting(one, "job", &config::job);
  add_setting(one, "attempt", &config::attempt);
  add_setting(one, "recoverable", &config::recoverable);
  add_setting(one, "join_barrier", &config::join_barrier);
  add_setting(one, "leave_barrier", &config::leave_barrier);
  add_setting(one, "fail_without_progress", &config::fail_without_progress);
  add_setting(one, "memory_bytes_max", &config::memory_bytes_max);
  add_setting(one, "value_bytes_max", &config::value_bytes_max);
  add_setting(one, "gather_bytes_max", &config::gather_bytes_max);
  add_duration(one, "heartbeat_timeout", &config::heartbeat_timeout);
  add_duration(one, "reconnect_grace", &config::reconnect_grace);
  add_duration(one, "progress_timeout", &config::progress_timeout);
  add_duration(one, "preemption_lead", &config::preemption_lead);
  add_duration(one, "preemption_timeout", &config::preemption_timeout);
}

}  // namespace

void bind_coordinator(py::module_& into) {
  bind_server_options(into);
  py::class_<embedded, std::shared_ptr<embedded>>(into, "Coordinator")
      .def(py::init(&start))
      .def_property_readonly("addresses", [](embedded& self) { return self.server().addresses(); })
      .def("look",
           [](embedded& self) {
             call_inside const here;
             auto& server = self.server();
             core::snapshot seen;
             {
               gil_released const meanwhile;
               seen = server.look();
             }
             return given(seen);
           })
      .def("error",
           [](embedded& self) -> py::object {
             call_inside const here;
             auto& server = self.server();
             std::optional<job_error> why;
             {
               gil_released const meanwhile;
               why = server.error();
             }
             return why ? given(*why) : py::none();
           })
      .def("task_ended",
           [](embedded& self, task_id task, std::uint32_t code, std::string why) {
             call_inside const here;
             auto& server = self.server();
             gil_released const meanwhile;
             server.task_ended(task, {errc_of(code), std::move(why)});
           })
      .def("stop", &embedded::stop)
      .def("wait_done", [](embedded& self, timeout time) { return self.wait_done(time.value); });
}

void close_everything() {
  session::close_all();
  auto const all = open_coordinators();
  for (auto* const one : all) {
    if (!open_coordinators().contains(one)) continue;
    if (auto const kept = one->weak_from_this().lock()) {
      kept->stop("the coordinator's program ends");
    }
  }
}

}  // namespace coxswain::python
