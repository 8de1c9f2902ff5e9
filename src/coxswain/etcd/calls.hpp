#pragma once
// Typed calls of etcd, repeated until a member replies. Only for sources of this room: it shows
// Protobuf.

#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/etcd/client.hpp"
#include "etcd/rpc.pb.h"

#include <charconv>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace coxswain::etcd {

namespace pb = etcdserverpb;

template <class Response>
struct reply_of {
  reply_of() = default;  // no aggregate: GCC 12, see tools/tidy.py

  status why;
  meaning means;
  Response content;
};

// Parses a reply, and checks which cluster it comes from.
template <class Response>
reply_of<Response> parsed(client& by, raw_reply from) {
  reply_of<Response> made;
  made.why = std::move(from.why);
  made.means = from.means;
  if (!made.why.ok()) return made;
  if (!made.content.ParseFromString(from.message)) {
    made.why = {errc::internal, by.name(from.member) + " has sent a malformed reply"};
  } else {
    made.why = by.check_cluster(made.content.header().cluster_id(), from.member);
  }
  return made;
}

template <class Response, class Request>
asio::awaitable<reply_of<Response>> settle(std::shared_ptr<client> by, std::string_view path,
                                           Request request, time_point give_up_at) {
  auto raw = co_await client::settle(by, path, request.SerializeAsString(), give_up_at);
  co_return parsed<Response>(*by, std::move(raw));
}

inline asio::awaitable<reply_of<pb::TxnResponse>> transact(std::shared_ptr<client> by,
                                                           pb::TxnRequest request,
                                                           time_point give_up_at) {
  return settle<pb::TxnResponse>(std::move(by), "/etcdserverpb.KV/Txn", std::move(request),
                                 give_up_at);
}

inline asio::awaitable<reply_of<pb::RangeResponse>> range(std::shared_ptr<client> by,
                                                          pb::RangeRequest request,
                                                          time_point give_up_at) {
  return settle<pb::RangeResponse>(std::move(by), "/etcdserverpb.KV/Range", std::move(request),
                                   give_up_at);
}

// Parts of transactions.

// The key was created by the transaction of this revision; zero: it does not exist.
inline void require_created(pb::TxnRequest& in, std::string key, std::int64_t revision) {
  auto* const compare = in.add_compare();
  compare->set_target(pb::Compare::CREATE);
  compare->set_key(std::move(key));
  compare->set_create_revision(revision);
}

inline void require_existing(pb::TxnRequest& in, std::string key) {
  auto* const compare = in.add_compare();
  compare->set_result(pb::Compare::GREATER);
  compare->set_target(pb::Compare::CREATE);
  compare->set_key(std::move(key));
  compare->set_create_revision(0);
}

inline void put_on_success(pb::TxnRequest& in, std::string key, std::string value,
                           std::int64_t lease = 0) {
  auto* const put = in.add_success()->mutable_request_put();
  put->set_key(std::move(key));
  put->set_value(std::move(value));
  put->set_lease(lease);
}

inline void remove_on_success(pb::TxnRequest& in, std::string key, std::string end = {}) {
  auto* const deletion = in.add_success()->mutable_request_delete_range();
  deletion->set_key(std::move(key));
  deletion->set_range_end(std::move(end));
}

inline void read_on_failure(pb::TxnRequest& in, std::string key, bool keys_only = true) {
  auto* const read = in.add_failure()->mutable_request_range();
  read->set_key(std::move(key));
  read->set_keys_only(keys_only);
}

// The key that the read number `which` of a transaction has found; null: there is none.
inline mvccpb::KeyValue const* found(pb::TxnResponse const& in, int which) {
  if (which >= in.responses_size()) return nullptr;
  auto const& kvs = in.responses(which).response_range().kvs();
  return kvs.empty() ? nullptr : &kvs.Get(0);
}

// A value that is a number; 0: it is none.
inline std::uint64_t number_in(std::string_view text) {
  std::uint64_t number{};
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace coxswain::etcd
