// The jaxlib releases that a client may be.

#include "coxswain/xla/client_label.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::xla {

BOOST_AUTO_TEST_SUITE(client_label_test)

BOOST_AUTO_TEST_CASE(the_grpc_version_identifies_the_jaxlib_release) {
  auto const of = [](char const* version) {
    return "grpc-c++/" + std::string{version} + " grpc-c/54.0.0 (linux; chttp2)";
  };
  BOOST_TEST(client_label(of("1.74.0"), generation::second) == "JAX client, jaxlib 0.7.1 to 0.9.0");
  BOOST_TEST(client_label(of("1.78.1"), generation::second) == "JAX client, jaxlib 0.9.1 or 0.9.2");
  BOOST_TEST(client_label(of("1.78.1"), generation::third) == "JAX client, jaxlib 0.10");
  BOOST_TEST(client_label(of("1.780.1"), generation::third) ==
             "JAX client, gRPC 1.780.1, protocol 3");
  BOOST_TEST(client_label(of("1.30.0"), generation::second) ==
             "JAX client, gRPC 1.30.0, protocol 2");
  BOOST_TEST(client_label("grpc-python/1.51.1", generation::third) == "JAX client, protocol 3");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::xla
