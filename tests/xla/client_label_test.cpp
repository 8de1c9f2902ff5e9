// The jaxlib releases that a client may be, and where it is.

#include "coxswain/xla/client_label.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::xla {

BOOST_AUTO_TEST_SUITE(client_label_test)

BOOST_AUTO_TEST_CASE(the_grpc_version_and_the_protocol_show_the_jaxlib_releases) {
  auto const of = [](char const* version) {
    return "grpc-c++/" + std::string{version} + " grpc-c/54.0.0 (linux; chttp2)";
  };
  BOOST_TEST(client_label("grpc-c++/1.27.0-dev grpc-c/9.0.0 (linux; chttp2; guantao)",
                          generation::second) == "jax 0.4.36-0.6");
  BOOST_TEST(client_label(of("1.74.0"), generation::second) == "jax 0.7.1-0.9.0");
  BOOST_TEST(client_label(of("1.78.1"), generation::second) == "jax 0.9.1-0.9.2");
  BOOST_TEST(client_label(of("1.78.1"), generation::third) == "jax 0.10");
}

BOOST_AUTO_TEST_CASE(of_an_unknown_grpc_version_the_protocol_shows_as_much_as_it_can) {
  auto const of = [](char const* version) {
    return "grpc-c++/" + std::string{version} + " grpc-c/54.0.0 (linux; chttp2)";
  };
  BOOST_TEST(client_label(of("1.780.1"), generation::third) == "jax 0.10 or newer");
  BOOST_TEST(client_label(of("1.30.0"), generation::second) == "jax 0.4.36-0.9");
  BOOST_TEST(client_label("grpc-python/1.51.1", generation::third) == "jax 0.10 or newer");
}

BOOST_AUTO_TEST_CASE(the_process_of_a_unix_socket_is_one_of_this_host) {
  BOOST_TEST(client_place("unix: process 3391 of user 1000", "b12") == "b12:3391");
  BOOST_TEST(client_place("unix: process 3391 of user 1000", "") == "process 3391");
  BOOST_TEST(client_place("unix: process 0 of user 1000", "b12") == "b12");
  BOOST_TEST(client_place("10.0.0.7:51234", "b12") == "10.0.0.7:51234");
  BOOST_TEST(client_place("10.0.0.7:1 via relay, unix: process 3 of user 0", "b12") ==
             "10.0.0.7:1 via relay, unix: process 3 of user 0");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::xla
