#include "python/native/session.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <set>
#include <thread>
#include <utility>

namespace coxswain::python {
namespace {

// Guarded by the GIL.
std::set<session*>& open_sessions() {
  static auto* const all = new std::set<session*>;
  return *all;
}

// How long interpreter exit waits for threads to return from calls.
constexpr duration return_time_max = 5s;

}  // namespace

session::session() : process_{::getpid()}, worker_{std::make_shared<detail::client_worker>()} {
  open_sessions().insert(this);
}

session::~session() {
  open_sessions().erase(this);
  // In a forked child the thread does not exist, and the session belongs to the parent.
  if (is_forked()) {
    static_cast<void>(new std::shared_ptr{std::move(worker_)});
    return;
  }
  close();
}

bool session::is_forked() const noexcept { return ::getpid() != process_; }

detail::client_worker& session::worker() const {
  if (!worker_) throw error{status{errc::cancelled, "the client was closed"}};
  return *worker_;
}

error session::no_reply(std::string const& name, duration within) {
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%g", std::chrono::duration<double>{within}.count());
  return error{status{errc::deadline_exceeded,
                      name + ": no reply from the coordinator within " + seconds + " s"}};
}

void session::cancel(std::shared_ptr<call> open_call) {
  if (!worker_ || is_forked()) return;
  worker_->try_post([open_call = std::move(open_call)] { open_call->cancel(); });
}

void session::give_back(grant& what) {
  auto claim = what.give_back();
  if (claim && worker_ && !is_forked()) worker_->abandon(std::move(claim));
}

void session::drop_item(std::uint64_t number, std::uint32_t redeliveries) {
  queue_item what;
  what.number = number;
  what.redeliveries = redeliveries;
  if (worker_ && !is_forked()) worker_->calls().give_back(what);
}

void session::drop_lock(std::string name, std::uint64_t token) {
  if (worker_ && !is_forked()) worker_->calls().give_back(std::move(name), token);
}

void session::end_with(std::shared_ptr<call> const& open_call) {
  std::erase_if(endless_, [](auto const& kept) { return kept.expired(); });
  endless_.push_back(open_call);
}

py::object session::connect(client_options options) {
  call_inside const here;
  options.on_event = [to = log_queue_](client_event const& what) { to->put(what); };
  return with_errors_of_python([&] {
    auto start = opening(std::move(options));
    auto const open_call = std::make_shared<call_of<decltype(start)>>();
    end_with(open_call);
    run(std::move(start), open_call, without_limit);
    return open_call->result();
  });
}

std::shared_ptr<call> session::begin_connect(client_options options, std::shared_ptr<mailbox> to,
                                             std::uint64_t number) {
  options.on_event = [all = log_queue_, to](client_event const& what) {
    if (all->put(what)) to->put(all);
  };
  auto open_call = begin(opening(std::move(options)), std::move(to), number);
  end_with(open_call);
  return open_call;
}

void session::close() {
  if (!worker_ || is_forked()) return;
  call_inside const here;
  for (auto const& kept : endless_) {
    if (auto const open_call = kept.lock()) cancel(open_call);
  }
  auto ending = worker_;
  {
    gil_released const meanwhile;
    ending->close();
  }
  if (worker_) last_ = {ending->facts(), ending->task(), ending->reconnects()};
  worker_.reset();
  gil_released const meanwhile;
  ending->join();
  ending.reset();
}

std::uint64_t session::reconnects() {
  auto on = worker_;
  if (!on) return last_.reconnects;
  call_inside const here;
  gil_released const meanwhile;
  auto const count = on->reconnects();
  on.reset();
  return count;
}

void session::await_on_thread(std::weak_ptr<call> open_call) {
  begin_on_thread();
  if (on_threads_.size() == on_threads_.capacity()) {
    std::erase_if(on_threads_, [](auto const& kept) { return kept.expired(); });
    on_threads_.reserve(2 * on_threads_.size() + 16);
  }
  on_threads_.push_back(std::move(open_call));
}

void session::end_waits() noexcept {
  python::end_waits();
  for (auto* const each : open_sessions()) {
    for (auto const& kept : each->on_threads_) {
      if (auto open_call = kept.lock()) each->cancel(std::move(open_call));
    }
  }
}

void session::close_all() {
  keep_others_out();
  call_inside const here;
  auto const all = open_sessions();
  for (auto* const open_session : all) {
    // Others may end while one is closed, because the GIL is free then.
    if (!open_sessions().contains(open_session)) continue;
    if (auto const kept = open_session->weak_from_this().lock()) kept->close();
  }
  gil_released const meanwhile;
  auto const until = std::chrono::steady_clock::now() + return_time_max;
  // This thread counts twice: without the GIL, and in a call.
  while (threads_away() > 2 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(1ms);
  }
}

}  // namespace coxswain::python
