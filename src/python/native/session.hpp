#pragma once
// A client used by Python threads and event loops. The thread that runs its loop, its own or that
// of a call, does all I/O, including heartbeats, and never waits for Python: nothing that the loop
// runs takes the GIL.
//
// After fork a child must create its own client: every call throws FAILED_PRECONDITION there.
// Interpreter exit closes open sessions first, so that no thread returns from a call to a finalized
// interpreter.

#include "coxswain/client/blocking_worker.hpp"
#include "python/native/call.hpp"
#include "python/native/grant.hpp"
#include "python/native/waiting.hpp"

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace coxswain::python {

class session : public std::enable_shared_from_this<session> {
 public:
  session();
  // Ends the session like the client's destructor. With the GIL.
  ~session();
  session(session const&) = delete;
  session& operator=(session const&) = delete;

  // Runs the result of `start` on the client's thread, and waits for it. With the GIL, which is
  // released meanwhile. A signal handler that raises cancels the call, and so does the limit:
  // DEADLINE_EXCEEDED, which names the call.
  template <class Start>
  py::object ask(Start start, std::string const& name, duration limit = without_limit) {
    call_inside const here;
    return with_errors_of_python([&] {
      auto const open_call = std::make_shared<call_of<Start>>();
      bool const is_in_time = run(std::move(start), open_call, limit);
      try {
        return open_call->result();
      } catch (boost::system::system_error const&) {
        if (is_in_time) throw;
        throw no_reply(name, limit);
      }
    });
  }

  // The same for what can take as long as the session: returns None if the time passes first. It
  // does not run the loop, since other calls could not do so then.
  template <class Start>
  py::object ask_within(duration limit, Start start) {
    call_inside const here;
    return with_errors_of_python([&]() -> py::object {
      auto const open_call = std::make_shared<call_of<Start>>();
      worker().spawn(std::move(start), typename call_of<Start>::handler{open_call});
      auto const give_up = [&] { cancel(open_call); };
      bool const is_in_time =
          wait_for(open_call->completion_event(), give_up, limit, log_queue_.get());
      if (is_in_time) return open_call->result();
      try {
        return open_call->result();
      } catch (boost::system::system_error const&) {
        return py::none();
      }
    });
  }

  // The same for an event loop: returns the call at once.
  template <class Start>
  std::shared_ptr<call> begin(Start start, std::shared_ptr<mailbox> to, std::uint64_t number) {
    call_inside const here;
    auto const open_call = std::make_shared<call_of<Start>>(std::move(to), number);
    if (!is_main_thread()) await_on_thread(open_call);
    worker().spawn(std::move(start), typename call_of<Start>::handler{open_call});
    return open_call;
  }

  // Cancels a call. It ends with CANCELLED, unless it has already ended.
  void cancel(std::shared_ptr<call> open_call);

  // Returns what the call with this grant was handed; cancel the call before.
  void give_back(grant& what);

  // Hands an item back, or unlocks, without waiting for the outcome. Nothing once the client is
  // closed, and in a forked child.
  void drop_item(std::uint64_t number, std::uint32_t redeliveries);
  void drop_lock(std::string name, std::uint64_t token);

  // `one` does not end with the client, but with the session.
  void end_with(std::shared_ptr<call> const& open_call);

  // See client::connect; the client is there when this has ended.
  auto opening(client_options options) {
    return [on = &worker(), options = std::move(options)](client&) { return on->open(options); };
  }
  py::object connect(client_options options);
  std::shared_ptr<call> begin_connect(client_options options, std::shared_ptr<mailbox> to,
                                      std::uint64_t number);

  // See blocking_client::close. The thread is gone afterwards, and so are the descriptors as soon
  // as no other thread is in a call.
  void close();

  [[nodiscard]] detail::client_facts const& facts() const noexcept {
    return worker_ ? worker_->facts() : last_.facts;
  }
  [[nodiscard]] std::optional<task_id> task() const noexcept {
    return worker_ ? worker_->task() : last_.task;
  }
  [[nodiscard]] std::uint64_t reconnects();
  [[nodiscard]] bool is_forked() const noexcept;

  // As python::end_waits; calls of event loops on other threads than the main one end, too.
  static void end_waits() noexcept;

  // Closes all sessions and waits until no thread is in a call; for interpreter exit.
  static void close_all();

 private:
  template <class Start>
  using call_of = call_for<detail::result_of_call<std::invoke_result_t<Start&, client&>>>;

  // Returns whether it has ended in time; else it was cancelled. It has ended in any case.
  template <class Start>
  bool run(Start start, std::shared_ptr<call_of<Start>> const& open_call, duration limit) {
    auto& on = worker();
    auto const kept = worker_;  // another thread may close the client meanwhile
    net::shared_loop::caller here{on.loop()};
    on.spawn(std::move(start), typename call_of<Start>::handler{open_call}, &here);
    auto const run_here = [&](duration longest) {
      return here.run([&] { return open_call->completion_event().is_set(); }, longest);
    };
    return wait_for(
        open_call->completion_event(), [&] { cancel(open_call); }, limit, log_queue_.get(),
        run_here);
  }

  // What remains of a closed client.
  struct remains {
    detail::client_facts facts;
    std::optional<task_id> task;
    std::uint64_t reconnects{};
  };

  static error no_reply(std::string const& name, duration within);

  // CANCELLED: it was closed.
  [[nodiscard]] detail::client_worker& worker() const;

  // CANCELLED: the program has ended.
  void await_on_thread(std::weak_ptr<call> open_call);

  pid_t process_;
  std::shared_ptr<detail::client_worker> worker_;  // guarded by the GIL; null: closed
  remains last_;
  std::shared_ptr<log_queue> log_queue_{std::make_shared<log_queue>()};
  std::vector<std::weak_ptr<call>> endless_;     // by themselves
  std::vector<std::weak_ptr<call>> on_threads_;  // of event loops; some have ended
};

}  // namespace coxswain::python
