#include "tests/client/fake_coordinator.hpp"

#include "tests/client/agent_lab.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/test/unit_test.hpp>

#include <exception>
#include <utility>

namespace coxswain::test {

using namespace asio::experimental::awaitable_operators;

void run(asio::io_context& io, asio::awaitable<void> test) {
  bool done = false;
  std::exception_ptr failure;
  asio::co_spawn(io, std::move(test), [&](std::exception_ptr e) {
    done = true;
    failure = e;
  });
  auto const end = std::chrono::steady_clock::now() + 60s;
  while (!done && std::chrono::steady_clock::now() < end && io.run_one_until(end) != 0) {
  }
  if (failure) std::rethrow_exception(failure);
  BOOST_TEST_REQUIRE(done, "the test did not end");
}

asio::awaitable<void> next_iteration() {
  for (int i = 0; i < 3; ++i) {
    auto executor = co_await asio::this_coro::executor;
    co_await asio::post(executor, asio::use_awaitable);
  }
}

fake_coordinator::fake_coordinator(asio::io_context& io)
    : acceptor_{io, asio::ip::tcp::endpoint{asio::ip::make_address("127.0.0.1"), 0}},
      peer_{io},
      at_{acceptor_.local_endpoint()} {}

std::string fake_coordinator::address() const { return "127.0.0.1:" + std::to_string(at_.port()); }

client_options fake_coordinator::options() const { return client_options{address(), task_id{1}}; }

asio::awaitable<void> fake_coordinator::accept() {
  peer_ = co_await acceptor_.async_accept(asio::use_awaitable);
  decoder_ = std::make_unique<wire::frame_decoder>(wire::message_bytes_max);
}

asio::awaitable<void> fake_coordinator::welcome() {
  co_await accept();
  std::string const hello = co_await read();
  BOOST_TEST(hello == "hello");
  core::answer answer;
  answer.value = hello_answer();
  co_await say(std::move(answer));
}

asio::awaitable<client> fake_coordinator::welcome(client_options with) {
  auto connected = co_await (client::connect(std::move(with)) && welcome());
  co_return std::move(connected);
}

asio::awaitable<std::string> fake_coordinator::read() {
  for (;;) {
    auto const payload = decoder_->next().value();
    if (payload) {
      message_ = wire::decode_client(*payload).value();
      if (std::holds_alternative<std::monostate>(message_.what)) continue;
      co_return text_of(message_);
    }
    buffer_.resize(64 * 1024);
    boost::system::error_code failure;
    auto const bytes = co_await peer_.async_read_some(
        asio::buffer(buffer_), asio::redirect_error(asio::use_awaitable, failure));
    if (failure) co_return "end";
    decoder_->feed(std::string_view{buffer_}.substr(0, bytes));
  }
}

asio::awaitable<void> fake_coordinator::reply_ok(std::uint64_t id) {
  core::answer ok;
  return reply(id, std::move(ok));
}

asio::awaitable<void> fake_coordinator::say_together(std::vector<wire::server_message> all) {
  std::string bytes;
  for (auto const& one : all) bytes += frame(one.id, one.what);
  co_await asio::async_write(peer_, asio::buffer(bytes), asio::use_awaitable);
}

asio::awaitable<void> fake_coordinator::reply(std::uint64_t id, core::answer what) {
  std::string const bytes = frame(request_id{id}, what);
  co_await asio::async_write(peer_, asio::buffer(bytes), asio::use_awaitable);
}

}  // namespace coxswain::test
