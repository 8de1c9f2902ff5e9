#include "load/census.hpp"

#include "bench_error.hpp"
#include "load/peer.hpp"

#include "coxswain/core/model/messages.hpp"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/frame.hpp"
#include "coxswain/wire/recording.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace coxswain::bench {
namespace {

constexpr std::uint64_t records_lost = 3;

// A recording under construction.
class told {
 public:
  explicit told(std::uint64_t lost = 0) {
    wire::recording_head head;
    head.lost = lost;
    wire::append(bytes_, head);
  }
  told& connects(std::uint64_t connection) {
    return add(0s, wire::record_kind::connected, connection, "127.0.0.1:5");
  }
  told& says(duration at, std::uint64_t connection, core::request what,
             std::optional<task_id> task = {}) {
    core::client_message m;
    if (is_numbered(what)) m.id = request_id{7};
    m.task = task;
    m.what = std::move(what);
    std::string frame;
    wire::append_frame(frame, m);
    return add(at, wire::record_kind::message, connection, frame.substr(wire::length_bytes));
  }
  [[nodiscard]] census counted() const { return census{bytes_}; }

 private:
  told& add(duration at, wire::record_kind kind, std::uint64_t connection,
            std::string const& content) {
    wire::record r;
    r.at = at;
    r.kind = kind;
    r.connection = connection_id{connection};
    r.content = content;
    wire::append(bytes_, r);
    return *this;
  }
  std::string bytes_;
};

core::request arrival(std::string name) {
  core::barrier_args a;
  a.name = std::move(name);
  return a;
}

core::request hello_of(std::string label) {
  core::hello_args h;
  h.label = std::move(label);
  return h;
}

core::request join_of(std::uint64_t self) { return core::join_args{incarnation{self}}; }

std::string difference(told const& one, told const& other) {
  return census::difference(one.counted(), "the one", other.counted(), "the other")
      .value_or("none");
}

BOOST_AUTO_TEST_SUITE(censuses)

BOOST_AUTO_TEST_CASE(requests_are_counted_by_kind_and_name) {
  auto const found = told{}
                         .connects(1)
                         .says(1s, 1, arrival("a"), task_id{0})
                         .says(2s, 1, arrival("a"), task_id{0})
                         .says(2s, 1, std::monostate{})
                         .counted();

  BOOST_TEST(found.connections() == 1u);
  BOOST_TEST(found.by_request().at("barrier 'a'").frames == 2u);
  BOOST_TEST(found.by_request().at("heartbeat").frames == 1u);
  BOOST_TEST(found.by_request().at("heartbeat").bytes == wire::length_bytes);
  BOOST_TEST(found.requests_per_iteration() == 1.5);
}

BOOST_AUTO_TEST_CASE(what_is_random_or_depends_on_time_and_task_order_are_ignored) {
  auto const one = told{}
                       .connects(1)
                       .connects(2)
                       .says(1s, 1, hello_of("x:1"))
                       .says(1s, 2, hello_of("x:2"))
                       .says(1s, 1, join_of(5), task_id{0})
                       .says(1s, 2, join_of(6), task_id{1})
                       .says(8s, 1, core::ask_waiting_args{request_id{7}})
                       .says(9s, 1, std::monostate{});
  auto const other = told{}
                         .connects(8)
                         .connects(9)
                         .says(2s, 8, hello_of("host:700"))
                         .says(3s, 8, join_of(77), task_id{1})
                         .says(4s, 9, hello_of("host:701"))
                         .says(5s, 9, join_of(78), task_id{0});

  BOOST_TEST(difference(one, other) == "none");
}

BOOST_AUTO_TEST_CASE(a_differing_request_is_named_with_its_position) {
  auto const one = told{}
                       .connects(1)
                       .says(1s, 1, join_of(5), task_id{3})
                       .says(2s, 1, arrival("step"), task_id{3});
  auto const other = told{}
                         .connects(1)
                         .says(1s, 1, join_of(5), task_id{3})
                         .says(2s, 1, arrival("steps"), task_id{3});

  auto const found = difference(one, other);

  BOOST_TEST(found.starts_with("request 2 of task 3 is a barrier 'step' of "), found);
  BOOST_TEST(found.find("from the one, but a barrier 'steps' of ") != std::string::npos, found);
}

BOOST_AUTO_TEST_CASE(missing_requests_missing_tasks_and_extra_connections_are_differences) {
  auto const one = told{}.connects(1).says(1s, 1, arrival("a"), task_id{0});
  auto const more = told{}
                        .connects(1)
                        .says(1s, 1, arrival("a"), task_id{0})
                        .says(1s, 1, arrival("a"), task_id{0});
  auto const another = told{}.connects(1).says(1s, 1, arrival("a"), task_id{1});
  auto const connected_twice = told{}.connects(1).connects(2).says(1s, 1, arrival("a"), task_id{0});

  BOOST_TEST(difference(one, more) ==
             "task 0 sent 1 requests among the one, but 2 among the other");
  BOOST_TEST(difference(one, another) ==
             "task 0 sent 1 requests among the one, but 0 among the other");
  BOOST_TEST(difference(one, connected_twice) == "the one made 1 connections, the other made 2");
}

BOOST_AUTO_TEST_CASE(an_incomplete_recording_is_refused) {
  BOOST_CHECK_THROW(told{records_lost}.counted(), bench_error);
  BOOST_CHECK_THROW(census{"what"}, bench_error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::bench
