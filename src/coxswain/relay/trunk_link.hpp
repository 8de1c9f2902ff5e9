#pragma once
// The trunk of a relay: its own session with the coordinator, whose connections carry the routes.
// Runs a client's agent on Asio: that dials, greets, sends heartbeats and reconnects, as for any
// client. Not here: routes (switchboard).
//
// Not thread-safe. The owner must outlive it.

#include "coxswain/client/agent/agent.hpp"
#include "coxswain/client/options.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/net/endpoint.hpp"
#include "coxswain/net/tls_context.hpp"
#include "coxswain/net/transport.hpp"
#include "coxswain/wire/frame.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::relay {

// Events of a trunk. Each may be called from within any function of trunk_link.
class trunk_owner {
 public:
  // The coordinator serves it: routes can be opened. And no longer: all of them are gone.
  virtual void trunk_up() = 0;
  virtual void trunk_down(status const& why) = 0;
  // It could not be opened, and is tried again later.
  virtual void trunk_failed(status const& why) = 0;
  // For the log.
  virtual void trunk_reports(core::severity level, std::string const& text) = 0;
  // A message about routes. An error closes the trunk.
  virtual status trunk_received(std::string_view payload) = 0;
  // All that was received is handled; or its next deadline has changed.
  virtual void trunk_moved() = 0;
  // The trunk takes more output: call `flush`.
  virtual void trunk_has_room() = 0;

 protected:
  ~trunk_owner() = default;
};

class trunk_link : public std::enable_shared_from_this<trunk_link> {
 public:
  // Throws coxswain::error: what net::tls_context says of the files of `o.tls`.
  trunk_link(asio::any_io_executor executor, client_options o, std::vector<net::endpoint> to,
             trunk_owner& owner);

  void start();
  void advance();
  [[nodiscard]] std::optional<time_point> next_deadline() const { return agent_.next_deadline(); }

  // When the coordinator was heard last.
  [[nodiscard]] time_point heard_at() const noexcept { return heard_at_; }

  // Ends the session. The owner hears no more.
  void close();

  [[nodiscard]] bool is_up() const noexcept { return is_up_; }
  [[nodiscard]] bool is_over() const noexcept { return agent_.over(); }
  // Why the session has ended.
  [[nodiscard]] status const& end() const noexcept { return agent_.end(); }
  [[nodiscard]] std::string const& address() const { return agent_.address(); }
  [[nodiscard]] std::optional<core::hello_answer> const& session() const {
    return agent_.session();
  }

  // The stack of a client's process, which the coordinator wanted (client_options::wants_stacks).
  void report(core::report_stack_args what);

  // Adds whole frames, which are taken from `more`, and writes as far as possible.
  void flush(std::string& more);
  // So much waits to be written that nothing more should be read for it.
  [[nodiscard]] bool is_full() const noexcept;

 private:
  using self_ptr = std::shared_ptr<trunk_link>;
  using transport_ptr = std::shared_ptr<net::transport>;

  static asio::awaitable<void> serve(self_ptr self, transport_ptr over, std::size_t address);
  static asio::awaitable<void> read(self_ptr self, transport_ptr over);
  static asio::awaitable<void> await_room(self_ptr self, transport_ptr over);

  void pump();
  void open(std::size_t address);
  void close(std::size_t address);
  void take(std::string_view bytes);
  void broke(status why);
  void report(detail::agent_event const& what);
  void write_out();
  void drop();

  asio::any_io_executor executor_;
  client_options options_;
  std::shared_ptr<net::tls_context const> certificates_;
  trunk_owner* owner_;
  detail::agent agent_;
  transport_ptr transport_;
  std::map<std::size_t, transport_ptr> opening_;
  std::uint64_t attempts_{};
  wire::frame_decoder decoder_;
  std::string frame_;  // for the agent
  std::string out_;    // written up to `written_`
  std::size_t written_{};
  status down_why_;
  time_point heard_at_{};
  bool is_up_{};
  bool write_blocked_{};
  std::vector<detail::agent_command> commands_;
  std::vector<detail::agent_event> events_;
  std::vector<detail::agent_completion> completions_;
};

}  // namespace coxswain::relay
