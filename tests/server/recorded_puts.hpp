#pragma once
// A recording of a job in virtual time, for tests of what shows recordings.

#include "coxswain/server/dispatch.hpp"
#include "tests/server/messages.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace coxswain::server {

// A task puts k1 to k200, one each second, and fails at 201 s.
inline std::string recorded_puts() {
  constexpr time_point start{1000s};
  options o;
  dispatch d{o, incarnation{77}, start};
  auto now = start;
  auto const settle = [&] {
    d.begin();
    d.advance(now);
    std::vector<connection_id> dirty;
    while (d.deliver(dirty)) {
      for (auto const id : dirty) {
        while (!d.out(id).empty()) d.wrote(now, id, next_bytes(d.out(id)).size());
      }
    }
  };
  auto const task = d.open(now, "10.0.0.1:5", core::session_secret{});
  d.received(now, task, hello_frame() + join_frame(1, 0));
  settle();
  for (std::uint64_t i = 1; i <= 200; ++i) {
    now += 1s;
    d.received(now, task, put_frame(i + 1, "k" + std::to_string(i), "v"));
    settle();
  }
  now += 1s;
  BOOST_TEST(
      d.put_in(now, core::process_ended{task_id{0}, {errc::unavailable, "killed by signal 9"}})
          .ok());
  settle();
  return d.recording();
}

}  // namespace coxswain::server
