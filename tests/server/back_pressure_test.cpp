// Over real sockets: the input of a peer that does not read its replies is paused.

#include "tests/main/sanitized.hpp"
#include "tests/server/harness.hpp"

#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string>
#include <string_view>

namespace coxswain::server {
namespace {

constexpr std::size_t unknown_overhead = test::is_sanitized ? std::size_t{1} << 40 : 0;

std::size_t resident_bytes() {
  std::ifstream from{"/proc/self/statm"};
  std::size_t all{};
  std::size_t resident{};
  from >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// Keys whose listing has slightly more than this many bytes.
void fill(raw_client& writer, std::size_t count, std::size_t value_bytes) {
  for (std::uint64_t id = 1; id <= count; ++id) {
    writer.send(put_frame(id, "dir/" + std::to_string(id), std::string(value_bytes, 'v')));
    BOOST_TEST_REQUIRE(writer.next().what.outcome.ok());
  }
}

std::string lists(std::uint64_t count) {
  std::string all;
  for (std::uint64_t id = 1; id <= count; ++id) all += list_frame(id, "dir");
  return all;
}

BOOST_AUTO_TEST_SUITE(back_pressure_test)

BOOST_FIXTURE_TEST_CASE(a_client_that_sends_a_million_reads_unread_does_not_affect_others,
                        harness) {
  o.listen = {unix_path("million")};
  o.queued_bytes_max = 4'000'000;
  auto other = greeted();
  fill(other, 100, 10'000);
  auto idle = greeted();
  auto const asked = lists(1'000'000);
  auto const before = resident_bytes();
  std::size_t most = before;
  std::size_t sent = 0;

  for (std::uint64_t id = 101; id <= 300; ++id) {
    sent += idle.send_lazily(std::string_view{asked}.substr(sent));
    BOOST_TEST(other.ask(try_get_frame(id, "nothing")).what.outcome.code() == errc::not_found);
    most = std::max(most, resident_bytes());
  }

  BOOST_TEST(sent < 1'000'000u);
  // Queued replies; one encoded listing and the waiting ones; buffers.
  BOOST_TEST(most - before < 4'000'000u + 2 * 1'100'000u + 4'000'000u + unknown_overhead);
  BOOST_TEST(made->look().memory_bytes + made->statistics().transit_bytes <
             1'100'000u + 4'000'000u + 64 * 10'000u);
  for (std::uint64_t id = 1; id <= 30; ++id) {
    sent += idle.send_lazily(std::string_view{asked}.substr(sent));
    BOOST_TEST(idle.next().id.value == id);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::server
