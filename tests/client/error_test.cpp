#include "coxswain/base/error.hpp"

#include "coxswain/base/ids.hpp"

#include <boost/asio/error.hpp>
#include <boost/system/errc.hpp>
#include <boost/test/unit_test.hpp>

#include <limits>

using namespace coxswain;
namespace asio = boost::asio;

BOOST_AUTO_TEST_SUITE(client_error)

BOOST_AUTO_TEST_CASE(a_code_is_an_error_code_with_its_category) {
  boost::system::error_code const code = errc::not_found;

  BOOST_TEST((code == errc::not_found));
  BOOST_TEST(code.failed());
  BOOST_TEST(code.category().name() == "coxswain");
  BOOST_TEST(code.message() == "NOT_FOUND");
  BOOST_TEST(!make_error_code(errc::ok).failed());
}

BOOST_AUTO_TEST_CASE(codes_match_the_generic_conditions) {
  namespace generic = boost::system::errc;
  auto const code = [](errc c) { return make_error_code(c); };

  BOOST_TEST((code(errc::cancelled) == generic::operation_canceled));
  BOOST_TEST((code(errc::deadline_exceeded) == generic::timed_out));
  BOOST_TEST((code(errc::invalid_argument) == generic::invalid_argument));
  BOOST_TEST((code(errc::permission_denied) == generic::permission_denied));
  BOOST_TEST((code(errc::internal) != generic::operation_canceled));
}

BOOST_AUTO_TEST_CASE(an_error_is_a_system_error_with_message_and_details) {
  barrier_failure who;
  who.missing = "3";

  try {
    throw error{status{errc::deadline_exceeded, "Barrier timed out."}, who};
  } catch (boost::system::system_error const& e) {
    auto const& it = dynamic_cast<error const&>(e);
    BOOST_TEST((e.code() == errc::deadline_exceeded));
    BOOST_TEST(e.what() == "DEADLINE_EXCEEDED: Barrier timed out.");
    BOOST_TEST(it.message() == "Barrier timed out.");
    BOOST_TEST(it.details().value().missing == "3");
  }
}

BOOST_AUTO_TEST_CASE(a_call_cancelled_by_its_caller_has_the_asio_code) {
  error const e{asio::error::operation_aborted, status{errc::cancelled, "the caller cancelled it"}};

  BOOST_TEST((e.code() == asio::error::operation_aborted));
  BOOST_TEST((e.code() == boost::system::errc::operation_canceled));
  BOOST_TEST((e.outcome().code() == errc::cancelled));
}

BOOST_AUTO_TEST_CASE(an_id_can_be_made_from_any_integer) {
  int const number = 7;
  std::size_t const index = 8;

  BOOST_TEST(task_id{number}.value == 7u);
  BOOST_TEST(task_id{index}.value == 8u);
  BOOST_TEST(task_id{-1}.value == std::numeric_limits<std::uint32_t>::max());
  BOOST_TEST(task_id{std::uint64_t{1} << 32}.value == std::numeric_limits<std::uint32_t>::max());
}

BOOST_AUTO_TEST_SUITE_END()
