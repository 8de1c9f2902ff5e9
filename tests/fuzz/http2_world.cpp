#include "tests/fuzz/http2_world.hpp"

#include "coxswain/http2/client_session.hpp"
#include "coxswain/http2/gzip.hpp"
#include "coxswain/http2/server_session.hpp"
#include "tests/fuzz/violation.hpp"
#include "tests/http2/frames.hpp"

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace coxswain::http2 {
namespace {

using coxswain::test::random_source;
using coxswain::test::report_violation;

constexpr std::array<std::string_view, 20> names{":path",
                                                 ":method",
                                                 ":scheme",
                                                 ":authority",
                                                 ":status",
                                                 "content-type",
                                                 "te",
                                                 "grpc-encoding",
                                                 "grpc-timeout",
                                                 "grpc-status",
                                                 "grpc-message",
                                                 "grpc-status-details-bin",
                                                 "user-agent",
                                                 "content-length",
                                                 "x-any",
                                                 "Upper",
                                                 "",
                                                 "connection",
                                                 "transfer-encoding",
                                                 "grpc-accept-encoding"};
constexpr std::array<std::string_view, 14> values{
    "/p.S/M", "POST", "http", "application/grpc", "200",  "gzip",     "deflate",
    "5S",     "0",    "13",   "trailers",         "%41%", "CjsKN3R5", "identity"};

// Memory of the session beyond its input.
constexpr std::size_t memory_at_rest = 100'000;
constexpr std::size_t stream_bytes = 2'000;

// Mostly valid frames.
class any_peer {
 public:
  any_peer(random_source& rng, bool is_client) : rng_{rng}, is_client_{is_client} {}

  std::string beginning() {
    if (rng_.one_in(16)) return rng_.bytes(rng_.size(40));
    if (is_client_) return test::preface();
    return test::frame(test::frame_type::settings, 0, 0);
  }

  // The client has opened this stream.
  void begun(stream_id stream) { next_ = static_cast<std::uint32_t>(stream.value) + 2; }

  std::string next() {
    if (rng_.one_in(64)) return rng_.bytes(rng_.size(60));
    if (rng_.one_in(64)) return any_frame();
    switch (rng_.upto(15)) {
      case 2: return test::frame(test::frame_type::reset, 0, stream(), number());
      case 3: return test::frame(test::frame_type::window_update, 0, stream(), number());
      case 4: return test::frame(test::frame_type::ping, flags(), 0, "12345678");
      case 5: return test::frame(test::frame_type::settings, 0, 0, setting());
      case 6:
        if (!rng_.one_in(8)) return {};
        return test::frame(test::frame_type::headers, flags(), stream(), headers());
      case 7: return test::frame(test::frame_type::data, flags(), stream(), body());
      default: return is_client_ ? call() : reply();
    }
  }

 private:
  std::string call() {
    next_ += 2;
    auto fields = test::call_fields("/p.S/M");
    if (rng_.one_in(4)) fields.emplace_back(rng_.one_of(names), rng_.one_of(values));
    return test::frame(test::frame_type::headers, test::end_headers, next_ - 2,
                       test::header_block(fields)) +
           test::frame(test::frame_type::data, rng_.one_in(8) ? 0 : test::end_stream, next_ - 2,
                       body());
  }

  std::string reply() {
    auto const of = stream();
    return test::frame(
               test::frame_type::headers, test::end_headers, of,
               test::header_block({{":status", "200"}, {"content-type", "application/grpc"}})) +
           test::frame(test::frame_type::data, 0, of, body()) +
           test::frame(test::frame_type::headers, test::end_headers | test::end_stream, of,
                       test::header_block({{"grpc-status", rng_.one_of(values)}}));
  }

  std::string body() {
    switch (rng_.upto(7)) {
      case 0: return rng_.bytes(rng_.size(20));
      case 1: return test::message(gzip(std::string(rng_.size(5'000), 'x')), true);
      case 2: return test::message(std::string(rng_.size(16'000), 'y'));
      case 3: return test::message("ab").substr(0, rng_.upto(7));
      case 4: return test::message("a") + test::message("b");
      default: return test::message(std::string(rng_.size(20), 'z'));
    }
  }

  std::string headers() {
    test::fields all;
    for (auto left = rng_.upto(6); left > 0; --left) {
      all.emplace_back(rng_.one_of(names), rng_.one_of(values));
    }
    return test::header_block(all);
  }

  std::string any_frame() {
    auto const type = test::frame_type{static_cast<std::uint8_t>(rng_.upto(10))};
    return test::frame(type, static_cast<std::uint8_t>(rng_.upto(255)), stream(),
                       rng_.bytes(rng_.size(30)));
  }

  std::string setting() {
    if (!rng_.one_in(8)) return {};
    return test::number(rng_.upto(9), 2) + test::number(rng_.size(70'000), 4);
  }

  // Mostly one that is or was open.
  std::uint32_t stream() {
    if (next_ == 1 || rng_.one_in(64)) return static_cast<std::uint32_t>(rng_.upto(9));
    auto const back = 2 * rng_.size(next_ / 2 - 1);
    return static_cast<std::uint32_t>(next_ - 2 - back);
  }
  std::string number() { return test::number(rng_.size(0x7fff'ffff), 4); }
  std::uint8_t flags() { return static_cast<std::uint8_t>(rng_.upto(5)); }

  random_source& rng_;
  bool is_client_;
  std::uint32_t next_{1};
};

limits small_limits() {
  limits l;
  l.message_bytes_max = 8'000;
  l.unasked_bytes_max = 3'000;
  l.arriving_bytes_max = 20'000;
  l.header_block_bytes_max = 1'000;
  l.events_at_once = 4;
  l.resets_at_once_max = 100;
  l.resets_per_second_max = 10;
  return l;
}

// Common to both sides: fragmented input, output, and memory.
template <class Session, class Event>
class world {
 public:
  world(random_source& rng, bool is_client) : rng_{rng}, peer_{rng, is_client} {}

  void check_memory() {
    if (meter_.transit() != session_.memory_bytes()) report_violation("memory is not counted");
    auto const justified = memory_at_rest + given_ + session_.streams() * stream_bytes;
    if (session_.memory_bytes() > justified) {
      report_violation("a session of ", session_.streams(), " streams holds ",
                       session_.memory_bytes(), " bytes, having been given ", given_);
    }
    if (session_.streams() == 0 && session_.unsent_bytes() != 0) {
      report_violation("bytes of no stream are unsent");
    }
  }

  void write() {
    std::string out;
    auto const wanted = rng_.size(20'000);
    session_.append_output(out, wanted);
    if (out.size() > wanted + 20'000) report_violation("too much output: ", out.size());
  }

  [[nodiscard]] bool goes_on() const {
    return !rng_.is_spent() && (session_.wants_read() || session_.wants_write());
  }

  random_source& rng_;
  any_peer peer_;
  memory_meter meter_{1'000'000'000};
  Session session_{small_limits(), &meter_};
  std::vector<Event> events_;
  std::set<stream_id> open_;  // begun and not ended
  std::size_t given_{};       // input bytes
  time_point now_{1h};
  http2_world_counts counts_;
};

class server_world : public world<server_session, server_event> {
 public:
  explicit server_world(random_source& rng) : world{rng, true} { hear(peer_.beginning()); }

  void step() {
    switch (rng_.upto(9)) {
      case 0: write(); break;
      case 1: session_.ping(7); break;
      case 2: now_ += rng_.size(3'000) * 1ms; break;
      case 3:
        if (auto const late = session_.asking(); late && rng_.one_in(4)) {
          session_.refuse(*late, {errc::resource_exhausted, "late"});
        } else if (late) {
          given_ += session_.asks_for();
          session_.allow();
        }
        break;
      case 4:
      case 5: end_one(); break;
      case 6:
        if (!rng_.one_in(20)) break;
        session_.go_away(stream_id{static_cast<std::int32_t>(2 * rng_.upto(9) + 1)},
                         error_code::no_error, "bye");
        leaves_ = true;
        break;
      default: hear(peer_.next());
    }
    check_memory();
  }

 private:
  void hear(std::string_view input) {
    given_ += input.size();
    while (!input.empty()) {
      auto const piece = input.substr(0, 1 + rng_.size(input.size()));
      input.remove_prefix(session_.receive(now_, piece, events_));
      look();
    }
  }

  void look() {
    for (auto& event : events_) {
      if (auto const* const asked = std::get_if<call>(&event)) {
        ++counts_.calls;
        if (!open_.insert(asked->stream).second) report_violation("a call was found twice");
        if (asked->message.size() > 8'000) report_violation("a message beyond the limit");
      } else if (auto const* const gone = std::get_if<call_cancelled>(&event)) {
        ++counts_.endings;
        if (open_.erase(gone->stream) == 0) report_violation("a call ended that is not open");
      }
    }
    events_.clear();
  }

  void end_one() {
    if (open_.empty()) return;
    auto const which = rng_.one_of(open_);
    auto const size = rng_.size(20'000);
    given_ += size;
    auto const is_known = rng_.one_in(3)
                              ? session_.fail(which, errc::not_found, std::string(size, 'e'))
                              : session_.reply(which, std::string(size, 'r'));
    // It may have been cancelled already, which the next input reports.
    if (is_known) open_.erase(which);
    if (!is_known && !session_.has_events() && !leaves_) report_violation("a call was forgotten");
    session_.receive(now_, {}, events_);
    look();
  }

  bool leaves_{};
};

class client_world : public world<client_session, client_event> {
 public:
  explicit client_world(random_source& rng) : world{rng, false} { hear(peer_.beginning()); }

  void step() {
    switch (rng_.upto(9)) {
      case 0: write(); break;
      case 1: session_.ping(7); break;
      case 2:
      case 3: begin(); break;
      case 4:
        if (!open_.empty()) say();
        break;
      case 5:
        if (open_.empty()) break;
        if (auto const which = rng_.one_of(open_); rng_.one_in(2)) {
          session_.receive(now_, {}, events_);
          look();
          session_.cancel(which);
          open_.erase(which);
        }
        break;
      default: hear(peer_.next());
    }
    check_memory();
  }

 private:
  void begin() {
    call_start how;
    how.path = "/p.S/M";
    how.compresses = rng_.one_in(2);
    how.stays_open = rng_.one_in(2);
    if (rng_.one_in(2)) how.timeout = rng_.size(100'000) * 1ms;
    auto const size = rng_.size(5'000);
    given_ += 2 * size;
    auto const id = session_.start(how, std::string(size, 'q'));
    if (!id) return;
    open_.insert(*id);
    peer_.begun(*id);
    write();
  }

  void say() {
    auto const size = rng_.size(5'000);
    given_ += 2 * size;
    session_.send(rng_.one_of(open_), std::string(size, 'm'), rng_.one_in(2));
  }

  void hear(std::string_view input) {
    given_ += input.size();
    while (!input.empty()) {
      auto const piece = input.substr(0, 1 + rng_.size(input.size()));
      session_.receive(now_, piece, events_);
      input.remove_prefix(piece.size());
      look();
    }
  }

  void look() {
    for (auto& event : events_) {
      if (auto const* const reply = std::get_if<reply_message>(&event)) {
        ++counts_.calls;
        if (!open_.contains(reply->stream)) report_violation("a reply to no call");
      } else if (auto const* const gone = std::get_if<call_ended>(&event)) {
        ++counts_.endings;
        if (open_.erase(gone->stream) == 0) report_violation("a call ended that is not open");
      }
    }
    events_.clear();
  }
};

template <class World>
http2_world_counts live(random_source& rng, std::size_t steps_max) {
  World one{rng};
  for (std::size_t i = 0; i < steps_max && one.goes_on(); ++i) one.step();
  one.counts_.refusals = one.session_.error().empty() ? 0 : 1;
  return one.counts_;
}

}  // namespace

http2_world_counts try_server(random_source& rng, std::size_t steps_max) {
  return live<server_world>(rng, steps_max);
}

http2_world_counts try_client(random_source& rng, std::size_t steps_max) {
  return live<client_world>(rng, steps_max);
}

}  // namespace coxswain::http2
