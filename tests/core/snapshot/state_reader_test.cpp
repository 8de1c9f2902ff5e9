// The encoding of snapshots: what state_writer writes, state_reader reads, and nothing else.

#include "coxswain/core/snapshot/state_reader.hpp"
#include "coxswain/core/snapshot/fields_of_sessions.hpp"
#include "coxswain/core/snapshot/state_writer.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::core {
namespace {

using namespace std::string_literals;

constexpr time_point started{1h};

struct small {
  std::uint8_t number{};
  severity level{};
  std::string text;

  friend bool operator==(small const&, small const&) = default;
};

void fields(auto& a, maybe_const<small> auto& x) { a.members(x.number, x.level, x.text); }

struct large {
  std::int64_t lowest{};
  std::uint64_t highest{};
  time_point never;
  time_point later;
  time_point earlier;
  float fraction{};
  std::vector<small> list;
  std::map<std::string, std::map<int, bool>> maps;
  std::set<task_id> tasks;
  std::optional<std::uint32_t> zero;
  std::optional<std::uint32_t> none;
  std::unique_ptr<small> one;
  device_attribute::value_type choice;
  answer_ptr shared;
  answer_ptr again;
  bytes value;
  bytes same_value;

  static void fields(auto& a, auto& x) {
    a.members(x.lowest, x.highest, x.never, x.later, x.earlier, x.fraction, x.list, x.maps, x.tasks,
              x.zero, x.none, x.one, x.choice, x.shared, x.again, x.value, x.same_value);
  }
};

template <class T>
std::string written(T const& what, time_point start = started) {
  std::string all;
  state_writer::sink const to = [&all](std::string_view bytes) { all += bytes; };
  state_writer writer{start, to};
  writer(1, what);
  auto const digest = writer.finish();
  BOOST_TEST(digest == digest_of(all));
  return all;
}

template <class T>
T read(std::string const& from) {
  T what;
  state_reader reader{from, started};
  reader.belong_to(make_meter(1'000'000), 10, 0);
  reader(1, what);
  reader.finish();
  return what;
}

// Why a `small` cannot be read from the bytes; empty: it can.
template <class T = small>
std::string fault(std::string const& from) {
  try {
    static_cast<void>(read<T>(from));
  } catch (coxswain::error const& e) {
    BOOST_TEST(e.outcome().code() == errc::data_loss);
    return e.message();
  }
  return {};
}

large sample() {
  large one;
  one.lowest = std::numeric_limits<std::int64_t>::min();
  one.highest = std::numeric_limits<std::uint64_t>::max();
  one.never = time_point::max();
  one.later = started + 5s;
  one.earlier = started - 5s;
  one.fraction = -1.5F;
  one.list = {{}, {255, severity::error, "text"}};
  one.maps = {{"", {{-1, false}, {1, true}}}, {"a", {}}};
  one.tasks = {task_id{0}, task_id{7}};
  one.zero = 0;
  one.one = std::make_unique<small>();
  one.choice = std::vector<std::int64_t>{3, -3};
  one.shared = make_answer({{errc::aborted, "why"}, {}});
  one.again = one.shared;
  one.value = bytes{"abc"};
  one.same_value = one.value;
  return one;
}

BOOST_AUTO_TEST_SUITE(state_reader_test)

BOOST_AUTO_TEST_CASE(all_kinds_of_fields_are_read_as_they_were_written) {
  large const was = sample();
  auto const is = read<large>(written(was));

  BOOST_TEST(is.lowest == was.lowest);
  BOOST_TEST(is.highest == was.highest);
  BOOST_TEST((is.never == was.never && is.later == was.later && is.earlier == was.earlier));
  BOOST_TEST(is.fraction == was.fraction);
  BOOST_TEST((is.list == was.list && is.maps == was.maps && is.tasks == was.tasks));
  BOOST_TEST((is.zero == was.zero && !is.none && is.one && is.choice == was.choice));
  BOOST_TEST(is.shared->outcome.text() == "ABORTED: why");
  BOOST_TEST(is.value.view() == "abc");
  BOOST_TEST(written(is) == written(was));
}

BOOST_AUTO_TEST_CASE(shared_objects_stay_shared) {
  auto const is = read<large>(written(sample()));

  BOOST_TEST((is.shared == is.again));
  BOOST_TEST(is.value.identity() == is.same_value.identity());
}

BOOST_AUTO_TEST_CASE(the_same_times_after_another_start_are_written_alike) {
  large one;
  one.later = started + 5s;
  large other;
  other.later = started + 2h + 5s;

  BOOST_TEST(written(one) == written(other, started + 2h));
}

BOOST_AUTO_TEST_CASE(more_than_one_piece_has_the_digest_of_the_whole) {
  std::vector<small> many(1000, small{1, severity::error, std::string(1001, 'x')});

  BOOST_TEST((read<std::vector<small>>(written(many)) == many));  // `written` compares the digests
}

// The small struct is field 1: its group begins with byte 0x0b and ends with 0x0c.
BOOST_AUTO_TEST_CASE(what_the_writer_does_not_write_is_refused) {
  BOOST_TEST(fault("\x0b\x08\x05\x10\x02\x1a\x01x\x0c"s) == "");
  BOOST_TEST(fault("\x0b\x0c"s) == "");

  auto const expect = [](std::string const& bytes, std::string const& why) {
    std::string const found = fault(bytes);
    BOOST_TEST(found.ends_with(": " + why), found << " instead of " << why);
  };
  expect("\x0b\x20\x05\x0c"s, "field 4 is unknown here, or missing its end");
  expect("\x0b\x10\x02\x08\x05\x0c"s, "field 1 is unknown here, or missing its end");
  expect("\x0b\x08\x05\x08\x05\x0c"s, "field 1 is unknown here, or missing its end");
  expect("\x0b\x0c\x10\x02"s, "there is more behind its end");
  expect("\x0b\x08\x80\x02\x0c"s, "a number is out of range");
  expect("\x0b\x10\x03\x0c"s, "a number is out of range");
  expect("\x0b\x0a\x01x\x0c"s, "field 1 should be here");
  expect("\x0b\x1a\x7fx\x0c"s, "a text is cut off");
  expect("\x0b\x08"s, "it is cut off");
  expect("\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x0c"s, "a number is too large");
  expect("\x0b\x03\x0c"s, "a field has no number");
  expect("\x0b\x08\x05"s, "field 0 is unknown here, or missing its end");
  expect(""s, "field 1 should be here");
}

BOOST_AUTO_TEST_CASE(references_must_name_what_was_read_before_and_is_of_their_type) {
  using both = std::pair<answer_ptr, boost::local_shared_ptr<small const>>;

  auto const expect = [](std::string const& bytes, std::string const& why) {
    BOOST_TEST(fault<both>(bytes).ends_with(why), fault<both>(bytes));
  };
  expect("\x0b\x08\x01\x0c"s, "a reference to what is not there");
  expect("\x0b\x13\x08\x01\x14\x10\x01\x0c"s, "field 2 is unknown here, or missing its end");
  std::string const an_answer = "\x0b\x0b\x0c\x13\x13\x14\x14\x0c"s;
  BOOST_TEST(fault<both>("\x0b" + an_answer + "\x13\x14\x0c"s) == "");
  expect("\x0b" + an_answer + "\x10\x01\x0c"s, "a reference to what is not there");
  expect("\x0b\x10\x05\x0c"s, "a reference to what is not there");
}

BOOST_AUTO_TEST_CASE(lists_that_must_be_in_order_are) {
  using map = std::map<std::string, int>;
  BOOST_TEST(fault<map>("\x0b\x0a\x01"
                        "b\x0c\x0b\x0a\x01"
                        "a\x0c"s)
                 .ends_with("names are not in order"));
  using set = std::set<std::uint32_t>;
  BOOST_TEST(fault<set>("\x08\x02\x08\x02"s).ends_with("members of a set are not in order"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::core
