// The coordinator in this process, on its own thread, which never waits for Python.

#include "python/native/arguments.hpp"
#include "python/native/bindings.hpp"
#include "python/native/coordinator_options.hpp"
#include "python/native/waiting.hpp"

#include "coxswain/net/signals_blocked.hpp"
#include "coxswain/server/background_server.hpp"
#include "coxswain/server/recording/recording_file.hpp"
#include "coxswain/status/page.hpp"

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

// The coordinator, and its companion objects.
struct parts {
  std::shared_ptr<server::recording_file> recording;
  std::unique_ptr<server::background_server> server;
  std::unique_ptr<status_page::page> page;

  parts() = default;
  parts(parts&&) = default;
  parts& operator=(parts&&) = delete;
  ~parts() {
    if (server && page) server->run([this](auto&, auto&) { page.reset(); });
  }
};

class embedded : public std::enable_shared_from_this<embedded> {
 public:
  explicit embedded(parts made) : parts_{std::move(made)} {}

  // With the GIL.
  ~embedded() {
    open_coordinators().erase(this);
    if (is_forked()) {
      static_cast<void>(parts_.page.release());
      static_cast<void>(parts_.server.release());
      for (auto& thread : threads_) thread.detach();
      return;
    }
    gil_released const meanwhile;
    parts_.server->stop("the coordinator's program ends");
    for (auto& thread : threads_) thread.join();
    parts const ends_here{std::move(parts_)};
  }
  embedded(embedded const&) = delete;
  embedded& operator=(embedded const&) = delete;

  server::background_server& server() {
    if (is_forked()) throw error{{errc::failed_precondition, "coordinator used after fork"}};
    return *parts_.server;
  }

  // The address of the status page; none: no page.
  [[nodiscard]] std::optional<std::string> http_address() const {
    if (!parts_.page) return std::nullopt;
    return parts_.page->address();
  }

  // Throws coxswain::error: the recording is not whole.
  void stop(std::string reason) {
    if (is_forked()) return;
    call_inside const here;
    auto const done = std::make_shared<completion_event>();
    start_thread([this, done, reason = std::move(reason)] {
      parts_.server->stop(reason);
      done->notify();
    });
    wait_for(*done, [&] { done->notify(); });
    if (!parts_.recording) return;
    if (auto const outcome = parts_.recording->finish(); !outcome.ok()) throw error{outcome};
  }

  // Whether the job is over; false if the time has passed.
  bool wait_done(duration limit) {
    call_inside const here;
    auto const done = std::make_shared<completion_event>();
    {
      std::lock_guard const lock{mutex_};
      if (is_done_) return true;
      waiting_.push_back(done);
      if (!std::exchange(is_watched_, true)) start_watcher();
    }
    auto const give_up = [&] { done->notify(); };
    return wait_for(*done, give_up, limit);
  }

 private:
  // background_server's own waits have neither signals nor a timeout.
  template <class Wait>
  void start_thread(Wait wait) {
    net::signals_blocked const blocked;
    threads_.emplace_back(std::move(wait));
  }

  void start_watcher() {
    start_thread([this] {
      parts_.server->wait_done();
      std::lock_guard const lock{mutex_};
      is_done_ = true;
      for (auto const& waiter : waiting_) waiter->notify();
    });
  }

  [[nodiscard]] bool is_forked() const { return ::getpid() != process_; }

  pid_t process_{::getpid()};
  parts parts_;
  std::mutex mutex_;
  bool is_done_{};
  bool is_watched_{};
  std::vector<std::shared_ptr<completion_event>> waiting_;
  std::vector<std::thread> threads_;  // with the GIL
};

// A coordinator under construction, which may take as long as a name lookup.
struct parts_to_be {
  completion_event done;
  std::optional<parts> made;
  std::exception_ptr failure;
};

parts parts_of(coordinator_options o) {
  parts made;
  if (!o.record_file.empty()) {
    made.recording = std::make_shared<server::recording_file>(o.record_file);
    o.server.record = [file = made.recording](std::string_view bytes) { file->write(bytes); };
  }
  auto const page = page_options(o);
  if (page) o.server.descriptors_reserved = page->connections_max + 8;
  made.server = std::make_unique<server::background_server>(std::move(o.server));
  if (page) {
    made.server->run([&](asio::io_context& io, server::server& beside) {
      made.page = std::make_unique<status_page::page>(io, beside, *page);
    });
  }
  return made;
}

// A caller that gives up leaves the coordinator to the constructing thread.
parts made_parts(coordinator_options o) {
  call_inside const here;
  auto const to_be = std::make_shared<parts_to_be>();
  auto const make = [to_be, o = std::move(o)] {
    try {
      to_be->made.emplace(parts_of(o));
    } catch (...) {
      to_be->failure = std::current_exception();
    }
    to_be->done.notify();
  };
  {
    net::signals_blocked const blocked;
    std::thread{make}.detach();
  }
  wait_for(to_be->done, [&] { to_be->done.notify(); });
  if (to_be->failure) std::rethrow_exception(to_be->failure);
  return std::move(*to_be->made);
}

std::shared_ptr<embedded> start(coordinator_options o) {
  o.server.core.version = COXSWAIN_VERSION;
  auto made = std::make_shared<embedded>(made_parts(std::move(o)));
  open_coordinators().insert(made.get());
  return made;
}

}  // namespace

void bind_coordinator(py::module_& into) {
  bind_coordinator_options(into);
  py::class_<embedded, std::shared_ptr<embedded>> coordinator{into, "Coordinator"};
  coordinator.def(py::init(&start))
      .def_property_readonly("addresses", [](embedded& self) { return self.server().addresses(); })
      .def_property_readonly("http_address", &embedded::http_address)
      .def("recording",
           [](embedded& self) {
             call_inside const here;
             auto& server = self.server();
             std::string bytes;
             {
               gil_released const meanwhile;
               bytes = server.ask(&server::server::recording);
             }
             return py::bytes{bytes};
           })
      .def("look",
           [](embedded& self) {
             call_inside const here;
             auto& server = self.server();
             core::snapshot seen;
             {
               gil_released const meanwhile;
               seen = server.ask(&server::server::look);
             }
             return given(seen);
           })
      .def("error", [](embedded& self) -> py::object {
        call_inside const here;
        auto& server = self.server();
        std::optional<job_error> why;
        {
          gil_released const meanwhile;
          why = server.ask(&server::server::error);
        }
        return why ? given(*why) : py::none();
      });
  define(coordinator, "task_ended",
         [](embedded& self, task_id task, std::uint32_t code, std::string why) {
           call_inside const here;
           auto& server = self.server();
           gil_released const meanwhile;
           core::process_ended const what{task, {errc_of(code), std::move(why)}};
           server.ask([&](server::server& s) { static_cast<void>(s.put_in(what)); });
         });
  define(coordinator, "stop",
         [](embedded& self, std::string reason) { self.stop(std::move(reason)); });
  define(coordinator, "wait_done",
         [](embedded& self, timeout time) { return self.wait_done(time.value); });
}

void close_everything() {
  session::close_all();
  auto const all = open_coordinators();
  for (auto* const row : all) {
    if (!open_coordinators().contains(row)) continue;
    if (auto const kept = row->weak_from_this().lock()) {
      kept->stop("the coordinator's program ends");
    }
  }
}

}  // namespace coxswain::python
