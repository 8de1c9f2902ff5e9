// Errors as clients expect them: without the payload they assume a network error.

#include "coxswain/xla/outcome.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace coxswain::xla {
namespace {

using namespace std::string_literals;

std::string const service_key = "type.googleapis.com/tensorflow.CoordinationServiceError";

// One entry of the map of payloads.
std::string entry(std::string const& key, std::string const& value) {
  auto const field = [](char tag, std::string const& content) {
    return std::string{tag} + static_cast<char>(content.size()) + content;
  };
  return field('\x0a', field('\x0a', key) + field('\x12', value));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(outcome_test)

BOOST_AUTO_TEST_CASE(an_empty_payload_marks_an_error_of_the_service) {
  auto const made = by_service({errc::not_found, "Config key k not found."});
  BOOST_TEST((made.code == errc::not_found));
  BOOST_TEST(made.text == "Config key k not found.");
  BOOST_TEST(made.details == "\x0a\x3b\x0a\x37"s + service_key + "\x12\0"s);
  BOOST_TEST(made.details.size() == 61U);
  BOOST_TEST(plain({errc::already_exists, "x"}).details == "");
}

BOOST_AUTO_TEST_CASE(the_culprit_is_encoded_for_each_generation) {
  culprit const three{task_id{3}, true};
  status const why{errc::unavailable, "lost"};
  BOOST_TEST(by_service(generation::third, why, three).details ==
             entry(service_key, "\x18\x01\x20\x03"));
  BOOST_TEST(by_service(generation::second, why, three).details ==
             entry(service_key, "\x18\x01\x22\x02\x10\x03"));
  BOOST_TEST(by_service(generation::third, why, {}).details == by_service(why).details);
}

BOOST_AUTO_TEST_CASE(a_failed_barrier_names_its_round) {
  auto const made = of_barrier({errc::internal, "x"}, "b", 2);
  BOOST_TEST(made.details ==
             entry(service_key, "") + entry("type.googleapis.com/tensorflow.BarrierError",
                                            "\x0a\x01"s + "b" + "\x10\x02"));
}

BOOST_AUTO_TEST_CASE(a_wrong_service_incarnation_is_reported_with_the_right_one) {
  auto const made = wrong_service(incarnation{1}, incarnation{2});
  BOOST_TEST((made.code == errc::internal));
  BOOST_TEST(made.text == "wrong service incarnation: requested 1, currently 2");
  BOOST_TEST(made.details ==
             entry(service_key, "") + entry("type.googleapis.com/tensorflow.ServiceMismatchError",
                                            "\x09\x02"s + std::string(7, '\0')));
}

BOOST_AUTO_TEST_CASE(trailers_stay_small_for_any_text) {
  BOOST_TEST(fitting(std::string(3072, 'a')).size() == 3072U);
  BOOST_TEST(fitting(std::string(3073, 'a')).size() == 3072U);
  std::string umlauts;
  while (umlauts.size() < 100'000) umlauts += "ü";
  // Each byte takes three.
  BOOST_TEST(3 * fitting(umlauts).size() <= 4'620U);
  BOOST_TEST(fitting(umlauts).size() > 1500U);
  auto const made = of_barrier({errc::internal, umlauts}, std::string(4096, 'n'), 1);
  BOOST_TEST(3 * made.text.size() + made.details.size() * 4 / 3 < 7'000U);
}

BOOST_AUTO_TEST_CASE(no_text_contains_the_words_at_which_clients_cut_it) {
  BOOST_TEST(fitting("a Additional GRPC b").find("Additional GRPC") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::xla
