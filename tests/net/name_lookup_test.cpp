// With a resolver that never returns for names below endless.invalid (endless_names.cpp).

#include "coxswain/net/name_lookup.hpp"

#include "coxswain/base/error.hpp"

#include <boost/test/unit_test.hpp>

#include <set>
#include <string>

namespace coxswain::net {
namespace {

using addresses = result<std::vector<socket_address>>;

struct context {
  asio::io_context io{1};

  // Starts a lookup; its result is there once the context has run.
  std::shared_ptr<name_lookup> start(std::string_view of, std::optional<addresses>& found) {
    auto const begun = std::make_shared<name_lookup>(endpoint::parse(of).value());
    asio::co_spawn(io, name_lookup::run(begun),
                   [&found](std::exception_ptr failure, addresses what) {
                     if (failure) std::rethrow_exception(failure);
                     found.emplace(std::move(what));
                   });
    return begun;
  }

  addresses look_up(std::string_view name) {
    std::optional<addresses> found;
    start(name, found);
    io.restart();
    io.run();
    return found.value();
  }
};

std::set<std::string> texts(addresses const& found) {
  std::set<std::string> all;
  for (auto const& one : found.value()) all.insert(one.text());
  return all;
}

BOOST_FIXTURE_TEST_SUITE(name_lookup_test, context)

BOOST_AUTO_TEST_CASE(numeric_addresses_paths_and_names_are_resolved) {
  BOOST_TEST((texts(look_up("127.0.0.9:80")) == std::set<std::string>{"127.0.0.9:80"}));
  BOOST_TEST((texts(look_up("[::1]:80")) == std::set<std::string>{"[::1]:80"}));
  BOOST_TEST((texts(look_up("unix:/a/b")) == std::set<std::string>{"unix:/a/b"}));
  BOOST_TEST(texts(look_up("localhost:80")).contains("127.0.0.1:80"));
  BOOST_TEST(texts(look_up(":80")).contains("127.0.0.1:80"));
}

BOOST_AUTO_TEST_CASE(an_unknown_host_name_is_reported) {
  auto const found = look_up("nobody.invalid:80");
  BOOST_REQUIRE(!found);
  BOOST_TEST(found.error().code() == errc::unavailable);
  BOOST_TEST(found.error().message().starts_with(
      "The host name 'nobody.invalid' of 'nobody.invalid:80' cannot be resolved: "));
}

BOOST_AUTO_TEST_CASE(a_cancelled_lookup_returns_at_once) {
  std::optional<addresses> found;
  auto const begun = start("a.endless.invalid:80", found);
  io.poll();
  BOOST_TEST(!found);

  begun->abandon();
  io.run();

  BOOST_REQUIRE(found.has_value());
  BOOST_TEST(found->error().code() == errc::cancelled);
}

BOOST_AUTO_TEST_CASE(an_unresponsive_lookup_does_not_delay_others) {
  std::optional<addresses> endless;
  auto const begun = start("a.endless.invalid:80", endless);
  std::optional<addresses> found;
  start("localhost:80", found);

  while (!found) io.run_one();

  BOOST_TEST(texts(*found).contains("127.0.0.1:80"));
  BOOST_TEST(!endless);
  begun->abandon();
}

BOOST_AUTO_TEST_CASE(the_context_can_end_before_the_lookup) {
  std::optional<addresses> endless;
  start("a.endless.invalid:80", endless);
  std::optional<addresses> found;  // empty if it has not ended by then
  start("localhost:80", found);
  io.poll();
  BOOST_TEST(!endless.has_value());
}

BOOST_AUTO_TEST_CASE(few_threads_serve_many_lookups) {
  std::vector<std::optional<addresses>> found(200);
  for (auto& one : found) start("localhost:80", one);
  io.run();
  for (auto const& one : found) BOOST_TEST(texts(one.value()).contains("127.0.0.1:80"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::net
