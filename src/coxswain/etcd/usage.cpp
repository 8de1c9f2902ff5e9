#include "coxswain/etcd/usage.hpp"

#include "coxswain/etcd/calls.hpp"

#include <utility>

namespace coxswain::etcd {
namespace {

constexpr std::int64_t default_quota = std::int64_t{2} * 1024 * 1024 * 1024;

}  // namespace

asio::awaitable<usage> read_usage(std::shared_ptr<client> by, time_point give_up_at) {
  auto const reply = co_await settle<pb::StatusResponse>(
      std::move(by), "/etcdserverpb.Maintenance/Status", pb::StatusRequest{}, give_up_at);
  usage made;
  made.why = reply.why;
  made.bytes = reply.content.dbsize();
  made.quota = reply.content.dbsizequota() > 0 ? reply.content.dbsizequota() : default_quota;
  co_return made;
}

}  // namespace coxswain::etcd
