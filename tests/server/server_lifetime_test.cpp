// The server and its io_context end in any order, in any state.

#include "coxswain/server/server.hpp"

#include "tests/server/raw_client.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <optional>

namespace coxswain::server {
namespace {

// A server with a connection in every state: silent, greeted, half a frame, blocked, refused.
struct busy {
  busy() {
    o.core.num_tasks = 3;
    o.log = [this](core::event const& e) {
      if (on_event) on_event(e);
    };
    made = std::make_unique<server>(*io, o);
    co_spawn(*io, made->run(), [this](std::exception_ptr) { run_ended = true; });
    co_spawn(*io, made->job_done(), [this](std::exception_ptr) { job_done = true; });
    for (int i = 0; i < 5; ++i) clients.push_back(std::make_unique<raw_client>(*io, address()));
    clients[1]->greet();
    clients[1]->send(join_frame(1, 0) + frame(core::get_args{"k", 1h}, 2));
    clients[2]->greet();
    clients[2]->send(put_frame(1, "big", std::string(20'000'000, 'v')));
    clients[2]->next();
    clients[2]->send(hello_frame().substr(0, 3));
    clients[3]->greet();
    clients[3]->send(try_get_frame(1, "big"));
    clients[4]->send("no protocol at all");
    clients[4]->goodbye();
    run_until(*io, [&] { return made->look().waiting_gets == 1; });
    for (auto const& client : clients) client->send_lazily(frame(std::monostate{}));
  }

  [[nodiscard]] std::string address() const { return made->addresses().front(); }

  options o;
  std::optional<asio::io_context> io{std::in_place, 1};
  std::function<void(core::event const&)> on_event;
  std::unique_ptr<server> made;
  std::vector<std::unique_ptr<raw_client>> clients;
  bool run_ended{};
  bool job_done{};
};

BOOST_AUTO_TEST_SUITE(server_lifetime_test)

BOOST_FIXTURE_TEST_CASE(the_server_can_be_destroyed_while_serving, busy) {
  made.reset();

  io->restart();
  io->run();  // everything that waited continues and ends
  BOOST_TEST(run_ended);
  BOOST_TEST(job_done);
  for (auto const& client : clients) client->expect_reset_or_end();
}

BOOST_FIXTURE_TEST_CASE(the_io_context_can_be_destroyed_first, busy) {
  clients.clear();
  io.reset();

  BOOST_TEST(!run_ended);
  BOOST_TEST(made->look().waiting_gets == 1u);
  BOOST_TEST((made->put_in(core::process_ended{task_id{0}, {errc::internal, "x"}}).ok()));
  made->stop("too late");
  made.reset();
}

BOOST_FIXTURE_TEST_CASE(the_io_context_is_stopped_and_destroyed_after_the_server, busy) {
  io->stop();
  made.reset();
  clients.clear();
  io.reset();

  BOOST_TEST(!run_ended);
}

BOOST_FIXTURE_TEST_CASE(the_server_can_be_destroyed_while_stopping, busy) {
  made->stop("enough");
  io->restart();
  io->poll();
  made.reset();

  io->restart();
  io->run();
  BOOST_TEST(run_ended);
}

BOOST_FIXTURE_TEST_CASE(the_log_callback_can_destroy_the_server, busy) {
  on_event = [&](core::event const&) { made.reset(); };
  BOOST_TEST((made->put_in(core::process_ended{task_id{0}, {errc::internal, "x"}}).ok()));

  run_until(*io, [&] { return !made; });

  io->restart();
  io->run();
  BOOST_TEST(run_ended);
  BOOST_TEST(job_done);
}

BOOST_FIXTURE_TEST_CASE(the_log_callback_can_stop_the_server, busy) {
  on_event = [&](core::event const&) {
    on_event = nullptr;
    made->stop("the log says so");
  };
  BOOST_TEST((made->put_in(core::process_ended{task_id{0}, {errc::internal, "x"}}).ok()));
  clients.clear();

  run_until(*io, [&] { return run_ended && job_done; });
}

BOOST_AUTO_TEST_CASE(a_server_can_be_destroyed_without_running) {
  asio::io_context io{1};
  std::optional<server> made{std::in_place, io, options{}};
  auto run = made->run();
  auto done = made->job_done();
  made.reset();
  bool ended = false;
  co_spawn(io, std::move(run), [&](std::exception_ptr) { ended = true; });
  co_spawn(io, std::move(done), asio::detached);

  io.run();

  BOOST_TEST(ended);
}

BOOST_AUTO_TEST_CASE(waiting_can_be_cancelled) {
  asio::io_context io{1};
  server made{io, options{}};
  asio::cancellation_signal cancel;
  std::exception_ptr outcome;
  co_spawn(io, made.job_done(),
           asio::bind_cancellation_slot(cancel.slot(), [&](std::exception_ptr e) { outcome = e; }));
  io.poll();
  cancel.emit(asio::cancellation_type::terminal);
  io.restart();
  io.run();

  BOOST_TEST_REQUIRE((outcome != nullptr));
  BOOST_CHECK_THROW(std::rethrow_exception(outcome), boost::system::system_error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::server
