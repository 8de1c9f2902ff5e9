#pragma once
// Test cases as rows: a name, the number of tasks, and steps in the words of the scenarios.
//
//   rows const cases{
//       {"the_last_arrival_releases_all", 2, "one = 0 barrier b; one -> waits; 1 barrier b -> OK"},
//       {"a_round_is_cancelled_once", 2, "0 barrier b; 0 cancels b; 1 cancels b -> why",
//        because<&reasons::no_open_round>("b")},
//   };
//
//   0 barrier b 30s       a call of client 0; `2/1`: of client 2, for task 1; `o`: of an observer
//   one = 0 get k         gives it a name
//   one two -> OK waits   what they got by now: "waits", the code, or what was returned
//   0 get k -> v          a call and what it got
//   one ~ task 2 ... lost what it got has these words, in this order; `!~`: has them not
//   at 10s, at 10s-       processes what is due until then, or until 1 ns before
//   replies -> 0:OK 1:OK  of all clients, since the last look
//
// The first step may be `empty`: no task has joined. For the others see steps.cpp.

#include "tests/core/cluster.hpp"

#include <boost/assert/source_location.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

namespace coxswain::test {

using core::config;

struct row {
  row(char const* name, std::uint32_t tasks, char const* steps, core::config options = {},
      std::optional<expected_reason> why = {})
      : name{name}, tasks{tasks}, steps{steps}, options{std::move(options)}, why{std::move(why)} {}
  row(char const* name, std::uint32_t tasks, char const* steps, expected_reason why)
      : row{name, tasks, steps, {}, std::move(why)} {}

  char const* name;
  std::uint32_t tasks;
  char const* steps;
  core::config options;
  std::optional<expected_reason> why;  // of the results that are "why"
};

// Makes a test case of each row, in the suite where it is defined.
class rows {
 public:
  rows(std::initializer_list<row> all, boost::source_location where = BOOST_CURRENT_LOCATION);
};

}  // namespace coxswain::test
