#pragma once
// A simulated relay (§18.3): the real switchboard, and the real agent of the trunk. Its
// clients and the coordinator are at the other ends of links. Not here: the network (world), when
// it has a fault (job), and the processes of JAX.

#include "coxswain/relay/switchboard.hpp"
#include "tests/sim/process.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::sim {

class world;

// Between processes of a host.
constexpr duration local_delay_max = 100us;

enum class relay_bug : std::uint8_t {
  none,
  mistaken_exit,    // the end of a connection is reported as that of its process
  forgotten_exit,   // the end of a process is reported as that of its connection
  repeated_exits,   // ends of processes are reported again over the next trunk
  repeated_frames,  // the last frame of a client is passed again over the next trunk
  forgetful_list    // clients that live are listed as silent
};

class relay_process {
 public:
  relay_process(world& in, std::string its_address, relay_bug wrong)
      : address{std::move(its_address)}, in_{in}, wrong_{wrong} {}

  // A process of it begins; the last one has ended.
  void start(std::uint64_t seed);
  // Its process has ended, and its host closes the connections.
  void die();
  [[nodiscard]] bool is_alive() const { return body().alive; }

  // The trunk and its agent.
  [[nodiscard]] process& body() const { return *bodies_.back(); }
  void trunk_opened() { frames_ = wire::frame_decoder{wire::message_bytes_max}; }
  void trunk_failed(status const& why) { failure_ = why; }
  // Takes what it has for the trunk.
  void take_output(std::string& into);

  void accept(std::shared_ptr<link> line, process& of);

  // A loop iteration; and when there is something to do in one.
  void step();
  [[nodiscard]] time_point next_event() const;

  std::string const address;

 private:
  struct client {
    std::shared_ptr<link> line;
    process* of{};
    std::string unread{};
    std::optional<time_point> gives_up_at{};              // its connection has ended
    bool leaves{};                                        // the end of its connection was sent
    wire::frame_decoder frames{wire::message_bytes_max};  // for `repeated_frames`
    bool is_greeted{};                                    // likewise
  };

  void receive();
  [[nodiscard]] status take_frames(std::shared_ptr<link> const& over);
  void lose(status const& why);
  void note_trunk();
  void trunk_lost();
  void admit();
  void dismiss(client const& one, status const& why);
  void forget(client const& one);
  void read(client& one);
  void repeat(client& one, std::string_view bytes);
  void pass(std::uint32_t route, client& one);
  [[nodiscard]] bool has_ended(client& one);
  void close(std::uint32_t route, client const& one);
  void write(std::uint32_t route, client& one);
  void repeat_exits();
  void report_living();

  world& in_;
  relay_bug wrong_;
  std::vector<std::unique_ptr<process>> bodies_;  // the last one runs
  coxswain::relay::switchboard board_{{}};
  wire::frame_decoder frames_{wire::message_bytes_max};
  std::vector<client> arrived_;
  std::vector<client> waiting_;  // for the trunk
  std::map<std::uint32_t, client> clients_;
  std::optional<status> failure_;
  time_point heard_at_{};
  duration period_{};
  time_point reports_at_{time_point::max()};
  bool is_up_{};
  std::vector<std::uint32_t> exits_;              // for `repeated_exits`
  std::map<process const*, std::string> passed_;  // for `repeated_frames`
};

}  // namespace coxswain::sim
