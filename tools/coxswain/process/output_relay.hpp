#pragma once
// Passes on the output of child processes, as lines with a prefix. It has its own thread: if our
// output is not read, the children block, but not the coordinator.

#include "process/line_prefixer.hpp"

#include "coxswain/net/asio.hpp"
#include "coxswain/net/descriptor.hpp"

#include <atomic>
#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace coxswain::tools {

class output_relay {
 public:
  output_relay();
  // Without `finish`, pending output is lost.
  ~output_relay();
  output_relay(output_relay const&) = delete;
  output_relay& operator=(output_relay const&) = delete;

  // From a pipe's reading end to one of our own descriptors, which stays the caller's. `copy` gets
  // the same bytes without the prefix, unless it is null. What cannot be written is dropped.
  void pass_on(net::descriptor from, int to, std::string prefix,
               std::shared_ptr<net::descriptor const> copy = nullptr);

  // From now on all lines for standard error go into this file, at most 64 MiB of them, but those
  // with this prefix. With none they are dropped.
  void set_aside_errors(std::string spared_prefix, std::shared_ptr<net::descriptor const> into);

  // There were such lines. Thread-safe.
  [[nodiscard]] bool has_set_aside() const noexcept { return bytes_aside_ > 0; }

  // Passes on the remaining output, and ends. Once. Blocks as long as our output does.
  void finish();

 private:
  struct stream {
    stream(asio::io_context& io, net::descriptor from, int into, std::string prefix,
           std::shared_ptr<net::descriptor const> copy);

    asio::posix::stream_descriptor pipe;
    int to;
    std::string prefix;
    line_prefixer lines;
    std::shared_ptr<net::descriptor const> copy;
  };

  asio::awaitable<void> relay(std::list<stream>::iterator s);
  void write(stream const& s, std::string const& lines);
  [[nodiscard]] bool is_set_aside(stream const& s) const;
  void write_aside(std::string_view lines);
  void report_lost_output(int why);
  static void write_to(net::descriptor const* file, std::string_view bytes);

  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard_{io_.get_executor()};
  std::list<stream> streams_;                     // the thread's
  bool is_finishing_{};                           // the thread's
  bool has_lost_output_{};                        // the thread's
  std::optional<std::string> spared_prefix_;      // the thread's; none: nothing is set aside
  std::shared_ptr<net::descriptor const> aside_;  // the thread's
  std::atomic<std::size_t> bytes_aside_{};
  std::thread thread_;
};

}  // namespace coxswain::tools
