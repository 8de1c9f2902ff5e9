#pragma once
// The private Unix socket by which the programs that a COMMAND starts act as the task of this
// process. Not here: what they say (visitor).

#include "private_folder.hpp"
#include "visitor.hpp"

#include "coxswain/client/client.hpp"
#include "coxswain/net/asio.hpp"

#include <memory>
#include <string>
#include <vector>

namespace coxswain::tools {

class task_door : public std::enable_shared_from_this<task_door> {
 public:
  // It can be connected to from now on; `task` is connected. Throws program_error: the temporary
  // directory cannot be used.
  explicit task_door(client const& task);

  // Serves all who come, until it is closed. `self` is this.
  static asio::awaitable<void> serve(std::shared_ptr<task_door> self);

  // Says goodbye to all. Once.
  void close(status const& why);

  [[nodiscard]] std::string const& path() const noexcept { return path_; }

 private:
  void let_in(asio::local::stream_protocol::socket socket);

  private_folder folder_;
  std::string path_;
  connection_ptr task_;
  asio::local::stream_protocol::acceptor acceptor_;
  std::vector<std::weak_ptr<visitor>> visitors_;
};

}  // namespace coxswain::tools
