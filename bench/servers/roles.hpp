#pragma once
// The roles of a benchmark process besides the baseline: the coordinator as shipped, with default
// options except those of the job; the load of a workload. Each gets its options,
// writes results as lines of JSON to standard output, and reads commands from standard input until
// that ends. All throw bench_error, and the libraries' exceptions.

#include <boost/json/object.hpp>

namespace coxswain::bench {

// Writes a line.
void say(boost::json::object const& what);

// Prints its address.
void run_coordinator(boost::json::object const& given);

// Connects; then its commands are "measure STEPS" and "finish".
void run_load(boost::json::object given);

}  // namespace coxswain::bench
