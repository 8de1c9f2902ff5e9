// The server over real sockets, with peers that know the protocol and some that do not.

#include "coxswain/base/error.hpp"
#include "tests/server/harness.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/resource.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace coxswain::server {
namespace {

BOOST_AUTO_TEST_SUITE(server_test)

BOOST_FIXTURE_TEST_CASE(two_tasks_meet_at_a_barrier_over_every_socket_type, harness) {
  o.listen = {"127.0.0.1:0", "[::1]:0", unix_path("kinds")};
  serve();
  for (std::size_t kind = 0; kind < o.listen.size(); ++kind) {
    harness one;
    one.o.listen = {o.listen[kind]};
    if (kind == 2) one.o.listen = {unix_path("meet")};
    auto a = one.greeted();
    auto b = one.greeted();
    join(a, b);

    a.send(barrier_frame(2, 0, "ckpt"));
    b.send(barrier_frame(2, 1, "ckpt"));
    for (auto* const client : {&a, &b}) {
      auto const reply = client->next();
      BOOST_TEST(reply.id.value == 2u);
      BOOST_TEST(std::get<core::barrier_answer>(reply.what.value).round.value == 1u);
    }
  }
  BOOST_TEST(made->addresses().size() == 3u);
  BOOST_TEST(made->addresses()[2] == unix_path("kinds"));
}

BOOST_FIXTURE_TEST_CASE(inputs_that_nothing_follows_from_share_a_batch_of_the_journal, harness) {
  std::string directory = "/tmp/coxswain-server-XXXXXX";
  BOOST_TEST_REQUIRE(::mkdtemp(directory.data()) != nullptr);
  o.journal.directory = directory;
  auto client = greeted();
  auto const batches = [&] { return made->statistics().journal->batches; };
  auto const before = batches();

  client.send(frame(core::get_args{"nothing", 1h}, 1));
  until([&] { return made->look().waiting_gets == 1; });
  BOOST_TEST(batches() == before);

  client.send(frame(core::get_args{"more", 1h}, 2));
  until([&] { return made->look().waiting_gets == 2; });
  until([&] { return batches() == before + 1; });
  made.reset();
  std::filesystem::remove_all(directory);
}

BOOST_FIXTURE_TEST_CASE(deadlines_are_exact_to_the_millisecond, harness) {
  auto client = greeted();
  auto const before = std::chrono::steady_clock::now();
  BOOST_TEST(client.ask(frame(core::get_args{"nothing", 20ms}, 1)).what.outcome.code() ==
             errc::deadline_exceeded);

  BOOST_TEST((std::chrono::steady_clock::now() - before >= 20ms));
  BOOST_TEST(made->look().deadlines_answered == 1u);
}

// A message of another client keeps the iteration busy before this one is read in the same
// iteration.
BOOST_FIXTURE_TEST_CASE(a_call_in_a_long_iteration_does_not_expire_early, harness) {
  std::optional<raw_client> client;
  std::chrono::steady_clock::time_point sent;
  bool is_busy = false;
  o.record = [&](std::string_view written) {
    if (!contains(written, "kept busy") || std::exchange(is_busy, true)) return;
    auto const begun = std::chrono::steady_clock::now();
    while (sent < begun + 50ms) sent = std::chrono::steady_clock::now();
    client->send(frame(core::get_args{"nothing", 60ms}, 2));
  };
  auto busy = greeted();
  client.emplace(greeted());
  busy.send(put_frame(1, "kept busy", "x"));
  BOOST_TEST(client->ask(frame(core::try_get_args{"nothing"}, 1)).what.outcome.code() ==
             errc::not_found);
  BOOST_TEST(client->next().what.outcome.code() == errc::deadline_exceeded);

  BOOST_TEST((std::chrono::steady_clock::now() - sent >= 60ms));
}

BOOST_FIXTURE_TEST_CASE(an_http_request_gets_an_http_reply, harness) {
  auto client = connect();

  client.send(std::string{"GET / HTTP/1.1\r\n\r\n"});

  std::string answer;
  until([&] {
    char buffer[4096];
    auto const got = ::recv(client.socket(), buffer, sizeof(buffer), 0);
    if (got > 0) answer.append(buffer, static_cast<std::size_t>(got));
    return got == 0;
  });
  BOOST_TEST(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"));
  BOOST_TEST(contains(answer, "\r\n\r\nThis is the port of a Coxswain coordinator"));
  BOOST_TEST(contains(answer, "--http"));
  auto const length = answer.substr(answer.find("Content-Length: ") + 16);
  BOOST_TEST(std::stoul(length) == answer.size() - answer.find("\r\n\r\n") - 4);
  BOOST_TEST(logged("The peer speaks HTTP"));
}

BOOST_AUTO_TEST_CASE(a_close_within_a_frame_makes_the_task_suspect) {
  harness h{1};
  h.o.core.reconnect_grace = 1h;
  auto client = h.greeted();
  BOOST_TEST(client.ask(join_frame(1, 0)).what.outcome.ok());

  client.send(put_frame(2, "k", "v").substr(0, 7));
  client.close();

  h.until([&] { return h.made->look().tasks.at(0).suspect; });
  BOOST_TEST(h.made->look().keys == 0u);
}

BOOST_AUTO_TEST_CASE(a_reset_makes_the_task_suspect) {
  harness h{1};
  h.o.core.reconnect_grace = 1h;
  auto client = h.greeted();
  BOOST_TEST(client.ask(join_frame(1, 0)).what.outcome.ok());

  linger const at_once{1, 0};
  ::setsockopt(client.socket(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  client.close();

  h.until([&] { return h.made->look().tasks.at(0).suspect; });
}

BOOST_AUTO_TEST_CASE(large_values_reach_slow_readers_without_delaying_others) {
  for (auto const& address : {std::string{"127.0.0.1:0"}, unix_path("slow")}) {
    harness h;
    h.o.listen = {address};
    h.o.queued_bytes_max = 10'000'000;
    auto slow = h.greeted();
    auto quick = h.greeted();
    std::string value(6'000'000, ' ');
    for (std::size_t i = 0; i < value.size(); ++i) value[i] = static_cast<char>(i * i >> 3);
    BOOST_TEST(quick.ask(put_frame(1, "big", value)).what.outcome.ok());

    std::string wanted;
    for (std::uint64_t id = 1; id <= 5; ++id) wanted += try_get_frame(id, "big");
    slow.send(wanted);
    BOOST_TEST(quick.ask(try_get_frame(2, "small")).what.outcome.code() == errc::not_found);
    for (std::uint64_t id = 1; id <= 5; ++id) {
      h.until([&] { return slow.has_message() || (slow.read(100'000), slow.has_message()); });
      auto const got = slow.next();
      BOOST_TEST(got.id.value == id);
      BOOST_TEST((std::get<core::value_answer>(got.what.value).value.view() == value));
    }
  }
}

BOOST_FIXTURE_TEST_CASE(a_client_above_the_connection_limit_gets_a_retryable_refusal, harness) {
  o.connections_max = 2;
  auto first = greeted();
  auto second = greeted();

  for (int i = 0; i < 3; ++i) {
    auto third = connect();
    auto const goodbye = third.goodbye();
    BOOST_TEST(goodbye.why.code() == errc::resource_exhausted);
    BOOST_TEST(contains(goodbye.why.message(), "2 connections"));
    BOOST_TEST(goodbye.may_resume);
    third.expect_end();
  }
  BOOST_TEST(count("connections_max; raise the limit of open files (ulimit -n)") == 1);

  first.close();
  std::optional<raw_client> late;
  until([&] {
    late.emplace(connect());
    late->send(hello_frame());
    return std::holds_alternative<boxed<core::hello_answer>>(late->next().what.value);
  });
}

BOOST_FIXTURE_TEST_CASE(without_descriptors_only_new_connections_wait, harness) {
  auto first = greeted();
  auto second = connect();
  second.send(hello_frame());
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  rlimit none = before;
  none.rlim_cur = 3;
  ::setrlimit(RLIMIT_NOFILE, &none);
  until([&] { return logged("connections cannot be accepted for now"); });
  BOOST_TEST(first.ask(put_frame(1, "k", "v")).what.outcome.ok());

  ::setrlimit(RLIMIT_NOFILE, &before);

  BOOST_TEST(std::holds_alternative<boxed<core::hello_answer>>(second.next().what.value));
  BOOST_TEST(count("connections cannot be accepted for now") == 1);
}

BOOST_FIXTURE_TEST_CASE(a_stop_sends_goodbye_and_ends_when_all_have_read_it, harness) {
  o.linger = 1h;
  auto a = greeted();
  auto b = connect();
  until([&] { return made->look().sessions == 1; });
  a.send(frame(core::get_args{"k", 1h}, 1));
  b.send(hello_frame().substr(0, 3));
  until([&] { return made->look().waiting_gets == 1; });

  made->stop("maintenance");
  made->stop("again");

  BOOST_TEST(a.next().what.outcome.code() == errc::cancelled);
  BOOST_TEST(contains(a.goodbye().why.message(), "maintenance"));
  BOOST_TEST(contains(b.goodbye().why.message(), "maintenance"));
  a.expect_end();
  b.expect_end();
  a.close();
  BOOST_TEST(!run_ended);
  b.close();
  until([&] { return run_ended && job_done; });
  io.restart();
  io.run();  // nothing is left to do
}

BOOST_FIXTURE_TEST_CASE(a_stop_does_not_wait_for_peers_that_do_not_read, harness) {
  o.linger = 5ms;
  auto client = greeted();
  made->stop("maintenance");

  until([&] { return run_ended; });

  BOOST_TEST(contains(client.goodbye().why.message(), "maintenance"));
}

BOOST_FIXTURE_TEST_CASE(a_stopped_server_stops_listening, harness) {
  o.listen = {unix_path("stopped")};
  auto client = greeted();

  made->stop("enough");

  BOOST_TEST(::access(unix_path("stopped").c_str() + 5, F_OK) != 0);
  client.goodbye();
}

BOOST_FIXTURE_TEST_CASE(a_stop_before_run_ends_run_at_once, harness) {
  made.emplace(io, o);
  made->stop("never mind");
  co_spawn(io, made->run(), [&](std::exception_ptr e) { run_ended = !e; });

  io.run();

  BOOST_TEST(run_ended);
}

BOOST_AUTO_TEST_CASE(the_job_is_done_when_all_leave_replies_are_acknowledged) {
  harness h{1};
  h.o.linger = 1h;
  auto client = h.greeted();
  BOOST_TEST(client.ask(join_frame(1, 0)).what.outcome.ok());
  BOOST_TEST(client.ask(frame(core::leave_args{}, 2, task_id{0}, 1)).what.outcome.ok());
  BOOST_TEST(!h.job_done);

  client.send(frame(core::bye_args{}, 0, std::nullopt, 2));

  h.until([&] { return h.job_done; });
  BOOST_TEST(!h.run_ended);
}

BOOST_AUTO_TEST_CASE(the_job_is_done_soon_after_an_unacknowledged_leave) {
  harness h{1};
  h.o.linger = 5ms;
  auto client = h.greeted();
  BOOST_TEST(client.ask(join_frame(1, 0)).what.outcome.ok());
  BOOST_TEST(client.ask(frame(core::leave_args{}, 2, task_id{0}, 1)).what.outcome.ok());

  h.until([&] { return h.job_done; });
}

BOOST_AUTO_TEST_CASE(invalid_options_are_refused) {
  auto const refusal = [](auto change) {
    asio::io_context io{1};
    options o;
    change(o);
    try {
      server const made{io, o};
      return status{};
    } catch (error const& e) {
      return e.outcome();
    }
  };

  BOOST_TEST(refusal([](options& o) { o.listen = {}; }).code() == errc::invalid_argument);
  BOOST_TEST(refusal([](options& o) { o.listen = {"8476"}; }).code() == errc::invalid_argument);
  BOOST_TEST(refusal([](options& o) { o.core.num_tasks = 0; }).code() == errc::invalid_argument);
  BOOST_TEST(refusal([](options& o) { o.listen = {":0"}; }).code() == errc::failed_precondition);
  BOOST_TEST(refusal([](options& o) {
               o.listen = {":0"};
               o.insecure = true;
             }).ok());
  BOOST_TEST(refusal([](options& o) { o.core.heartbeat_timeout = 0s; }).message() ==
             "heartbeat_timeout must be above zero.");
  BOOST_TEST(refusal([](options& o) { o.core.preemption_timeout = -1h; }).message() ==
             "preemption_timeout must be above zero.");
  BOOST_TEST(refusal([](options& o) {
               o.core.reconnect_grace = std::chrono::hours::max();
             }).message() == "reconnect_grace is above 30 days.");
  BOOST_TEST(refusal([](options& o) {
               o.core.reconnect_grace = -1ns;
               o.core.return_timeout = o.core.hello_timeout = std::chrono::hours::max();
               o.core.stalled_reader_timeout = o.linger = std::chrono::hours::max();
             }).ok());
  BOOST_TEST(refusal([](options& o) { o.journal.restart_grace = 1s; }).ok());
  BOOST_TEST(refusal([](options& o) { o.journal.restart_grace = 999ms; }).message() ==
             "journal.restart_grace must be at least 1s: clients suspect a silent connection after "
             "a third of it, and must resume in the rest.");
  BOOST_TEST(refusal([](options& o) { o.core.memory_bytes_max = 0; }).code() ==
             errc::invalid_argument);
  BOOST_TEST(refusal([](options& o) { o.core.key_bytes_max = 0; }).code() ==
             errc::invalid_argument);
  BOOST_TEST(refusal([](options& o) {
               o.core.credentials = {{core::role::reader, "poppy"}, {core::role::worker, "poppy"}};
             }).message() == "The same token is given twice.");
  BOOST_TEST(refusal([](options& o) {
               o.core.credentials = {{core::role::reader, ""}};
             }).message() == "A token is empty.");
  auto const large = refusal([](options& o) { o.core.value_bytes_max = std::size_t{1} << 31; });
  BOOST_TEST(large.code() == errc::invalid_argument);
  BOOST_TEST(contains(large.message(), "value_bytes_max is 2147483648"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::server
