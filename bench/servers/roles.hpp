#pragma once
// What a process of the benchmark may be besides the baseline: the coordinator, as shipped, with
// its default options but for those that make the job; a real client; the load of a workload. Each
// is given its options, says what there is to say as JSON on standard output, a line for each, and
// is told what to do on standard input, until that ends. All throw bench_error, and what the
// libraries throw.

#include "coxswain/net/tls_options.hpp"

#include <boost/json/object.hpp>

namespace coxswain::bench {

// Writes a line.
void say(boost::json::object const& what);

// {"certificate": FILE, "key": FILE, "authorities": FILE}
[[nodiscard]] tls_options tls_options_of(boost::json::value const& given);

// Says where it listens. A line that it is told names the file for its recording.
void run_coordinator(boost::json::object const& given);

// Connects and joins, takes part in as many rounds of a barrier as each line says, and leaves.
void run_client(boost::json::object const& given);

// Connects; then "measure STEPS", "act NAME", "conclude" and "finish" are what it can be told.
void run_load(boost::json::object given);

}  // namespace coxswain::bench
