// Request targets, and times and errors in HTTP form.

#include "coxswain/status/target.hpp"
#include "coxswain/status/http.hpp"

#include <boost/test/unit_test.hpp>

#include <string_view>

namespace coxswain::status_page {
namespace {

BOOST_AUTO_TEST_SUITE(target_test)

BOOST_AUTO_TEST_CASE(a_path_and_its_parameters_are_decoded) {
  auto const t =
      target::parse("/api/v1/keys/a%2Fb%20c?prefix=x%3D1&values&after=a+b&prefix=no").value();

  BOOST_TEST(t.path() == "/api/v1/keys/a/b c");
  BOOST_TEST(t.query("prefix").value() == "x=1");
  BOOST_TEST(t.query("values").value() == "");
  BOOST_TEST(t.query("after").value() == "a b");
  BOOST_TEST(!t.query("limit").has_value());
}

BOOST_AUTO_TEST_CASE(a_plus_sign_in_a_path_is_literal) {
  BOOST_TEST(target::parse("/a+b").value().path() == "/a+b");
}

BOOST_AUTO_TEST_CASE(an_invalid_path_or_invalid_utf8_is_refused) {
  for (std::string_view const text : {"", "*", "api", "/%", "/%2", "/%zz", "/%+1", "/%00", "/%ff",
                                      "/\xff", "/a?b=%c3", "/a?%ff=1", "http://host/"}) {
    auto const t = target::parse(text);
    BOOST_TEST_REQUIRE(t.has_error(), text);
    BOOST_TEST((t.error().code() == errc::invalid_argument));
  }
}

BOOST_AUTO_TEST_CASE(empty_parameters_are_accepted) {
  auto const t = target::parse("/?&&=&a=b=c&").value();
  BOOST_TEST(t.path() == "/");
  BOOST_TEST(t.query("a").value() == "b=c");
}

BOOST_AUTO_TEST_CASE(times_have_units) {
  BOOST_TEST((duration_of("10m").value() == 10min));
  BOOST_TEST((duration_of("1.5h").value() == 90min));
  BOOST_TEST((duration_of("250ms").value() == 250ms));
  BOOST_TEST((duration_of("0s").value() == 0s));
  for (std::string_view const text :
       {"", "10", "m", "10 m", "-1s", "nans", "infs", "1e99d", "1x", "0x1s", " 1s"}) {
    BOOST_TEST((duration_of(text).has_error()), text);
  }
}

BOOST_AUTO_TEST_CASE(errors_are_json_with_the_canonical_code) {
  BOOST_TEST(error_json({errc::not_found, "no \"x\""}) ==
             "{\"code\":\"NOT_FOUND\",\"message\":\"no \\\"x\\\"\"}\n");
  BOOST_TEST(http_code(errc::permission_denied) == 403u);
  BOOST_TEST(http_code(errc::internal) == 500u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::status_page
