#include "coxswain/server/admission/handshakes.hpp"

#include "coxswain/core/kernel/text.hpp"
#include "coxswain/server/admission/rejections.hpp"

#include <algorithm>
#include <array>
#include <exception>

namespace coxswain::server {
namespace {

constexpr int steps_max = 16;

// How long a refused peer has to read the reason.
constexpr duration closing_max = 1s;

// Younger ones are not closed: their peers may be busy.
constexpr duration dismissed_after = 1s;

}  // namespace

class handshakes::handshake final : private net::watched {
 public:
  handshake(handshakes& of, std::uint64_t number, std::unique_ptr<net::byte_stream> stream,
            accepted_peer who, time_point begun, time_point ends)
      : of_{of},
        waiting_{std::move(stream)},
        number_{number},
        who_{std::move(who)},
        begun_{begun},
        ends_{ends},
        ready_{std::in_place, of.poller_, waiting_->native_handle(),
               static_cast<net::watched*>(this)},
        loop_{run()} {
    loop_.start();
  }

  // Without memory it never starts, and its time limit ends it.
  void start() noexcept {
    try {
      stream_ = std::make_unique<net::tls_stream>(std::move(waiting_), of_.shown_);
    } catch (std::exception const&) {
      return;
    }
    ready_->poke();
  }

  [[nodiscard]] bool is_started() const noexcept { return stream_ != nullptr; }
  [[nodiscard]] bool is_closing() const noexcept { return is_closing_; }
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  [[nodiscard]] accepted_peer const& who() const noexcept { return who_; }
  [[nodiscard]] std::string const& peer() const noexcept { return who_.peer; }
  [[nodiscard]] std::string host() const { return std::string{pending_peers::host_of(who_.peer)}; }
  [[nodiscard]] time_point begun() const noexcept { return begun_; }
  [[nodiscard]] time_point ends() const noexcept { return ends_; }
  [[nodiscard]] net::byte_stream const& stream() const noexcept {
    return stream_ ? *stream_ : *waiting_;
  }

  // No more of it is watched from now on.
  std::unique_ptr<net::tls_stream> take_stream() noexcept {
    ready_.reset();
    return std::move(stream_);
  }

  time_point planned{};  // the moment for which it is in `due_`

 private:
  net::owned_coroutine run();
  [[nodiscard]] bool go_on();
  void refuse();
  [[nodiscard]] bool is_gone() noexcept;
  void has_room() noexcept override;

  handshakes& of_;
  std::unique_ptr<net::byte_stream> waiting_;
  std::unique_ptr<net::tls_stream> stream_;  // once it has begun
  std::uint64_t number_;
  accepted_peer who_;
  time_point begun_;
  time_point ends_;
  std::optional<net::readiness> ready_;
  net::owned_coroutine loop_;
  bool is_closing_{};
};

net::owned_coroutine handshakes::handshake::run() {
  while (!is_started() && !ready_->hung_up()) co_await ready_->readable();
  bool goes_on = is_started();
  is_closing_ = !goes_on;
  while (goes_on) {
    while (!of_.may_step()) co_await ready_->next_iteration();
    goes_on = go_on();
    if (goes_on) co_await ready_->readable();
  }
  while (is_started() && is_closing_ && !is_gone()) co_await ready_->readable();
  of_.over_.push_back(number_);
}

// False when it has ended.
bool handshakes::handshake::go_on() {
  switch (stream_->handshake()) {
    case net::tls_stream::step::wants_read: return true;
    case net::tls_stream::step::wants_write: ready_->want_write(true); return true;
    case net::tls_stream::step::done: return false;
    case net::tls_stream::step::failed: break;
  }
  refuse();
  return false;
}

// Further input of the peer is read, since closing a socket with unread input can destroy output
// that the peer has not read.
void handshakes::handshake::refuse() {
  is_closing_ = true;
  auto const& why = stream_->problem();
  if (why.code() == errc::failed_precondition) {
    std::string_view const words = stream_->meets_http() ? no_http() : of_.plain_goodbye_;
    iovec const goodbye{const_cast<char*>(words.data()), words.size()};
    static_cast<void>(stream_->below().write_some({&goodbye, 1}));
  }
  stream_->below().shut_write();
  of_.refusals_.push_back({peer(), why});
  of_.plan(*this, of_.now_ + closing_max);
}

bool handshakes::handshake::is_gone() noexcept {
  std::array<char, 4096> ignored{};
  for (;;) {
    auto const got = stream_->below().read_some(ignored);
    if (got.how == net::transfer::outcome::would_block) return false;
    if (got.how != net::transfer::outcome::done) return true;
  }
}

void handshakes::handshake::has_room() noexcept {
  ready_->want_write(false);
  ready_->poke();
}

handshakes::handshakes(net::poller& by, net::tls_context const& shown, pending_peers& among,
                       limits l, std::string plain_goodbye)
    : poller_{by},
      shown_{shown},
      pending_peers_{among},
      limits_{l},
      plain_goodbye_{std::move(plain_goodbye)},
      pace_{l.per_second_max} {}

handshakes::~handshakes() = default;

void handshakes::begin(time_point now, std::unique_ptr<net::byte_stream> stream,
                       accepted_peer who) {
  now_ = now;
  auto const number = begun_++;
  auto const ends = deadline_after(now, limits_.longest);
  auto made =
      std::make_unique<handshake>(*this, number, std::move(stream), std::move(who), now, ends);
  auto& pending = *all_.emplace(number, std::move(made)).first->second;
  pending_peers_.came({pending_peers::peer::kind::handshake, number}, pending.host());
  plan(pending, ends);
  auto& queue = waiting_[pending.host()];
  queue.insert(number);
  if (queue.size() == 1) start_next(pending.host(), now);
}

// Starts the waiting ones of this host, as far as its rate allows, and schedules the next.
void handshakes::start_next(std::string const& host, time_point now) {
  auto const at = waiting_.find(host);
  while (at != waiting_.end() && !at->second.empty()) {
    auto& first = *all_.at(*at->second.begin());
    auto const when = pace_.begin(now, host);
    if (when > now) return plan(first, std::min(when, first.ends()));
    at->second.erase(at->second.begin());
    plan(first, first.ends());
    first.start();
  }
  if (at != waiting_.end()) waiting_.erase(at);
}

void handshakes::iteration_begins(time_point now) noexcept {
  now_ = now;
  steps_left_ = steps_max;
}

bool handshakes::may_step() noexcept {
  if (steps_left_ == 0) return false;
  --steps_left_;
  return true;
}

void handshakes::advance(time_point now) {
  now_ = now;
  while (!due_.empty() && due_.begin()->first <= now) visit(*all_.at(due_.begin()->second), now);
}

void handshakes::visit(handshake& pending, time_point now) {
  if (!pending.is_started() && now < pending.ends()) return start_next(pending.host(), now);
  if (!pending.is_closing()) {
    refusals_.push_back({pending.peer(),
                         {errc::deadline_exceeded, "There was no whole TLS handshake within " +
                                                       core::in_words(limits_.longest) + "."}});
  }
  forget(pending);
}

void handshakes::plan(handshake& pending, time_point when) {
  auto node = due_.extract({pending.planned, pending.number()});
  pending.planned = when;
  if (node.empty()) {
    due_.emplace(when, pending.number());
  } else {
    node.value().first = when;
    due_.insert(std::move(node));
  }
}

void handshakes::forget(handshake& pending) {
  auto const number = pending.number();
  auto const host = pending.host();
  due_.erase({pending.planned, number});
  pending_peers_.left({pending_peers::peer::kind::handshake, number});
  all_.erase(number);
  auto const at = waiting_.find(host);
  if (at == waiting_.end()) return;
  bool const was_first = *at->second.begin() == number;
  at->second.erase(number);
  if (was_first) start_next(host, now_);
}

std::vector<handshakes::caller> handshakes::take_callers() {
  std::vector<caller> callers;
  for (auto const number : std::exchange(over_, {})) {
    auto& pending = *all_.at(number);
    if (!pending.is_closing()) callers.push_back({pending.who(), pending.take_stream()});
    forget(pending);
  }
  return callers;
}

bool handshakes::dismiss(std::uint64_t number) {
  auto& pending = *all_.at(number);
  bool const is_over = std::find(over_.begin(), over_.end(), number) != over_.end();
  if (is_over || now_ < pending.begun() + dismissed_after || pending.stream().has_unread())
    return false;
  forget(pending);
  return true;
}

void handshakes::clear() noexcept {
  for (auto const& [number, _] : all_) {
    pending_peers_.left({pending_peers::peer::kind::handshake, number});
  }
  due_.clear();
  over_.clear();
  waiting_.clear();
  all_.clear();
}

std::optional<time_point> handshakes::next_deadline() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first;
}

}  // namespace coxswain::server
