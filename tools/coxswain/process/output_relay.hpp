#pragma once
// Passes on the output of child processes, as lines with a prefix. It has its own thread: if our
// output is not read, the children block, but not the coordinator.

#include "process/line_prefixer.hpp"

#include "coxswain/net/asio.hpp"
#include "coxswain/net/descriptor.hpp"

#include <list>
#include <memory>
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

  // Passes on the remaining output, and ends. Once. Blocks as long as our output does.
  void finish();

 private:
  struct stream {
    stream(asio::io_context& io, net::descriptor from, int into, std::string prefix,
           std::shared_ptr<net::descriptor const> copy);

    asio::posix::stream_descriptor pipe;
    int to;
    line_prefixer lines;
    std::shared_ptr<net::descriptor const> copy;
  };

  asio::awaitable<void> relay(std::list<stream>::iterator s);
  void write(stream const& s, std::string const& lines);
  void report_lost_output(int why);
  static void write_copy(stream const& s, std::string_view bytes);

  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard_{io_.get_executor()};
  std::list<stream> streams_;  // the thread's
  bool is_finishing_{};        // the thread's
  bool has_lost_output_{};     // the thread's
  std::thread thread_;
};

}  // namespace coxswain::tools
