#include "tests/c/fixture.hpp"
#include "tests/c/job.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <future>
#include <thread>

namespace coxswain::test {
namespace {

class client_fixture : protected c_fixture {
 protected:
  // The key's value, or the error.
  [[nodiscard]] static std::string read(coxswain_client* c, std::string_view key) {
    coxswain_bytes* value = nullptr;
    auto const outcome = outcome_text(coxswain_get(c, c_string(key), long_enough, &value));
    bytes_ptr const owner{value};
    return value ? text_of(coxswain_bytes_view(value)) : outcome;
  }

  // The result of connecting.
  [[nodiscard]] static std::string refusal(coxswain_client_options const& how) {
    coxswain_client* opened = nullptr;
    auto text = outcome_text(coxswain_client_connect(&how, &opened));
    BOOST_TEST(!client_ptr{opened});
    return text;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(client_test, client_fixture)

BOOST_AUTO_TEST_CASE(a_c_program_runs_as_a_task) {
  server::options alone;
  alone.core.num_tasks = 1;
  server::background_server small{alone};
  std::array<char, 32> greeting{};

  BOOST_TEST(outcome_text(live_in_c(small.addresses().front().c_str(), greeting.data(),
                                    greeting.size())) == "OK");

  BOOST_TEST(greeting.data() == "hello");
  small.wait_done();
}

BOOST_AUTO_TEST_CASE(a_member_of_an_elastic_job_asks_for_epochs) {
  server::options elastic;
  elastic.core.elastic = true;
  elastic.core.last_call = duration{};
  server::background_server small{elastic};
  auto how = options();
  how.address = c_string(small.addresses().front());
  how.any = true;
  how.member = c_string("b17/0");
  how.label = c_string("trainer");
  auto const c = connected(how);
  BOOST_TEST_REQUIRE(outcome_text(coxswain_join(c.get(), long_enough, nullptr)) == "OK");
  bool wanted = true;
  BOOST_TEST(outcome_text(coxswain_epoch_wanted(c.get(), &wanted)) == "OK");
  BOOST_TEST(!wanted);

  coxswain_epoch next{};
  BOOST_TEST(code(coxswain_next_epoch(c.get(), long_enough, &next)) == COXSWAIN_INVALID_ARGUMENT);
  next.struct_size = sizeof next;
  BOOST_TEST(outcome_text(coxswain_next_epoch(c.get(), long_enough, &next)) == "OK");

  BOOST_TEST(next.number == 2u);
  BOOST_TEST(next.size == 1u);
  BOOST_TEST(next.rank == 0u);
  BOOST_TEST(next.lost + next.joined == 0u);
  BOOST_TEST(text_of(next.address).find("127.0.0.1:") == 0u);

  coxswain_epoch_member_list* found = nullptr;
  std::uint64_t epoch = 0;
  BOOST_TEST_REQUIRE(outcome_text(coxswain_epoch_members(c.get(), &found, &epoch)) == "OK");
  members_ptr const members{found};
  BOOST_TEST(epoch == 2u);
  BOOST_TEST_REQUIRE(coxswain_epoch_member_list_size(found) == 1u);
  auto const& only = *coxswain_epoch_member_list_data(found);
  BOOST_TEST(text_of(only.name) == "b17/0");
  BOOST_TEST(text_of(only.label) == "trainer");
  BOOST_TEST(text_of(only.address).find("127.0.0.1:") == 0u);
  BOOST_TEST(only.incarnation == coxswain_client_incarnation(c.get()));
  BOOST_TEST(only.is_survivor);
  BOOST_TEST(coxswain_epoch_member_list_size(nullptr) == 0u);

  BOOST_TEST(outcome_text(coxswain_resize(c.get(), 1)) == "OK");
  BOOST_TEST(code(coxswain_resize(c.get(), 2)) == COXSWAIN_INVALID_ARGUMENT);

  BOOST_TEST(outcome_text(coxswain_leave(c.get(), long_enough)) == "OK");
  small.wait_done();
}

BOOST_AUTO_TEST_CASE(a_job_is_drained_and_stopped) {
  auto const c = joined(0);
  auto const late = connected(options(1));

  BOOST_TEST(outcome_text(coxswain_drain_job(c.get(), c_string("upgrade"))) == "OK");
  auto const refused = outcome_text(coxswain_join(late.get(), long_enough, nullptr));
  BOOST_TEST(refused.find("draining since") != refused.npos);
  BOOST_TEST(refused.find(": upgrade") != refused.npos);

  BOOST_TEST(outcome_text(coxswain_stop_job(c.get(), c_string(""))) == "OK");
  BOOST_TEST(code(coxswain_reset(late.get())) == COXSWAIN_UNAVAILABLE);
}

BOOST_AUTO_TEST_CASE(a_client_without_a_number_gets_one) {
  auto how = options();
  how.any = true;
  how.member = c_string("b17/0");
  how.placement = c_string("pod/b17");
  auto const c = connected(how);
  std::uint32_t task = 9;
  BOOST_TEST(!coxswain_client_task(c.get(), &task));
  auto const other = connected(options(1));
  auto const joins = std::async(std::launch::async, [&] {
    return outcome_text(coxswain_join(other.get(), long_enough, nullptr));
  });

  BOOST_TEST(outcome_text(coxswain_join(c.get(), COXSWAIN_TIMEOUT_DEFAULT_MS, nullptr)) == "OK");

  BOOST_TEST(coxswain_client_task(c.get(), &task));
  BOOST_TEST(task == 0u);
}

BOOST_AUTO_TEST_CASE(a_client_knows_its_task) {
  auto how = options(1);
  how.incarnation = 77;
  how.spin_us = 500;
  auto const c = connected(how);
  auto const observer = connected(options());
  std::uint32_t task = 9;

  BOOST_TEST(coxswain_client_task(c.get(), &task));
  BOOST_TEST(task == 1u);
  BOOST_TEST(coxswain_client_num_tasks(c.get()) == 2u);
  BOOST_TEST(coxswain_client_incarnation(c.get()) == 77u);
  BOOST_TEST(!coxswain_client_task(observer.get(), &task));
  BOOST_TEST(task == 1u);
}

BOOST_AUTO_TEST_CASE(a_waiting_call_is_logged_with_what_it_waits_for) {
  struct log {
    std::promise<std::string> first;
    bool is_reported{};
    coxswain_client* client{};
    std::string called{};
  } seen;
  auto how = options();
  how.log = [](std::int32_t severity, coxswain_string text, void* into) {
    auto& to = *static_cast<log*>(into);
    if (std::exchange(to.is_reported, true)) return;
    to.called = outcome_text(coxswain_put(to.client, c_string("k"), c_string("v"), false));
    to.first.set_value(std::to_string(severity) + " " + std::string{text.data, text.size});
  };
  how.log_user_data = &seen;
  auto const c = connected(how);
  seen.client = c.get();

  auto getting = std::async(std::launch::async, [&] { return read(c.get(), "k"); });

  auto const line = seen.first.get_future().get();
  BOOST_TEST(line.starts_with("1 waiting: get of key 'k' has waited for 2"));
  BOOST_TEST(line.ends_with(" s: key 'k' has no value"));
  BOOST_TEST(seen.called.starts_with("FAILED_PRECONDITION"));
  coxswain_client_close(c.get());
  getting.get();
}

BOOST_AUTO_TEST_CASE(a_task_that_left_to_return_is_disconnected) {
  auto how = options(0);
  how.recoverable = COXSWAIN_RECOVERABLE;
  auto const c = connected(how);
  auto strict = options(1);
  strict.recoverable = COXSWAIN_NOT_RECOVERABLE;
  auto const other = connected(strict);
  auto joining = std::async(std::launch::async, [&] {
    return outcome_text(coxswain_join(other.get(), long_enough, nullptr));
  });
  BOOST_TEST(outcome_text(coxswain_join(c.get(), -1, nullptr)) == "OK");
  BOOST_TEST(joining.get() == "OK");

  BOOST_TEST(outcome_text(coxswain_leave_to_return(other.get())).starts_with("INVALID_ARGUMENT"));
  BOOST_TEST(outcome_text(coxswain_leave_to_return(c.get())) == "OK");

  BOOST_TEST((coordinator.ask(&server::server::look).tasks.at(0).state == task_state::returning));
}

BOOST_AUTO_TEST_CASE(keys_and_locks_are_any_bytes_with_their_results) {
  auto const c = connected(options());
  auto const k = c_string("d/k");
  std::string const odd{"a\0b\xff", 4};
  coxswain_bytes* value = nullptr;
  bool was_there = false;
  std::uint64_t number = 0;

  BOOST_TEST(outcome_text(coxswain_try_get(c.get(), k, &value)) ==
             "NOT_FOUND: key 'd/k' has no value");
  BOOST_TEST(!value);
  BOOST_TEST(outcome_text(coxswain_put(c.get(), k, {nullptr, 0}, false)) == "OK");
  BOOST_TEST(read(c.get(), "d/k") == "");
  BOOST_TEST(code(coxswain_put(c.get(), k, c_string(odd), false)) == COXSWAIN_ALREADY_EXISTS);
  BOOST_TEST(outcome_text(coxswain_put(c.get(), k, c_string(odd), true)) == "OK");
  BOOST_TEST(outcome_text(coxswain_try_get(c.get(), k, &value)) == "OK");
  BOOST_TEST(text_of(coxswain_bytes_view(bytes_ptr{value}.get())) == odd);
  BOOST_TEST(outcome_text(coxswain_remove(c.get(), k, &was_there)) == "OK");
  BOOST_TEST(was_there);
  BOOST_TEST(outcome_text(coxswain_put(c.get(), k, c_string("v"), false)) == "OK");
  BOOST_TEST(outcome_text(coxswain_remove_tree(c.get(), c_string("d"), false, &number)) == "OK");
  BOOST_TEST(number == 1u);
  BOOST_TEST(outcome_text(coxswain_remove_tree(c.get(), c_string("/"), true, nullptr)) == "OK");
  BOOST_TEST(outcome_text(coxswain_remove(c.get(), k, nullptr)) == "OK");

  BOOST_TEST(outcome_text(coxswain_lock(c.get(), c_string("l"), long_enough, &number)) == "OK");
  BOOST_TEST(number == 1u);
  BOOST_TEST(outcome_text(coxswain_try_lock(c.get(), c_string("l"), &number)) ==
             "ALREADY_EXISTS: lock 'l' is held");
  BOOST_TEST(outcome_text(coxswain_unlock(c.get(), c_string("l"), 1)) == "OK");
}

BOOST_AUTO_TEST_CASE(a_barrier_returns_its_round_or_names_the_missing) {
  auto const zero = joined(0);
  std::uint32_t const alone[] = {0};
  std::uint64_t round = 0;

  BOOST_TEST(outcome_text(coxswain_barrier(zero.get(), c_string("b"), long_enough, alone, 1,
                                           &round)) == "OK");
  BOOST_TEST(round == 1u);

  auto const text =
      outcome_text(coxswain_barrier(zero.get(), c_string("all"), 0, nullptr, 0, &round));
  BOOST_TEST(text.starts_with("DEADLINE_EXCEEDED: Barrier timed out. Barrier 'all' round 1"));
  BOOST_TEST(text.find("1 (never connected)") != std::string::npos);
  BOOST_TEST(round == 1u);
}

BOOST_AUTO_TEST_CASE(alive_tasks_returns_the_tasks_that_called) {
  auto const zero = joined(0);
  auto const one = joined(1);
  auto const ask = [](coxswain_client* c) {
    coxswain_process_list* list = nullptr;
    coxswain_status_destroy(coxswain_alive_tasks(c, nullptr, 0, long_enough, &list));
    return list_ptr{list};
  };
  auto other = std::async(std::launch::async, ask, one.get());

  auto const list = ask(zero.get());

  BOOST_TEST(coxswain_process_list_size(other.get().get()) == 2u);
  BOOST_TEST_REQUIRE(coxswain_process_list_size(list.get()) == 2u);
  auto const& last = coxswain_process_list_data(list.get())[1];
  BOOST_TEST(last.task == 1u);
  BOOST_TEST(last.incarnation == coxswain_client_incarnation(one.get()));
}

BOOST_AUTO_TEST_CASE(an_ok_status_cannot_be_reported_as_an_error) {
  auto const zero = joined(0);

  BOOST_TEST(outcome_text(coxswain_report_error(zero.get(), COXSWAIN_OK, c_string("fine"))) ==
             "INVALID_ARGUMENT: the code of an error is 1 to 16, not 0");
  BOOST_TEST(code(coxswain_report_error(zero.get(), 17, c_string("?"))) ==
             COXSWAIN_INVALID_ARGUMENT);
  BOOST_TEST(outcome_text(
                 coxswain_report_error(zero.get(), COXSWAIN_DATA_LOSS, c_string("disk"))) == "OK");

  BOOST_TEST((coordinator.ask(&server::server::look).tasks.at(0).error ==
              status{errc::data_loss, "disk"}));
}

BOOST_AUTO_TEST_CASE(options_of_an_older_header_are_accepted) {
  auto how = options(1);
  how.struct_size = offsetof(coxswain_client_options, num_tasks);
  how.num_tasks = 99;  // beyond the fields of that header

  BOOST_TEST(connected(how).get());
}

BOOST_AUTO_TEST_CASE(options_of_a_newer_header_are_accepted_if_new_fields_are_unset) {
  struct {
    coxswain_client_options known;
    std::uint64_t added;
  } newer{options(), 0};
  newer.known.struct_size = sizeof newer;
  BOOST_TEST(connected(newer.known).get());

  newer.added = 1;

  BOOST_TEST(refusal(newer.known) ==
             "INVALID_ARGUMENT: the options say something that this library is too old for");
}

BOOST_AUTO_TEST_CASE(invalid_options_are_named) {
  auto unsized = options();
  unsized.struct_size = 0;
  BOOST_TEST(refusal(unsized) ==
             "INVALID_ARGUMENT: struct_size is 0; it is to be sizeof(coxswain_client_options)");

  auto undecided = options();
  undecided.recoverable = 3;
  BOOST_TEST(refusal(undecided) == "INVALID_ARGUMENT: recoverable is 0, 1 or 2, not 3");

  auto unreadable = options();
  unreadable.job = {nullptr, 4};
  BOOST_TEST(refusal(unreadable) == "INVALID_ARGUMENT: a string of 4 bytes is NULL");

  auto strange = options();
  strange.num_tasks = 3;
  BOOST_TEST(refusal(strange).starts_with("FAILED_PRECONDITION: "));

  auto nowhere = options();
  nowhere.address = c_string("unix:/nowhere/socket");
  nowhere.connect_timeout_ms = 30;
  BOOST_TEST(refusal(nowhere).starts_with("DEADLINE_EXCEEDED: "));
}

BOOST_AUTO_TEST_CASE(null_is_refused_for_required_arguments) {
  auto const c = connected(options());
  auto const how = options();

  BOOST_TEST(outcome_text(coxswain_join(nullptr, 0, nullptr)) ==
             "INVALID_ARGUMENT: the client is NULL");
  BOOST_TEST(outcome_text(coxswain_client_connect(&how, nullptr)) ==
             "INVALID_ARGUMENT: where the client goes is NULL");
  BOOST_TEST(outcome_text(coxswain_client_connect_and_join(&how, 0, nullptr)) ==
             "INVALID_ARGUMENT: where the client goes is NULL");
  BOOST_TEST(outcome_text(coxswain_get(c.get(), c_string("k"), 0, nullptr)) ==
             "INVALID_ARGUMENT: where the value goes is NULL");
  BOOST_TEST(outcome_text(coxswain_barrier(c.get(), c_string("b"), 0, nullptr, 1, nullptr)) ==
             "INVALID_ARGUMENT: the list of tasks is NULL");
}

BOOST_AUTO_TEST_CASE(null_is_accepted_for_optional_arguments) {
  BOOST_TEST(coxswain_status_code(nullptr) == COXSWAIN_OK);
  coxswain_status_destroy(nullptr);
  BOOST_TEST(coxswain_bytes_view(nullptr).size == 0u);
  coxswain_bytes_destroy(nullptr);
  BOOST_TEST(coxswain_process_list_size(nullptr) == 0u);
  BOOST_TEST(!coxswain_process_list_data(nullptr));
  coxswain_process_list_destroy(nullptr);
  coxswain_client_destroy(nullptr);
  BOOST_TEST(outcome_text(coxswain_monitor_stop(nullptr)) == "OK");
}

BOOST_AUTO_TEST_CASE(closing_ends_the_calls_of_other_threads) {
  auto const c = connected(options());
  auto waiting = std::async(std::launch::async, [&] {
    coxswain_bytes* value = nullptr;
    return code(coxswain_get(c.get(), c_string("k"), COXSWAIN_NO_TIMEOUT, &value));
  });
  while (coordinator.ask(&server::server::look).waiting_gets == 0) std::this_thread::yield();

  coxswain_client_close(c.get());

  BOOST_TEST(waiting.get() == COXSWAIN_CANCELLED);
  BOOST_TEST(code(coxswain_put(c.get(), c_string("k"), c_string("v"), false)) ==
             COXSWAIN_CANCELLED);
  coxswain_client_close(c.get());
}

BOOST_AUTO_TEST_CASE(a_forked_child_is_refused_and_does_no_harm) {
  auto c = connected(options());

  pid_t const child = ::fork();
  if (child == 0) {
    int const refused = code(coxswain_put(c.get(), c_string("k"), c_string("v"), false));
    c.reset();
    ::_exit(refused);
  }
  int how = -1;
  BOOST_REQUIRE(::waitpid(child, &how, 0) == child);

  BOOST_TEST(WIFEXITED(how));
  BOOST_TEST(WEXITSTATUS(how) == COXSWAIN_FAILED_PRECONDITION);
  BOOST_TEST(outcome_text(coxswain_put(c.get(), c_string("k"), c_string("v"), false)) == "OK");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
