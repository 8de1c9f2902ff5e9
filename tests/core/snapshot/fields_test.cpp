// Every member of a struct is a field in a snapshot.

#include "coxswain/core/model/records.hpp"
#include "coxswain/core/option_rows.hpp"
#include "coxswain/core/snapshot/fields_of_sessions.hpp"

#include <boost/pfr/core.hpp>
#include <boost/pfr/tuple_size.hpp>
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <tuple>
#include <typeinfo>

namespace coxswain::core {
namespace {

struct field_counter {
  void members(auto const&... all) { count += sizeof...(all); }
  void check(bool, char const*) {}

  std::size_t count{};
};

template <class T>
void expect_all(std::size_t left_out = 0) {
  field_counter counter;
  T const one{};
  fields(counter, one);
  BOOST_TEST(counter.count + left_out == boost::pfr::tuple_size_v<T>,
             typeid(T).name() << " has " << boost::pfr::tuple_size_v<T> << " members and "
                              << counter.count << " fields");
}

template <class... All>
void expect_all_of() {
  (expect_all<All>(), ...);
}

// Each member is one of a row's, or contains it.
template <class T>
void expect_described() {
  T const one{};
  boost::pfr::for_each_field(one, [&one](auto const& member, std::size_t place) {
    auto const* const begin = reinterpret_cast<std::byte const*>(&member);
    bool is_described = false;
    each_member(one, [&](std::uint32_t, auto const& described) {
      auto const* const at = reinterpret_cast<std::byte const*>(&described);
      is_described |= at >= begin && at < begin + sizeof member;
    });
    BOOST_TEST(is_described, "member " << place << " of " << typeid(T).name());
  });
}

template <class... All>
void expect_all_described() {
  (expect_described<All>(), ...);
}

BOOST_AUTO_TEST_SUITE(fields_test)

BOOST_AUTO_TEST_CASE(every_member_is_a_field) {
  expect_all_of<wall_time, event, outgoing, ticket, alarms, liveness, due_item, parked, host, guest,
                grant, kept_reply, connection, session, claimant, progress, holder_probe,
                last_holder, task>();
  expect_all<answer>(1);  // its holders are counted when it is loaded
}

BOOST_AUTO_TEST_CASE(every_member_of_a_message_is_in_its_record) {
  expect_all_described<missing_task, barrier_failure, failure, job_error, task_progress,
                       barrier_progress, job_state, snapshot, snapshot::task, snapshot::barrier,
                       snapshot::finished_round, snapshot::straggler, snapshot::leadership,
                       snapshot::spare, snapshot::relay, snapshot::lease, snapshot::elastic_state,
                       alive_answer::task, alive_answer, tasks_answer, events_answer::entry,
                       events_answer, why_answer::wait, why_answer>();
  expect_all_described<hello_answer, resume_answer, join_answer, barrier_answer, value_answer,
                       counter_answer, removed_answer, listing_answer::entry, listing_answer,
                       stored_answer, count_answer, key_change, key_changes_answer, goodbye,
                       waiting, freeze_request, sync_point, epoch_answer,
                       epoch_members_answer::member, epoch_members_answer, epoch_ends, join_args>();
}

BOOST_AUTO_TEST_CASE(every_option_is_decisive_but_for_tokens_version_start_and_term) {
  BOOST_TEST(std::tuple_size_v<decltype(option_rows)> + 4 == boost::pfr::tuple_size_v<config>);

  config const one;
  BOOST_TEST(difference(one, one).empty());
  config other;
  other.page_bytes_max = 1;
  BOOST_TEST(difference(one, other) == "page_bytes_max");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::core
