#include "coxswain/net/poller.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/net/readiness.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>
#include <system_error>
#include <utility>

namespace coxswain::net {
namespace {

// Taken from the kernel with one call.
constexpr std::size_t events_max = 1024;

// How long iterations run back to back before the io_context's other work (the page, signals): a
// fraction of the acceptable latency of each step of a probe.
constexpr duration iterations_max = 500us;

// The io_context's own epoll, with the first slot.
constexpr std::uint64_t context_key = 0;

constexpr std::uint32_t edges = EPOLLIN | EPOLLRDHUP | EPOLLET;

// Asio's timers need times whose distance from now does not overflow.
constexpr duration alarm_max = std::chrono::hours{24};

status refused(char const* what, int why) {
  return {errc::resource_exhausted,
          std::string{"The kernel refuses "} + what + ": " + std::strerror(why) +
              ". Raise the limit of open files (ulimit -n) or fs.epoll.max_user_watches."};
}

// Asio does not show which epoll is its own, the kernel does: the one that watches `descriptor`. -1
// without /proc.
int epoll_that_watches(int descriptor) {
  std::error_code problem;
  for (auto const& entry : std::filesystem::directory_iterator{"/proc/self/fdinfo", problem}) {
    std::ifstream info{entry.path()};
    for (std::string name; info >> name;) {
      int watched{};
      if (name == "tfd:" && info >> watched && watched == descriptor) {
        return std::stoi(entry.path().filename().string());
      }
    }
  }
  return -1;
}

int new_epoll() {
  int const epoll = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) throw error{refused("an epoll descriptor", errno)};
  return epoll;
}

}  // namespace

poller::poller(asio::io_context& context, iteration_owner& owner, duration spinning)
    : owner_{owner},
      epoll_{new_epoll()},
      loop_{std::in_place, context, epoll_},
      slots_(1),
      events_(events_max),
      spin_{spinning},
      alive_{this, [](poller*) {}},
      context_end_{context, [this] { close(); }} {}

poller::~poller() = default;

void poller::start() {
  if (!loop_ || started_) return;
  started_ = true;
  if (!is_running_) arm();
}

void poller::run() {
  if (!loop_) return;
  auto& context = loop_->context;
  std::weak_ptr<poller> const alive{alive_};
  auto const is_open = [&] { return !alive.expired() && loop_; };
  if (!is_running_ && !take_over()) {  // without /proc
    context.run();
    return;
  }
  is_running_ = true;
  auto work = asio::make_work_guard(context);
  while (is_open()) {
    context_is_ready_ = false;
    context.poll();
    if (context.stopped()) break;
    while (is_open() && !context_is_ready_) {
      if (!sleep() || run_iteration() == 0 || !is_open()) continue;
      if (spin_.is_on()) spin_.restart(std::chrono::steady_clock::now());
    }
  }
  work.reset();
  context.run();
}

// Asio's epoll must not watch ours any more when ours watches it.
bool poller::take_over() {
  int const context_epoll = epoll_that_watches(epoll_);
  if (context_epoll < 0) return false;
  loop_->own_epoll = descriptor{loop_->epoll.release()};
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = context_key;
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, context_epoll, &event) == 0) return true;
  throw error{refused("to watch one more descriptor", errno)};
}

// Until something is ready. Whether there is something to do in an iteration.
bool poller::sleep() {
  bool const polls =
      iteration_requested_ || (spin_.is_on() && spin_.again(std::chrono::steady_clock::now()));
  wait(polls ? 0 : -1);
  if (seen_ == 1 && events_.front().data.u64 == context_key) {
    seen_ = 0;
    context_is_ready_ = true;
  }
  return seen_ > 0 || iteration_requested_;
}

void poller::close() noexcept { loop_.reset(); }

void poller::request_iteration() {
  if (!loop_ || iteration_requested_) return;
  iteration_requested_ = true;
  if (is_running_) return;
  try {
    asio::post(loop_->epoll.get_executor(), [alive = std::weak_ptr<poller>{alive_}] {
      auto* const self = alive.lock().get();
      if (self == nullptr) return;
      self->iteration_requested_ = false;
      self->run_iteration();
    });
  } catch (std::bad_alloc const&) {
    iteration_requested_ =
        false;  // the alarm, or whatever is ready next, brings a loop iteration all the same
  }
}

void poller::wake_at(std::optional<time_point> deadline) {
  if (!loop_ || !deadline || (alarm_at_ && *alarm_at_ <= *deadline)) return;
  auto const latest = asio::steady_timer::clock_type::now() + alarm_max;
  alarm_at_.reset();
  auto const at = std::min(*deadline, time_point{latest});
  loop_->alarm.expires_at(at);
  loop_->alarm.async_wait(
      [alive = std::weak_ptr<poller>{alive_}](boost::system::error_code cancelled) {
        auto* const self = alive.lock().get();
        if (self == nullptr || cancelled) return;
        self->alarm_at_.reset();
        self->run_iteration();
      });
  alarm_at_ = at;
}

// Asio re-arms its watch with EPOLL_CTL_MOD, so events left behind are reported again.
void poller::arm() {
  loop_->epoll.async_wait(
      asio::posix::stream_descriptor::wait_read,
      [alive = std::weak_ptr<poller>{alive_}](boost::system::error_code cancelled) {
        auto* const self = alive.lock().get();
        if (self != nullptr && !cancelled) self->serve_ready();
      });
}

// Being called again takes three system calls; finding that nothing has arrived takes one. So
// iterations continue while each has several events, but not for long: without this bound ten busy
// connections kept the io_context's other work waiting for a hundred iterations.
void poller::serve_ready() {
  std::weak_ptr<poller> const alive{alive_};
  for (std::optional<time_point> began;;) {
    auto const count = run_iteration();
    if (alive.expired() || !loop_) return;
    if (!began) began = iteration_at_;
    if (count != 0 && spin_.is_on()) spin_.restart(std::chrono::steady_clock::now());
    bool const is_long = iteration_at_ - *began >= iterations_max;
    if (is_long || iteration_requested_) break;
    bool const is_more = (count > 1 && look()) || spin_finds();
    if (!is_more) break;
  }
  pause();
}

// Polls a few times: whether there is something for drain.
bool poller::spin_finds() {
  constexpr int polls = 8;
  for (int i = 0; i < polls && spin_.is_on() && spin_.again(std::chrono::steady_clock::now());
       ++i) {
    if (look()) return true;
  }
  return false;
}

// Lets the io_context do its other work, and then spins on or sleeps.
void poller::pause() {
  if (!spin_.is_on() || !spin_.again(std::chrono::steady_clock::now())) return arm();
  asio::post(loop_->epoll.get_executor(), [alive = std::weak_ptr<poller>{alive_}] {
    auto* const self = alive.lock().get();
    if (self == nullptr || !self->loop_) return;
    if (self->spin_finds()) return self->serve_ready();
    self->pause();
  });
}

std::size_t poller::run_iteration() {
  if (!loop_) return 0;
  if (is_running_) iteration_requested_ = false;
  iteration_at_ = owner_.iteration_begins();
  resume_postponed();
  auto const count = drain();
  owner_.iteration_ends();  // and perhaps destroys us
  return count;
}

void poller::resume_postponed() {
  resuming_.swap(postponed_);
  for (auto const key : resuming_) {
    if (auto* const watched = find(key);
        watched != nullptr && watched->waits_for_ == readiness::wait::iteration) {
      watched->edge_ = false;
      watched->resume();
    }
  }
  resuming_.clear();
}

// Whether there is something for drain.
bool poller::look() {
  wait(0);
  return seen_ > 0;
}

void poller::wait(int milliseconds) noexcept {
  constexpr int most = static_cast<int>(events_max);
  seen_ = std::max(0, ::epoll_wait(epoll_, events_.data(), most, milliseconds));
}

// The kernel reports edges round-robin, so after as many events as descriptors each one ready at
// the beginning was served, and a flood on some of them cannot prolong the iteration.
std::size_t poller::drain() {
  std::size_t const most = std::max(events_max, slots_.size());
  std::size_t taken = 0;
  while (taken < most && loop_) {
    if (seen_ == 0) look();
    int const count = std::exchange(seen_, 0);
    for (int i = 0; i < count; ++i) happened(events_[static_cast<std::size_t>(i)]);
    taken += static_cast<std::size_t>(count);
    if (count < static_cast<int>(events_max)) break;
  }
  return taken;
}

void poller::happened(epoll_event const& event) {
  if (event.data.u64 == context_key) context_is_ready_ = true;
  constexpr std::uint32_t broken = EPOLLHUP | EPOLLERR;
  if (auto* const watched = find(event.data.u64);
      watched != nullptr && (event.events & (EPOLLIN | EPOLLRDHUP | broken)) != 0) {
    if ((event.events & (EPOLLRDHUP | broken)) != 0) watched->hung_up_ = true;
    watched->poke();
  }
  // Resuming may have destroyed it.
  if (auto* const watched = find(event.data.u64);
      watched != nullptr && watched->wants_write_ && (event.events & (EPOLLOUT | broken)) != 0) {
    watched->owner_->has_room();
  }
}

std::uint64_t poller::add(readiness* who, int descriptor) {
  if (free_.empty()) {
    slots_.emplace_back();
    free_.reserve(slots_.capacity());  // so that remove() never allocates
    free_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
  }
  auto const index = free_.back();
  auto const key = std::uint64_t{slots_[index].generation} << 32 | index;
  epoll_event event{};
  event.events = edges;
  event.data.u64 = key;
  if (loop_ && ::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) {
    throw error{refused("to watch one more descriptor", errno)};
  }
  free_.pop_back();
  slots_[index].who = who;
  return key;
}

void poller::remove(std::uint64_t key, int descriptor) noexcept {
  auto const index = static_cast<std::uint32_t>(key);
  slots_[index].who = nullptr;
  ++slots_[index].generation;
  free_.push_back(index);
  if (loop_) ::epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr);
}

void poller::postpone(std::uint64_t key) {
  postponed_.push_back(key);
  request_iteration();
}

void poller::watch_writing(std::uint64_t key, int descriptor, bool wanted) {
  epoll_event event{};
  event.events = wanted ? edges | EPOLLOUT : edges;
  event.data.u64 = key;
  if (loop_) ::epoll_ctl(epoll_, EPOLL_CTL_MOD, descriptor, &event);
}

readiness* poller::find(std::uint64_t key) const noexcept {
  auto const& found = slots_[static_cast<std::uint32_t>(key)];
  return found.generation == key >> 32 ? found.who : nullptr;
}

readiness::readiness(poller& by, int descriptor, watched* owner)
    : poller_{by}, owner_{owner}, descriptor_{descriptor} {
  key_ = poller_.add(this, descriptor);
}

readiness::~readiness() { poller_.remove(key_, descriptor_); }

void readiness::poke() {
  edge_ = true;
  if (waits_for_ != wait::edge) return;
  edge_ = false;
  resume();
}

void readiness::poke_next_iteration() {
  if (waits_for_ == wait::edge) suspend(coroutine_, wait::iteration);
}

void readiness::want_write(bool wanted) {
  if (!wanted && !wants_write_) return;
  wants_write_ = wanted;
  poller_.watch_writing(key_, descriptor_, wanted);
}

void readiness::suspend(std::coroutine_handle<> waiting, wait what) {
  coroutine_ = waiting;
  waits_for_ = what;
  if (what == wait::iteration) poller_.postpone(key_);
}

void readiness::resume() {
  waits_for_ = wait::nothing;
  coroutine_.resume();
}

}  // namespace coxswain::net
