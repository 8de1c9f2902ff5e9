#pragma once
// A channel over HTTP/2, with or without TLS. Not thread-safe.

#include "coxswain/etcd/channel.hpp"
#include "coxswain/http2/client_session.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/net/endpoint.hpp"
#include "coxswain/net/transport.hpp"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace coxswain::etcd {

class grpc_channel final : public channel, public std::enable_shared_from_this<grpc_channel> {
 public:
  // Begins to connect. With `certificates` it uses TLS.
  static std::shared_ptr<grpc_channel> open(asio::any_io_executor executor, net::endpoint to,
                                            std::shared_ptr<net::tls_context const> certificates);

  std::uint64_t start(call_request const& how, std::string message,
                      std::weak_ptr<call_events> to) override;
  void send(std::uint64_t call, std::string message) override;
  void cancel(std::uint64_t call) override;
  void close() override;
  [[nodiscard]] bool is_broken() const override { return is_broken_; }

 private:
  grpc_channel(asio::any_io_executor executor, net::endpoint to,
               std::shared_ptr<net::tls_context const> certificates);

  static asio::awaitable<void> run(std::shared_ptr<grpc_channel> self);
  static asio::awaitable<status> read(std::shared_ptr<grpc_channel> self);
  static asio::awaitable<void> await_room(std::shared_ptr<grpc_channel> self);
  void take(std::string_view input);
  void flush();
  void fail(status const& why, bool is_unseen);

  asio::any_io_executor executor_;
  net::endpoint to_;
  bool has_tls_;
  std::shared_ptr<net::transport> over_;
  http2::client_session session_;
  std::unordered_map<std::uint64_t, std::weak_ptr<call_events>> calls_;
  std::vector<http2::client_event> events_;
  std::string output_;
  std::size_t written_{};  // of the output
  bool is_broken_{};
  bool waits_for_room_{};
};

}  // namespace coxswain::etcd
