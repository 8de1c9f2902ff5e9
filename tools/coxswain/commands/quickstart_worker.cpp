#include "commands/quickstart_worker.hpp"

#include "commands/quickstart_report.hpp"
#include "options/exit_code.hpp"

#include "coxswain/client/client.hpp"

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <vector>

namespace coxswain::tools {
namespace {

constexpr std::uint32_t devices_per_worker = 4;
constexpr std::size_t data_bytes = 16 * 1024;

time_point now() { return std::chrono::steady_clock::now(); }

// The devices that this worker invents: "abacus 3.0, abacus 3.1, ...".
std::string devices_of(std::uint32_t worker) {
  std::string all;
  for (std::uint32_t i = 0; i < devices_per_worker; ++i) {
    all += fmt::format("{}abacus {}.{}", i == 0 ? "" : ", ", worker, i);
  }
  return all;
}

std::string data_of(std::uint32_t worker) {
  std::string data(data_bytes, '\0');
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 7 + worker);
  return data;
}

std::string data_key(std::uint32_t worker) { return fmt::format("quickstart/data/{}", worker); }

void require(bool is_right, std::string const& what) {
  if (!is_right) throw program_error{exit_code::failed, "wrong data: " + what};
}

asio::awaitable<std::uint64_t> learn_devices(client& job, std::uint32_t me) {
  auto const all = co_await job.all_gather("quickstart/devices", devices_of(me));
  require(all.size() == job.num_tasks(), fmt::format("devices of {} workers", all.size()));
  for (std::uint32_t worker = 0; worker < all.size(); ++worker) {
    require(all[worker] == devices_of(worker), "devices '" + all[worker] + "'");
  }
  co_return all.size() * devices_per_worker;
}

// Waits for the keys of the first worker and both neighbours.
asio::awaitable<void> exchange_data(client& job, std::uint32_t me) {
  auto const count = job.num_tasks();
  co_await job.put(data_key(me), data_of(me));
  std::vector<std::uint32_t> const others{0, (me + 1) % count, (me + count - 1) % count};
  for (auto const other : others) {
    auto const data = co_await job.get(data_key(other));
    require(data == data_of(other), data_key(other));
  }
}

}  // namespace

asio::awaitable<void> work(std::uint32_t rounds) {
  worker_report report;
  client job = co_await client::connect(client_options::from_environment());
  auto const me = job.task()->value;

  auto begun = now();
  co_await job.join();
  report.join = now() - begun;

  begun = now();
  report.devices = co_await learn_devices(job, me);
  co_await exchange_data(job, me);
  report.exchange = now() - begun;

  report.rounds.reserve(rounds);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    begun = now();
    co_await job.barrier(rounds_barrier);
    report.rounds.push_back(now() - begun);
  }
  co_await job.put(report_key(me), to_text(report));
  co_await job.leave();
}

}  // namespace coxswain::tools
