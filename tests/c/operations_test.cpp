// One call of each operation: its arguments reach the coordinator, and its result comes back.

#include "coxswain/core/model/operations.hpp"
#include "coxswain/client/option_rows.hpp"
#include "tests/c/fixture.hpp"

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

namespace coxswain::test {
namespace {

using keys_ptr = std::unique_ptr<coxswain_key_list, destroyed_by<coxswain_key_list_destroy>>;
using strings_ptr =
    std::unique_ptr<coxswain_string_list, destroyed_by<coxswain_string_list_destroy>>;
using waits_ptr = std::unique_ptr<coxswain_wait_list, destroyed_by<coxswain_wait_list_destroy>>;
using watch_ptr = std::unique_ptr<coxswain_key_watch, destroyed_by<coxswain_key_watch_destroy>>;

std::string text(coxswain_bytes* value) {
  return text_of(coxswain_bytes_view(bytes_ptr{value}.get()));
}
std::string text(bool yes) { return yes ? "yes" : "no"; }
std::string text(std::int64_t number) { return std::to_string(number); }
std::string text(std::uint64_t number) { return std::to_string(number); }

std::string text(coxswain_key_list* list) {
  keys_ptr const all{list};
  std::string made;
  for (std::size_t i = 0; i < coxswain_key_list_size(list); ++i) {
    auto const& one = coxswain_key_list_data(list)[i];
    made += one.is_removed ? "-" : "";
    made += text_of(one.key) + "=" + text_of(one.value) + " ";
  }
  return made;
}

std::string text(coxswain_string_list* list) {
  strings_ptr const all{list};
  std::string made;
  for (std::size_t i = 0; i < coxswain_string_list_size(list); ++i) {
    made += text_of(coxswain_string_list_data(list)[i]) + " ";
  }
  return made;
}

std::string text(coxswain_wait_list* list) {
  waits_ptr const all{list};
  return std::to_string(coxswain_wait_list_size(list)) + " waits" +
         text_of(coxswain_wait_list_deadlock(list));
}

// The result of a call, which is its last argument; or why there is none.
template <class Result, class Call, class... Arguments>
std::string result(Call call, Arguments... arguments) {
  Result into{};
  auto const outcome = outcome_text(call(arguments..., &into));
  return outcome == "OK" ? text(into) : outcome;
}

struct row {
  std::string_view operation;
  std::string (*call)(coxswain_client*);
  std::string_view expected;
};

std::uint32_t const self[] = {0};

std::string compare_and_set(coxswain_client* c) {
  coxswain_expectation const absent{};
  coxswain_expectation const one{COXSWAIN_EXPECT_VALUE, 0, c_string("1")};
  std::string made;
  for (auto const* const expected : {&absent, &one, &absent}) {
    bool stored{};
    std::uint64_t version{};
    coxswain_bytes* found{};
    auto const value = c_string(expected == &absent ? "1" : "2");
    made += outcome_text(coxswain_compare_and_set(c, c_string("swap"), value, expected, false,
                                                  &stored, &version, &found));
    made += " " + text(stored) + " " + text(found) + (version > 0 ? ", " : " without a version ");
  }
  return made;
}

std::string put_all(coxswain_client* c) {
  coxswain_key_value const entries[] = {{c_string("all/a"), c_string("1"), 0, false},
                                        {c_string("all/b"), c_string("2"), 0, false}};
  std::uint64_t version{};
  auto made = outcome_text(coxswain_put_all(c, entries, 2, false, &version)) + " ";
  coxswain_string const keys[] = {c_string("all/b"), c_string("all/a")};
  coxswain_key_list* values{};
  made += outcome_text(coxswain_get_all(c, keys, 2, long_enough, &values));
  made += " " + text(values);
  return made + (version > 0 ? "" : "without a version");
}

std::string watch(coxswain_client* c) {
  coxswain_key_watch* begun{};
  BOOST_TEST_REQUIRE(outcome_text(coxswain_watch(c, c_string("seen"), nullptr, &begun)) == "OK");
  watch_ptr const watch{begun};
  std::string made;
  for (bool const removes : {false, true}) {
    coxswain_status_destroy(removes ? coxswain_remove(c, c_string("seen/a"), nullptr)
                                    : coxswain_put(c, c_string("seen/a"), c_string("1"), false));
    coxswain_key_list* changes{};
    made += outcome_text(coxswain_key_watch_next(begun, long_enough, &changes));
    made += " " + text(changes);
  }
  coxswain_key_list* none{};
  made += outcome_text(coxswain_key_watch_next(begun, 0, &none));
  made += text(none) + " ";
  coxswain_key_list* all{};
  made += outcome_text(coxswain_key_watch_list(begun, &all));
  made += text(all);
  return made + (coxswain_key_watch_version(begun) > 0 ? "" : " without a version");
}

std::string preempt(coxswain_client* c) {
  auto const announced = outcome_text(coxswain_preempt(c, long_enough, self));
  bool stops{};
  for (std::uint64_t step = 7; !stops && step < 100'000; ++step) {
    BOOST_TEST(outcome_text(coxswain_reached_sync_point(c, step, &stops)) == "OK");
  }
  return announced + " " + text(stops);
}

std::vector<row> const rows{
    {"increment",
     [](coxswain_client* c) {
       return result<std::int64_t>(coxswain_increment, c, c_string("n"), std::int64_t{-5});
     },
     "-5"},
    {"append",
     [](coxswain_client* c) {
       coxswain_status_destroy(coxswain_append(c, c_string("text"), c_string("a"), nullptr));
       coxswain_status_destroy(coxswain_append(c, c_string("text"), c_string("b"), nullptr));
       return result<coxswain_bytes*>(coxswain_try_get, c, c_string("text"));
     },
     "ab"},
    {"compare_and_set", compare_and_set, "OK yes , OK yes , OK no 2, "},
    {"put_all", put_all, "OK OK all/b=2 all/a=1 "},
    {"get_all",
     [](coxswain_client* c) { return outcome_text(coxswain_get_all(c, nullptr, 1, 0, nullptr)); },
     "INVALID_ARGUMENT: where the list goes is NULL"},
    {"list",
     [](coxswain_client* c) {
       return result<coxswain_key_list*>(coxswain_list, c, c_string("all"));
     },
     "all/a=1 all/b=2 "},
    {"count_keys",
     [](coxswain_client* c) { return result<std::uint64_t>(coxswain_count, c, c_string("all")); },
     "2"},
    {"watch_keys", watch, "OK seen/a=1 OK -seen/a= OK OK"},
    {"push",
     [](coxswain_client* c) {
       return result<std::uint64_t>(coxswain_push, c, c_string("q"), c_string("item"));
     },
     "1"},
    {"queue_length",
     [](coxswain_client* c) {
       return result<std::uint64_t>(coxswain_queue_length, c, c_string("q"));
     },
     "1"},
    {"pop",
     [](coxswain_client* c) {
       return result<coxswain_bytes*>(coxswain_pop, c, c_string("q"), long_enough);
     },
     "item"},
    {"count_barrier",
     [](coxswain_client* c) {
       return result<std::uint64_t>(coxswain_count_barrier, c, c_string("b"), 1u, long_enough);
     },
     "1"},
    {"barrier",
     [](coxswain_client* c) {
       return result<coxswain_string_list*>(coxswain_all_gather, c, c_string("b"), c_string("mine"),
                                            long_enough, +self, std::size_t{1});
     },
     "mine "},
    {"cancel_barrier",
     [](coxswain_client* c) {
       return std::to_string(code(coxswain_cancel_barrier(c, c_string("b"), 0)));
     },
     "9"},
    {"reset", [](coxswain_client* c) { return std::to_string(code(coxswain_reset(c))); }, "9"},
    {"report_progress",
     [](coxswain_client* c) { return outcome_text(coxswain_report_progress(c, 7)); }, "OK"},
    {"why", [](coxswain_client* c) { return result<coxswain_wait_list*>(coxswain_why, c); },
     "0 waits"},
    {"preempt", preempt, "OK yes"},
};

// Those of other tests, and the parts of others: a monitor watches tasks, a sync point is frozen.
std::set<std::string_view> const elsewhere{
    "join",        "leave",       "report_error", "put",           "get",
    "try_get",     "remove",      "alive",        "take",          "lock",
    "try_lock",    "unlock",      "update_lease", "resize",        "frozen",
    "remove_tree", "watch_tasks", "next_epoch",   "epoch_members", "end_job"};

// The C API has none.
std::set<std::string_view> const missing{"inspect", "watch_events", "exchange_topology",
                                         "grant",   "stacks",       "report_stack"};

template <class... Args>
void expect_all(std::type_identity<std::variant<Args...>>) {
  std::set<std::string_view> known{elsewhere};
  known.insert(missing.begin(), missing.end());
  for (auto const& row : rows) known.insert(row.operation);
  auto const expect = [&]<class One>(std::type_identity<One>) {
    if (!core::is_numbered<One>) return;
    auto const name = core::row_of(core::request{One{}}).name;
    BOOST_TEST(known.contains(name), name << " has no C function");
  };
  (expect(std::type_identity<Args>{}), ...);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(operations_test, c_fixture)

BOOST_AUTO_TEST_CASE(each_operation_takes_its_arguments_and_gives_its_result) {
  auto const c = joined(0);
  for (auto const& row : rows) {
    BOOST_TEST_CONTEXT(row.operation) BOOST_TEST(row.call(c.get()) == row.expected);
  }
}

BOOST_AUTO_TEST_CASE(each_operation_of_the_core_is_known_here) {
  expect_all(std::type_identity<core::request>{});
}

BOOST_AUTO_TEST_CASE(each_option_of_a_client_is_a_field) {
  std::ifstream in{COXSWAIN_C_HEADER};
  std::string const header{std::istreambuf_iterator{in}, {}};
  each_client_option([&](auto const& row, auto) {
    std::regex const field{" " + std::string{row.name} + "(_ms|_us)?;"};
    BOOST_TEST(std::regex_search(header, field), row.name);
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
