// The bytes of both generations. Expected ones are written out field by field, as Protobuf's
// encoding document says.

#include "coxswain/xla/codec.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::xla {
namespace {

using namespace std::string_literals;

constexpr std::array both{generation::second, generation::third};

method method_at(std::size_t i) { return static_cast<method>(i); }

bool has_tasks(method m) { return m == method::barrier || m == method::get_alive_tasks; }
// With something in each field that the method has.
request sample(method_path of) {
  bool const second = of.of == generation::second;
  request one;
  auto const task = [&](int id) {
    return second ? task_name{id, "jax_worker", id % 2 == 0} : task_name{id};
  };
  if (!is_about_keys(of.what) && of.what != method::watch_tasks) one.task = task(300);
  bool const has_self = of.what == method::register_task || of.what == method::heartbeat || !second;
  if (has_self) one.self = incarnation{0x0102030405060708};
  if (!second && of.what != method::register_task) one.service = incarnation{~0ULL};
  if (is_about_keys(of.what) || of.what == method::barrier || of.what == method::cancel_barrier) {
    one.name = "a/ü";
  }
  if (of.what == method::insert_key_value) {
    one.value = "\0value"s;
    one.overwrite = true;
  }
  if (of.what == method::increment_key_value || of.what == method::watch_tasks) one.number = -7;
  if (has_tasks(of.what)) one.tasks = {task(0), task(1), task(300)};
  if (of.what == method::barrier) one.timeout_ms = 1LL << 40;
  if (of.what == method::barrier || of.what == method::cancel_barrier) one.counter = 3;
  if (of.what == method::report_error) {
    one.code = 14;
    one.text = "gone";
  }
  return one;
}

std::string fixed64(std::string const& tag, char low) { return tag + low + std::string(7, '\0'); }

}  // namespace

BOOST_AUTO_TEST_SUITE(codec_test)

BOOST_AUTO_TEST_CASE(every_request_of_both_generations_is_decoded) {
  for (auto const of : both) {
    for (std::size_t i = 0; i < methods; ++i) {
      method_path const path{method_at(i), of};
      auto const sent = sample(path);
      auto const got = decode(path, encode_request(path, sent));
      BOOST_TEST_CONTEXT(name(path.what)) {
        BOOST_REQUIRE(got);
        BOOST_TEST((*got == sent));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(field_numbers_match_the_generation) {
  auto const self = fixed64("\x19", 5);  // field 3, fixed64
  auto const third = decode({method::register_task, generation::third}, self + "\x28\x09");
  BOOST_TEST(third->task->id == 9);
  BOOST_TEST(third->self.value == 5U);

  auto const second = decode({method::register_task, generation::second},
                             self + "\x2a\x0a\x0a\x03jax\x10\x09\x18\x01");
  BOOST_TEST(!second);  // the task says 10 bytes, and has 9
  auto const whole = decode({method::register_task, generation::second},
                            self + "\x2a\x09\x0a\x03jax\x10\x09\x18\x01");
  BOOST_TEST((whole->task == task_name{9, "jax", true}));

  auto const barrier =
      decode({method::barrier, generation::third},
             "\x12\x01"s + "b" + "\x18\xe8\x07" + "\x22\x03\x01\x02\x03" + "\x28\x02" + "\x30\x04");
  BOOST_TEST(barrier->name == "b");
  BOOST_TEST(barrier->timeout_ms == 1000);
  BOOST_TEST(barrier->tasks.size() == 3U);
  BOOST_TEST(barrier->task->id == 2);
  BOOST_TEST(barrier->counter == 4);
}

BOOST_AUTO_TEST_CASE(task_zero_is_omitted_by_the_third_generation) {
  auto const got = decode({method::poll_for_error, generation::third}, "");
  BOOST_TEST(got->task->id == 0);
  BOOST_TEST(got->service->value == 0U);
}

BOOST_AUTO_TEST_CASE(participants_may_be_unpacked) {
  auto const got = decode({method::barrier, generation::third}, "\x20\x07\x20\x08");
  BOOST_TEST(got->tasks.size() == 2U);
  BOOST_TEST(got->tasks.at(1).id == 8);
}

BOOST_AUTO_TEST_CASE(unknown_fields_are_skipped) {
  auto const got = decode({method::get_key_value, generation::second},
                          "\x78\x05"s + "\x7a\x02xy" + fixed64("\x79", 1) + "\x0a\x01k");
  BOOST_TEST(got->name == "k");
}

BOOST_AUTO_TEST_CASE(a_malformed_message_is_refused) {
  method_path const get{method::get_key_value, generation::second};
  for (auto const& bytes :
       {"\x0a"s, "\x0a\x05k"s, "\xff"s, "\x09\x01"s, "\x0a\x02\xc3\x28"s, "\0"s}) {
    BOOST_TEST(decode(get, bytes).error().code() == errc::invalid_argument);
  }
  BOOST_TEST(!decode({method::barrier, generation::second}, "\x0a\x01k"));  // no task
  BOOST_TEST(!decode({method::poll_for_error, generation::third},           // task -1
                     "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
  BOOST_TEST(!decode({method::heartbeat, generation::third}, "\x0a\x02\x11\x01"));  // half a number
  std::string const many(tasks_max + 1, '\1');
  std::string length;
  for (auto n = many.size(); n != 0; n >>= 7)
    length += static_cast<char>(n >> 7 != 0 ? n | 0x80 : n);
  BOOST_TEST(!decode({method::get_alive_tasks, generation::third}, "\x1a" + length + many));
}

BOOST_AUTO_TEST_CASE(every_truncated_request_is_refused_or_valid) {
  for (auto const of : both) {
    for (std::size_t i = 0; i < methods; ++i) {
      method_path const path{method_at(i), of};
      auto const sent = sample(path);
      auto const bytes = encode_request(path, sent);
      for (std::size_t size = 0; size < bytes.size(); ++size) {
        auto const got = decode(path, std::string_view{bytes}.substr(0, size));
        BOOST_TEST((!got || *got != sent));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(replies_have_the_bytes_that_clients_expect) {
  BOOST_TEST(encode_incarnation(incarnation{5}) == fixed64("\x09", 5));
  BOOST_TEST(encode_counter(0) == "");
  BOOST_TEST(encode_counter(300) == "\x08\xac\x02");
  auto const value = encode_key_value("k", bytes{"abc"});
  BOOST_TEST(value.head == "\x0a\x08\x0a\x01k\x12\x03");
  BOOST_TEST(value.tail.view() == "abc");
  BOOST_TEST(encode_key_value("k", {}).head == "\x0a\x03\x0a\x01k");
  std::string listing;
  append_listed(listing, "a/b", "1");
  append_listed(listing, "a/c", "");
  BOOST_TEST(listing ==
             "\x12\x08\x0a\x03"s + "a/b" + "\x12\x01" + "1" + "\x12\x05\x0a\x03" + "a/c");
}

BOOST_AUTO_TEST_CASE(alive_tasks_and_their_incarnations_have_the_same_order) {
  std::vector<task_name> const tasks{{0, "j"}, {2, "j"}};
  std::vector<incarnation> const incarnations{incarnation{7}, incarnation{9}};
  auto const incarnations_packed = "\x12\x10"s + fixed64("", 7) + fixed64("", 9);
  BOOST_TEST(encode_alive(generation::third, tasks, incarnations) ==
             "\x0a\x02\0\x02"s + incarnations_packed);
  BOOST_TEST(encode_alive(generation::second, tasks, incarnations) ==
             "\x0a\x03\x0a\x01j"s + "\x0a\x05\x0a\x01j\x10\x02" + incarnations_packed);
}

BOOST_AUTO_TEST_CASE(a_watch_reports_the_state_of_each_task) {
  std::vector<task_info> const tasks{
      {{1}, state::connected, {}, incarnation{3}},
      {{2}, state::error, {errc::unavailable, "lost"}, incarnation{}},
  };
  BOOST_TEST(encode_tasks(generation::third, tasks, 4) ==
             "\x0a\x0d\x08\x01\x10\x03"s + fixed64("\x31", 3) +
                 "\x0a\x10\x08\x02\x10\x04\x18\x0e\x22\x04lost\x2a\x02\x20\x02" + "\x10\x04");
}

BOOST_AUTO_TEST_CASE(a_path_names_the_method_and_the_generation) {
  BOOST_TEST((find_method("/tensorflow.CoordinationService/Barrier") ==
              method_path{method::barrier, generation::second}));
  BOOST_TEST((find_method("/xla.coordination.CoordinationService/WatchTasks") ==
              method_path{method::watch_tasks, generation::third}));
  BOOST_TEST((find_method("/tensorflow.CoordinationService/WatchJobState") ==
              method_path{method::watch_tasks, generation::second}));
  for (auto const* const path :
       {"", "/", "/tensorflow.CoordinationService/", "/tensorflow.CoordinationService/WatchTasks",
        "/xla.coordination.CoordinationService/WatchJobState", "/other.Service/Barrier",
        "/tensorflow.CoordinationService/ResetTask"}) {
    BOOST_TEST(!find_method(path));
  }
}

BOOST_AUTO_TEST_CASE(each_method_is_found_by_its_path) {
  for (auto const of : both) {
    for (std::size_t i = 0; i < methods; ++i) {
      method_path const which{method_at(i), of};
      BOOST_TEST((find_method(path_of(which)) == which));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::xla
