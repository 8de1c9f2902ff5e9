// JAX processes at the dispatch, in virtual time, with HTTP/2 bytes.

#include "coxswain/http2/client_session.hpp"
#include "coxswain/server/dispatch.hpp"
#include "coxswain/server/recording/replay.hpp"
#include "coxswain/wire/codec.hpp"
#include "coxswain/xla/codec.hpp"
#include "tests/main/contains.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::server {
namespace {

using test::contains;

using xla::generation;
using xla::method;
using xla::request;

constexpr time_point t0{std::chrono::hours{1000}};
constexpr incarnation coordinator_self{77};

options with(std::uint32_t tasks) {
  options o;
  o.core.num_tasks = tasks;
  return o;
}

// A dispatch, and clients that write and read whenever possible.
struct world {
  explicit world(std::uint32_t tasks = 1) : world{with(tasks)} {}
  explicit world(options const& o) : d{o, coordinator_self, t0} {}

  struct client {
    connection_id id;
    http2::client_session session{{.message_bytes_max = 1 << 30}};
    std::vector<http2::client_event> events;
    bool reads{true};
    std::size_t may_write{1 << 30};  // bytes, and a frame more
    bool is_closed{};
    std::string native;  // received by a client of Coxswain's own protocol
    bool is_native{};
  };

  client& connect(protocols allowed = protocols::both) {
    core::session_secret secret{};
    secret[0] = static_cast<std::uint8_t>(clients.size() + 1);
    auto made = std::make_unique<client>();
    made->id = d.open(now, "10.0.0.1:" + std::to_string(clients.size()), secret, allowed);
    clients.push_back(std::move(made));
    return *clients.back();
  }

  http2::stream_id call(client& by, method what, request asked, bool compresses = false) {
    if (what != method::register_task) asked.service = coordinator_self;
    xla::method_path const path{what, generation::third};
    auto const at = path_of(path);
    auto const stream =
        by.session.start({.path = at, .compresses = compresses}, encode_request(path, asked));
    BOOST_REQUIRE(stream);
    settle();
    return *stream;
  }

  void settle() {
    for (bool moved = true; moved;) {
      moved = false;
      d.begin();
      for (auto const& one : clients) moved |= write(*one);
      d.advance(now);
      std::vector<connection_id> dirty;
      while (d.deliver(dirty)) {
        for (auto const id : dirty) {
          for (auto const& one : clients) {
            if (one->id == id && !one->is_closed) moved |= read(*one);
          }
        }
      }
      d.check_invariants();
    }
  }

  bool write(client& by) {
    if (by.is_closed || by.is_native) return false;
    if (d.go_on(now, by.id) != dispatch::taken::all) return true;
    std::string out;
    while (by.session.wants_write() && out.size() < by.may_write) {
      by.session.append_output(out, std::min<std::size_t>(by.may_write - out.size(), 1 << 20));
    }
    by.may_write -= std::min(by.may_write, out.size());
    for (std::size_t at = 0; at < out.size(); at += 60'000) {
      auto const piece = std::string_view{out}.substr(at, 60'000);
      auto taken = d.received(now, by.id, piece);
      while (taken == dispatch::taken::waits) {
        d.begin();
        taken = d.go_on(now, by.id);
      }
    }
    return !out.empty();
  }

  bool read(client& by) {
    if (!by.reads) return false;
    bool moved = false;
    std::array<iovec, 16> room;
    auto& out = d.out(by.id);
    while (!out.empty()) {
      std::string bytes;
      for (auto const& one : out.fill(room)) {
        bytes.append(static_cast<char const*>(one.iov_base), one.iov_len);
      }
      d.wrote(now, by.id, bytes.size());
      moved = true;
      if (by.is_native) {
        by.native += bytes;
      } else {
        by.session.receive(now, bytes, by.events);
      }
    }
    if (out.ends()) close(by);
    return moved;
  }

  void close(client& which) {
    which.is_closed = true;
    d.lost(now, which.id, core::loss::closed);
  }

  void wait(duration time) {
    auto const then = now + time;
    for (;;) {
      auto const next = d.next_deadline();
      if (!next || *next > then) break;
      now = std::max(now, *next);
      settle();
    }
    now = then;
    settle();
  }

  // "waits", "OK", or code and text.
  static std::string text(client const& of, http2::stream_id stream) {
    for (auto const& event : of.events) {
      auto const* const end = std::get_if<http2::call_ended>(&event);
      if (end && end->stream == stream) return end->outcome.text();
    }
    return "waits";
  }
  static std::string message(client const& of, http2::stream_id stream) {
    for (auto const& event : of.events) {
      auto const* const got = std::get_if<http2::reply_message>(&event);
      if (got && got->stream == stream) return got->message;
    }
    return "nothing";
  }

  static request by(std::uint32_t task, std::string name = {}, std::string value = {}) {
    request made;
    made.task = xla::task_name{static_cast<std::int32_t>(task)};
    made.self = incarnation{10 + task};
    made.name = std::move(name);
    made.value = std::move(value);
    return made;
  }

  time_point now{t0};
  dispatch d;
  std::vector<std::unique_ptr<client>> clients;
};

std::string native_hello() {
  core::client_message hello;
  hello.what = core::hello_args{};
  std::string frame;
  wire::append_frame(frame, hello);
  return frame;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(grpc_test)

BOOST_AUTO_TEST_CASE(the_first_bytes_decide_the_protocol) {
  world w;
  auto& jax = w.connect();
  auto& native = w.connect();
  native.is_native = true;
  auto const joins = w.call(jax, method::register_task, world::by(0));
  BOOST_TEST(world::text(jax, joins) == "OK");
  for (char const c : native_hello()) {
    w.d.received(w.now, native.id, std::string_view{&c, 1});
  }
  w.settle();
  BOOST_TEST(!native.native.empty());
  BOOST_TEST(w.d.is_greeted(native.id));
}

BOOST_AUTO_TEST_CASE(the_preface_may_arrive_byte_by_byte) {
  world w;
  auto& jax = w.connect();
  std::string out;
  auto const stream =
      jax.session.start({.path = "/xla.coordination.CoordinationService/Barrier"}, "");
  while (jax.session.wants_write()) jax.session.append_output(out, 1 << 20);
  for (char const c : out) w.d.received(w.now, jax.id, std::string_view{&c, 1});
  w.settle();
  BOOST_TEST(contains(world::text(jax, *stream), "wrong service incarnation"));
}

BOOST_AUTO_TEST_CASE(an_unknown_method_leaves_the_connection_open) {
  world w;
  auto& jax = w.connect();
  auto const stream = jax.session.start({.path = "/xla.coordination.CoordinationService/No"}, "");
  w.settle();
  BOOST_TEST(contains(world::text(jax, *stream), "UNIMPLEMENTED"));
  BOOST_TEST(world::text(jax, w.call(jax, method::register_task, world::by(0))) == "OK");
}

BOOST_AUTO_TEST_CASE(calls_without_a_required_token_are_refused_with_the_reason) {
  auto o = with(1);
  o.core.credentials.push_back({core::role::worker, "secret"});
  world w{o};
  auto& jax = w.connect(protocols::native);
  auto const joins = w.call(jax, method::register_task, world::by(0));
  BOOST_TEST(contains(world::text(jax, joins), "UNAUTHENTICATED"));
  BOOST_TEST(contains(world::text(jax, joins), "--xla-listen"));
  w.wait(10s);
  BOOST_TEST(jax.is_closed);

  auto& at_own_address = w.connect(protocols::jax);
  auto const served = w.call(at_own_address, method::register_task, world::by(0));
  BOOST_TEST(world::text(at_own_address, served) == "OK");
}

BOOST_AUTO_TEST_CASE(a_jax_address_serves_only_jax) {
  world w;
  auto& native = w.connect(protocols::jax);
  native.is_native = true;
  w.d.received(w.now, native.id, native_hello());
  w.settle();
  BOOST_TEST(contains(native.native, "JAX processes and torch's TCPStore clients only"));
  BOOST_TEST(native.is_closed);
}

BOOST_AUTO_TEST_CASE(heartbeats_are_answered_during_large_values) {
  world w;
  auto& jax = w.connect();
  w.call(jax, method::register_task, world::by(0));
  std::string value(20'000'000, '\0');
  for (std::size_t i = 0; i < value.size(); ++i) value[i] = static_cast<char>(i * i >> 7);
  auto const put = w.call(jax, method::insert_key_value, world::by(0, "k", value));
  BOOST_TEST(world::text(jax, put) == "OK");
  auto const get = w.call(jax, method::get_key_value, world::by(0, "k"));
  auto const beat = w.call(jax, method::heartbeat, world::by(0));
  BOOST_TEST(world::text(jax, beat) == "OK");
  BOOST_TEST((world::message(jax, get) == xla::encode_key_value("k", bytes{value}).head + value));
  auto const zipped =
      w.call(jax, method::insert_key_value, world::by(0, "z", std::string(3'000'000, 'a')), true);
  BOOST_TEST(world::text(jax, zipped) == "OK");
}

BOOST_AUTO_TEST_CASE(unread_listings_are_put_off_and_equal_ones_shared) {
  world w;
  auto& writer = w.connect();
  std::size_t listed = 0;
  for (int n = 0; n < 10; ++n) {
    std::string const value(300'000, 'v');
    w.call(writer, method::insert_key_value, world::by(0, "d/" + std::to_string(n), value));
    listed += value.size();
  }
  auto const transit = [&] { return w.d.logic().memory()->transit(); };
  auto const before = transit();
  std::vector<std::pair<world::client*, http2::stream_id>> calls;
  for (int clients = 0; clients < 4; ++clients) {
    auto& jax = w.connect();
    jax.reads = false;
    for (int n = 0; n < 5; ++n) {
      calls.emplace_back(&jax, w.call(jax, method::get_key_value_dir, world::by(0, "d")));
    }
  }
  w.wait(100ms);
  BOOST_TEST(transit() > before + listed);
  BOOST_TEST(transit() < before + 2 * listed);

  for (auto const& one : w.clients) one->reads = true;
  w.wait(1s);
  for (auto const& [jax, stream] : calls) {
    BOOST_TEST(world::text(*jax, stream) == "OK");
    BOOST_TEST(world::message(*jax, stream).size() > listed);
  }
  BOOST_TEST(transit() < before + 1'000'000);
}

BOOST_AUTO_TEST_CASE(a_client_that_closes_its_window_is_disconnected) {
  world w;
  auto& jax = w.connect();
  w.call(jax, method::register_task, world::by(0));
  w.call(jax, method::insert_key_value, world::by(0, "k", std::string(30'000'000, 'x')));
  jax.reads = false;  // so nothing is acknowledged either
  w.call(jax, method::get_key_value, world::by(0, "k"));
  jax.reads = true;
  auto& out = w.d.out(jax.id);
  std::array<iovec, 16> room;
  for (int i = 0; i < 100 && !out.empty(); ++i) {  // read by its kernel only
    std::size_t bytes = 0;
    for (auto const& one : out.fill(room)) bytes += one.iov_len;
    w.d.wrote(w.now, jax.id, bytes);
  }
  jax.is_native = true;  // it writes nothing any more
  w.wait(29s);
  BOOST_TEST(!jax.is_closed);
  w.wait(2s);
  BOOST_TEST(jax.is_closed);
}

// The core holds half of the memory, so there is memory for two large requests at a time.
struct full_world : world {
  full_world() : world{narrow()} {
    auto& writer = connect();
    for (int n = 0; n < 3; ++n) {
      auto const put = call(writer, method::insert_key_value,
                            by(0, std::to_string(n), std::string(1'375'000, 'v')));
      BOOST_REQUIRE(text(writer, put) == "OK");
    }
  }
  static options narrow() {
    options o = with(1);
    o.core.memory_bytes_max = 8'000'000;
    o.core.stalled_reader_timeout = 9s;
    o.log = [](core::event const& what) { log() += what.text + "\n"; };
    log().clear();
    return o;
  }
  static std::string& log() {
    static std::string lines;
    return lines;
  }
  http2::stream_id put(client& by, std::string key) {
    return call(by, method::insert_key_value, world::by(0, std::move(key), large));
  }
  // Has sent only the beginning of a large request.
  std::pair<client&, http2::stream_id> slow_client() {
    auto& slow = connect();
    slow.may_write = 100'000;
    auto const stream = put(slow, "slow");
    return {slow, stream};
  }
  std::size_t transit() const { return d.logic().memory()->transit(); }

  std::string const large = std::string(1'450'000, 'l');
};

BOOST_FIXTURE_TEST_CASE(slow_large_requests_are_refused_when_others_wait, full_world) {
  auto const before = transit();
  auto const [slow, first] = slow_client();
  auto const [another, second] = slow_client();
  wait(10s);
  BOOST_TEST(text(slow, first) == "waits");
  BOOST_TEST(text(another, second) == "waits");
  BOOST_TEST(transit() > before + 2 * large.size());

  auto& other = connect();
  auto const third = put(other, "other");

  BOOST_TEST(text(other, third) == "OK");
  for (auto const& why : {text(slow, first), text(another, second)}) {
    BOOST_TEST(contains(why, "RESOURCE_EXHAUSTED"));
    BOOST_TEST(contains(why, "1450"));
    BOOST_TEST(contains(why, "arrives too slowly while others wait for memory"));
    BOOST_TEST(contains(why, "memory_bytes_max is 8000000"));
  }
  BOOST_TEST(transit() < before + 200'000);
  BOOST_TEST(contains(log(), "call of 10.0.0.1:1 refused: the request of 1450"));

  slow.may_write = 1 << 30;
  auto const joins = call(slow, method::register_task, by(0));
  BOOST_TEST(text(slow, joins) == "OK");
  BOOST_TEST(!slow.is_closed);
}

BOOST_FIXTURE_TEST_CASE(a_slow_large_request_is_in_time_before_others_wait, full_world) {
  auto const [slow, stream] = slow_client();
  wait(60s);
  slow.may_write = 1 << 30;
  settle();
  BOOST_TEST(text(slow, stream) == "OK");
}

// Each arrival has a third of the stalled-reader timeout, and a second for each MiB.
BOOST_FIXTURE_TEST_CASE(slow_large_requests_may_finish_in_time_although_others_wait, full_world) {
  auto const [slow, first] = slow_client();
  auto const [another, second] = slow_client();
  auto& other = connect();
  auto const third = put(other, "other");
  wait(4s - 1ns);
  BOOST_TEST(text(slow, first) == "waits");
  BOOST_TEST(text(other, third) == "waits");

  slow.may_write = 1 << 30;
  settle();
  BOOST_TEST(text(slow, first) == "OK");
  wait(1ns);
  BOOST_TEST(contains(text(another, second), "too slowly"));
  BOOST_TEST(text(other, third) != "waits");
}

BOOST_FIXTURE_TEST_CASE(a_large_request_without_memory_in_time_fails_alone, full_world) {
  std::vector<std::pair<client&, http2::stream_id>> all;
  for (int n = 0; n < 7; ++n) all.push_back(slow_client());
  auto& [last, large_put] = all.back();
  last.may_write = 1 << 30;
  auto const joins = call(last, method::register_task, by(0));
  wait(9s - 1ns);
  BOOST_TEST(text(last, large_put) == "waits");
  wait(1ns);

  BOOST_TEST(contains(text(last, large_put), "no memory for the request of 1450"));
  BOOST_TEST(text(last, joins) == "OK");
  BOOST_TEST(text(last, call(last, method::heartbeat, by(0))) == "OK");
}

BOOST_FIXTURE_TEST_CASE(native_frames_wait_for_no_slow_request, full_world) {
  auto const [slow, first] = slow_client();
  auto const [another, second] = slow_client();
  auto& native = connect();
  native.is_native = true;
  d.received(now, native.id, native_hello());
  core::client_message put;
  put.id = request_id{1};
  put.what = core::put_args{"native", large, false, false};
  std::string frame;
  wire::append_frame(frame, put);
  native.native.clear();
  BOOST_TEST((d.received(now, native.id, std::string_view{frame}.substr(0, 1'000)) ==
              dispatch::taken::reading_paused));
  wait(5s);

  BOOST_TEST(contains(text(slow, first), "too slowly"));
  BOOST_TEST(contains(text(another, second), "too slowly"));
  BOOST_TEST(!d.out(native.id).pauses_reading());
  native.is_native = false;
}

BOOST_FIXTURE_TEST_CASE(a_large_request_that_is_cancelled_makes_room, full_world) {
  auto const [slow, first] = slow_client();
  auto const [another, second] = slow_client();
  auto& other = connect();
  auto const third = put(other, "other");
  BOOST_TEST(text(other, third) == "waits");

  slow.may_write = 1'000;
  slow.session.cancel(first);
  settle();

  BOOST_TEST(text(other, third) == "OK");
  wait(60s);
  BOOST_TEST(text(another, second) == "waits");  // nobody waits for its memory
}

BOOST_AUTO_TEST_CASE(broken_http2_ends_the_connection_with_a_reason) {
  world w;
  auto& jax = w.connect();
  w.call(jax, method::register_task, world::by(0));
  w.d.received(w.now, jax.id, std::string(64, '\xff'));
  w.settle();
  BOOST_TEST(jax.is_closed);
  w.wait(200s);
  BOOST_TEST(w.d.error().has_value());  // its task is gone
}

BOOST_AUTO_TEST_CASE(a_recording_of_jax_processes_replays_without_http2) {
  world w{2};
  auto& first = w.connect();
  auto& second = w.connect();
  w.call(first, method::register_task, world::by(0));
  w.call(second, method::register_task, world::by(1));
  w.call(first, method::insert_key_value, world::by(0, "k", "secret value"));
  w.call(second, method::get_key_value, world::by(1, "k"));
  auto meets = world::by(0, "b");
  meets.timeout_ms = 1000;
  w.call(first, method::barrier, meets);
  w.wait(2s);
  w.call(second, method::poll_for_error, world::by(1));
  w.close(second);
  w.wait(5s);
  BOOST_REQUIRE(w.d.error());
  auto const recording = w.d.recording();
  BOOST_TEST(!contains(recording, "secret value"));
  BOOST_TEST(!contains(recording, "PRI * HTTP"));

  replay r{recording};
  while (r.step(duration::max())) {
  }
  BOOST_TEST(r.difference() == "");
  auto const then = w.d.look(w.now);
  auto const again = r.look();
  BOOST_TEST(again.keys == then.keys);
  BOOST_REQUIRE(again.error.has_value());
  BOOST_TEST((*again.error == *then.error));
}

BOOST_AUTO_TEST_CASE(an_orderly_stop_answers_waiting_calls_and_closes) {
  world w;
  auto& jax = w.connect();
  w.call(jax, method::register_task, world::by(0));
  auto const poll = w.call(jax, method::poll_for_error, world::by(0));
  BOOST_TEST(w.d.put_in(w.now, core::stopped{"done"}).ok());
  w.settle();
  BOOST_TEST(contains(world::text(jax, poll), "UNAVAILABLE"));
  BOOST_TEST(jax.is_closed);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::server
