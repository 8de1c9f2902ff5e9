#include "tests/etcd/fake_etcd.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::etcd::test {

namespace pb = etcdserverpb;

class fake_channel final : public channel, public std::enable_shared_from_this<fake_channel> {
 public:
  fake_channel(fake_etcd& to, std::size_t member, std::uint64_t number)
      : etcd_{to}, exists_{to.exists_}, member_{member}, id_{number} {}

  std::uint64_t start(call_request const& how, std::string message,
                      std::weak_ptr<call_events> to) override {
    auto const number = ++last_;
    asio::post(etcd_.io_, [self = shared_from_this(), number, how, path = std::string{how.path},
                           token = std::string{how.token}, message = std::move(message), to] {
      auto const who = to.lock();
      if (!who) return;
      if (self->closed_) return who->ended({{errc::cancelled, "closed"}, true});
      if (self->etcd_.is_dead[self->member_]) {
        return who->ended({{errc::unavailable, "connection refused"}, true});
      }
      self->etcd_.arrived(self->member_, self->id_, number, how, path, token, message, to);
    });
    return number;
  }

  void send(std::uint64_t call, std::string message) override {
    asio::post(etcd_.io_, [self = shared_from_this(), call, message = std::move(message)] {
      self->etcd_.arrived_on_stream(self->id_, call, message);
    });
  }

  // Perhaps by a coroutine that ends with its io_context.
  void cancel(std::uint64_t call) override {
    if (!exists_.expired()) etcd_.forget(id_, call);
  }
  void close() override { closed_ = true; }
  [[nodiscard]] bool is_broken() const override { return closed_ || etcd_.is_dead[member_]; }

 private:
  fake_etcd& etcd_;
  std::weak_ptr<void> exists_;
  std::size_t member_;
  std::uint64_t id_;
  std::uint64_t last_{};
  bool closed_{};
};

namespace {

bool is_in(std::string const& key, std::string const& begin, std::string const& end) {
  return end.empty() ? key == begin : key >= begin && key < end;
}

bool holds(pb::Compare const& one, mvccpb::KeyValue const& with) {
  auto const is_mod = one.target() == pb::Compare::MOD;
  auto const actual = is_mod ? with.mod_revision() : with.create_revision();
  auto const wanted = is_mod ? one.mod_revision() : one.create_revision();
  return one.result() == pb::Compare::GREATER ? actual > wanted : actual == wanted;
}

}  // namespace

fake_etcd::fake_etcd(asio::io_context& io, std::size_t members)
    : is_silent(members), is_dead(members), io_{io}, members_{members} {}

std::shared_ptr<client> fake_etcd::make_client(duration call_timeout) {
  client_options options;
  for (std::size_t i = 0; i < members_; ++i) {
    options.members.push_back(net::endpoint::parse("m" + std::to_string(i) + ":2379").value());
  }
  options.call_timeout = call_timeout;
  if (!token_.empty()) options.user = "rower";
  return client::make(io_.get_executor(), std::move(options), [this](std::size_t member) {
    return std::static_pointer_cast<channel>(
        std::make_shared<fake_channel>(*this, member, ++channels_));
  });
}

void fake_etcd::arrived(std::size_t member, std::uint64_t channel, std::uint64_t number,
                        call_request const& how, std::string const& path, std::string const& token,
                        std::string const& message, std::weak_ptr<call_events> to) {
  if (is_silent[member]) return;
  ++calls_[path];
  bool const is_login = path == "/etcdserverpb.Auth/Authenticate";
  if (!token_.empty() && !is_login && token != token_) {
    return to.lock()->ended({{errc::unauthenticated, "etcdserver: invalid auth token"}});
  }
  if (how.is_stream) {
    watcher made{member, channel, number, {}, {}, {}, std::move(to), path.ends_with("Watch")};
    if (made.is_watch) {
      pb::WatchRequest request;
      request.ParseFromString(message);
      auto const& what = request.create_request();
      made.begin = what.key();
      made.end = what.range_end();
      made.next = what.start_revision();
    }
    streams_.push_back(made);
    if (made.is_watch) return notify_watchers();
    return keep_alive(made, message);
  }
  auto const chosen = judge ? judge(member, path) : fate{};
  auto act = [this, chosen, path, message, to = std::move(to)] {
    std::string reply;
    call_end end;
    if (chosen.applies) end = apply(path, message, reply);
    auto const who = to.lock();
    if (!who || !chosen.answers) return;
    if (!chosen.error.ok()) return who->ended({chosen.error});
    if (end.outcome.ok()) who->message(std::move(reply));
    who->ended(std::move(end));
  };
  if (chosen.is_held) {
    held_.push_back(std::move(act));
  } else {
    act();
  }
}

void fake_etcd::release() {
  for (auto const& one : std::exchange(held_, {})) one();
}

void fake_etcd::arrived_on_stream(std::uint64_t channel, std::uint64_t number,
                                  std::string const& message) {
  for (auto const& stream : streams_) {
    if (stream.channel == channel && stream.number == number && !is_silent[stream.member]) {
      return keep_alive(stream, message);
    }
  }
}

void fake_etcd::forget(std::uint64_t channel, std::uint64_t number) {
  std::erase_if(streams_,
                [&](auto const& one) { return one.channel == channel && one.number == number; });
}

void fake_etcd::cut_streams(std::size_t member) {
  for (auto const& stream : streams_) {
    auto const who = stream.member == member ? stream.to.lock() : nullptr;
    if (who) who->ended({{errc::unavailable, "cut"}});
  }
  std::erase_if(streams_, [&](auto const& one) { return one.member == member; });
}

void fake_etcd::keep_alive(watcher const& on, std::string const& message) {
  pb::LeaseKeepAliveRequest request;
  request.ParseFromString(message);
  pb::LeaseKeepAliveResponse reply;
  fill(*reply.mutable_header());
  auto const found = leases_.find(request.id());
  reply.set_ttl(found == leases_.end() ? 0 : found->second);
  auto const who = on.to.lock();
  if (who) who->message(reply.SerializeAsString());
}

void fake_etcd::revoke(std::int64_t lease) {
  leases_.erase(lease);
  ++revision_;
  std::vector<std::string> gone;
  for (auto const& one : keys_) {
    if (one.second.lease() == lease) gone.push_back(one.first);
  }
  for (auto const& key : gone) remove(key, {});
  past_[revision_] = keys_;
  notify_watchers();
}

call_end fake_etcd::apply(std::string_view path, std::string const& message, std::string& reply) {
  status why;
  if (path.ends_with("/Txn")) {
    pb::TxnRequest request;
    request.ParseFromString(message);
    pb::TxnResponse response;
    why = apply(request, response);
    reply = response.SerializeAsString();
  } else if (path.ends_with("/Range")) {
    pb::RangeRequest request;
    request.ParseFromString(message);
    pb::RangeResponse response;
    why = apply(request, response);
    reply = response.SerializeAsString();
  } else if (path.ends_with("/LeaseGrant")) {
    pb::LeaseGrantRequest request;
    request.ParseFromString(message);
    if (leases_.count(request.id()) > 0) {
      return {{errc::failed_precondition, "etcdserver: lease already exists"}};
    }
    leases_[request.id()] = request.ttl();
    pb::LeaseGrantResponse response;
    fill(*response.mutable_header());
    response.set_id(request.id());
    response.set_ttl(request.ttl());
    reply = response.SerializeAsString();
  } else if (path.ends_with("/LeaseRevoke")) {
    pb::LeaseRevokeRequest request;
    request.ParseFromString(message);
    if (leases_.count(request.id()) == 0) {
      return {{errc::not_found, "etcdserver: requested lease not found"}};
    }
    revoke(request.id());
    pb::HeaderResponse response;
    fill(*response.mutable_header());
    reply = response.SerializeAsString();
  } else if (path.ends_with("/Compact")) {
    pb::CompactionRequest request;
    request.ParseFromString(message);
    compacted_ = request.revision();
    pb::HeaderResponse response;
    fill(*response.mutable_header());
    reply = response.SerializeAsString();
  } else if (path.ends_with("/Status")) {
    pb::StatusResponse response;
    fill(*response.mutable_header());
    reply = response.SerializeAsString();
  } else if (path.ends_with("/Authenticate")) {
    pb::AuthenticateResponse response;
    fill(*response.mutable_header());
    response.set_token(token_);
    reply = response.SerializeAsString();
  }
  return {why};
}

status fake_etcd::apply(pb::TxnRequest const& what, pb::TxnResponse& reply) {
  bool const succeeds =
      std::all_of(what.compare().begin(), what.compare().end(), [&](auto const& one) {
        auto const found = keys_.find(one.key());
        return holds(one, found == keys_.end() ? mvccpb::KeyValue{} : found->second);
      });
  auto const& branch = succeeds ? what.success() : what.failure();
  bool const writes = std::any_of(branch.begin(), branch.end(),
                                  [](auto const& one) { return !one.has_request_range(); });
  if (writes) ++revision_;
  for (auto const& one : branch) {
    auto& response = *reply.add_responses();
    if (one.has_request_range()) {
      status why = apply(one.request_range(), *response.mutable_response_range());
      if (!why.ok()) return why;
    } else if (one.has_request_put()) {
      auto const& put = one.request_put();
      if (put.lease() != 0 && leases_.count(put.lease()) == 0) {
        return {errc::not_found, "etcdserver: requested lease not found"};
      }
      auto& kv = keys_[put.key()];
      if (kv.create_revision() == 0) kv.set_create_revision(revision_);
      kv.set_key(put.key());
      kv.set_mod_revision(revision_);
      kv.set_value(put.value());
      kv.set_lease(put.lease());
      note(mvccpb::Event::PUT, kv);
    } else {
      remove(one.request_delete_range().key(), one.request_delete_range().range_end());
    }
  }
  if (writes) past_[revision_] = keys_;
  reply.set_succeeded(succeeds);
  fill(*reply.mutable_header());
  notify_watchers();
  return {};
}

status fake_etcd::apply(pb::RangeRequest const& what, pb::RangeResponse& reply) {
  if (what.revision() > 0 && what.revision() < compacted_) {
    return {errc::out_of_range, "etcdserver: mvcc: required revision has been compacted"};
  }
  fill(*reply.mutable_header());
  auto const* at = &keys_;
  if (what.revision() > 0) {
    auto const after = past_.upper_bound(what.revision());
    static std::map<std::string, mvccpb::KeyValue> const nothing;
    at = after == past_.begin() ? &nothing : &std::prev(after)->second;
  }
  for (auto const& [key, kv] : *at) {
    if (!is_in(key, what.key(), what.range_end())) continue;
    reply.set_count(reply.count() + 1);
    if (what.count_only()) continue;
    if (what.limit() > 0 && reply.kvs_size() == what.limit()) {
      reply.set_more(true);
      break;
    }
    *reply.add_kvs() = kv;
  }
  return {};
}

void fake_etcd::remove(std::string const& begin, std::string const& end) {
  std::vector<std::string> gone;
  for (auto const& one : keys_) {
    if (is_in(one.first, begin, end)) gone.push_back(one.first);
  }
  for (auto const& key : gone) {
    keys_.erase(key);
    mvccpb::KeyValue kv;
    kv.set_key(key);
    kv.set_mod_revision(revision_);
    note(mvccpb::Event::DELETE, std::move(kv));
  }
}

void fake_etcd::note(mvccpb::Event::EventType type, mvccpb::KeyValue kv) {
  mvccpb::Event one;
  one.set_type(type);
  *one.mutable_kv() = std::move(kv);
  events_.push_back(std::move(one));
}

void fake_etcd::notify_watchers() {
  for (auto& stream : streams_) {
    auto const who = stream.to.lock();
    if (!stream.is_watch || !who || is_silent[stream.member]) continue;
    pb::WatchResponse response;
    fill(*response.mutable_header());
    if (stream.next < compacted_) {
      response.set_canceled(true);
      response.set_compact_revision(compacted_);
      stream.is_watch = false;
      who->message(response.SerializeAsString());
      continue;
    }
    for (auto const& event : events_) {
      auto const& kv = event.kv();
      bool const is_new =
          kv.mod_revision() >= stream.next && is_in(kv.key(), stream.begin, stream.end);
      if (is_new) *response.add_events() = event;
    }
    stream.next = std::max(stream.next, revision_ + 1);
    if (response.events_size() > 0) who->message(response.SerializeAsString());
  }
}

void fake_etcd::fill(pb::ResponseHeader& header) const {
  header.set_cluster_id(7);
  header.set_revision(revision_);
}

std::string fake_etcd::value(std::string const& key) const {
  auto const found = keys_.find(key);
  return found == keys_.end() ? std::string{} : found->second.value();
}

std::vector<std::string> fake_etcd::keys(std::string const& prefix) const {
  std::vector<std::string> all;
  for (auto const& key : keys_) {
    if (key.first.starts_with(prefix)) all.push_back(key.first);
  }
  return all;
}

int fake_etcd::calls(std::string const& path) const {
  auto const found = calls_.find(path);
  return found == calls_.end() ? 0 : found->second;
}

}  // namespace coxswain::etcd::test
