#include "json_object.hpp"

#include <boost/test/unit_test.hpp>

#include <limits>

namespace coxswain::bench {
namespace {

BOOST_AUTO_TEST_SUITE(json_objects)

BOOST_AUTO_TEST_CASE(members_are_written_in_order) {
  json_object inner;
  inner.add("b", std::uint64_t{2});
  json_object o;
  o.add("a", 1.5);
  o.add("in", inner);
  o.add("list", std::vector<double>{1, 0.25});
  o.add("objects", std::vector<json_object>{inner, inner});
  o.add("none", std::optional<double>{});

  BOOST_TEST(o.text() ==
             R"({"a": 1.5, "in": {"b": 2}, "list": [1, 0.25], "objects": [{"b": 2}, {"b": 2}]})");
}

BOOST_AUTO_TEST_CASE(text_is_escaped) {
  json_object o;
  o.add("machine", std::string_view{"a \"b\" \\ c\n"});

  BOOST_TEST(o.text() == R"({"machine": "a \"b\" \\ c "})");
}

BOOST_AUTO_TEST_CASE(a_flag_is_true_or_false) {
  json_object o;
  o.add_flag("busy", true);
  o.add_flag("idle", false);

  BOOST_TEST(o.text() == R"({"busy": true, "idle": false})");
}

BOOST_AUTO_TEST_CASE(what_is_no_number_is_null) {
  json_object o;
  o.add("a", std::numeric_limits<double>::infinity());

  BOOST_TEST(o.text() == R"({"a": null})");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::bench
