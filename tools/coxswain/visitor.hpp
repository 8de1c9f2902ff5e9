#pragma once
// One program that acts as this process's task. To it we are the coordinator: it says Hello, gets a
// session of its own, and its requests are passed on to the task's session as they are, except that
//
//   Join and Reset  name the task's incarnation; a Reset is followed by a Join, so that the task
//                   takes part again.
//   Frozen          without an agreement asks whether the task stops at this step. Clients answer
//                   that by themselves, so the protocol has no other request for it.
//
// What a visitor had open is taken back when it goes. If it cannot be understood, its connection
// ends and nothing else. An answer counts as delivered once it is here: an item that a visitor pops
// is lost if it dies just then. Not here: who gets in (task_door), the task's session (client).
//
// Not thread-safe: everything happens on the executor of the task's connection.

#include "coxswain/client/asking.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/wire/frame.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace coxswain::tools {

class visitor : public std::enable_shared_from_this<visitor> {
 public:
  visitor(asio::local::stream_protocol::socket socket, connection_ptr task);

  // Serves it until it has gone. `self` is this.
  static asio::awaitable<void> serve(std::shared_ptr<visitor> self);

  // Says goodbye, and serves it no longer.
  void part(status why);

 private:
  // What a good answer is followed by.
  enum class sequel : std::uint8_t { reply, join, no_member };

  void received(std::string_view bytes);
  void greeted(core::client_message const& message);
  void said(core::client_message message);
  void asked(request_id id, core::request what);
  void pass_on(request_id id, question q, sequel next);
  void answered(request_id id, core::answer what, sequel next);
  void withdraw(request_id id);

  void send(request_id id, core::answer const& what);
  static asio::awaitable<void> write(std::shared_ptr<visitor> self);

  asio::local::stream_protocol::socket socket_;
  connection_ptr task_;
  wire::frame_decoder decoder_;
  std::map<request_id, connection::place> open_;
  std::string unsent_;
  bool is_writing_{};
  bool has_greeted_{};
  bool is_over_{};
};

}  // namespace coxswain::tools
