#include "coxswain/etcd/election.hpp"

#include "coxswain/etcd/calls.hpp"

#include <utility>

namespace coxswain::etcd {
namespace {

leader leader_in(mvccpb::KeyValue const& from) {
  leader made;
  made.address = from.value();
  made.lease = from.lease();
  made.revision = from.create_revision();
  return made;
}

// The term that is the last one, and the revision of its key.
struct last_term {
  std::uint64_t number{};
  std::int64_t revision{};
};

pb::TxnRequest candidacy(job_keys const& keys, std::string const& address, std::int64_t lease,
                         last_term last) {
  pb::TxnRequest request;
  require_created(request, keys.leader(), 0);
  auto* const same_term = request.add_compare();
  same_term->set_target(pb::Compare::MOD);
  same_term->set_key(keys.epoch());
  same_term->set_mod_revision(last.revision);
  put_on_success(request, keys.leader(), address, lease);
  put_on_success(request, keys.epoch(), std::to_string(last.number + 1));
  read_on_failure(request, keys.leader(), false);
  read_on_failure(request, keys.epoch(), false);
  return request;
}

}  // namespace

asio::awaitable<campaign_result> campaign(std::shared_ptr<client> by, job_keys keys,
                                          std::string address, std::int64_t lease,
                                          time_point give_up_at) {
  campaign_result made;
  last_term last;
  for (;;) {
    auto const reply = co_await transact(by, candidacy(keys, address, lease, last), give_up_at);
    made.why = reply.why;
    if (!made.why.ok()) co_return made;
    if (reply.content.succeeded()) {
      made.is_won = true;
      made.who.address = address;
      made.who.lease = lease;
      made.who.revision = reply.content.header().revision();
      made.term = last.number + 1;
      co_return made;
    }
    auto const* const epoch = found(reply.content, 1);
    last = {};
    if (epoch != nullptr) last = {number_in(epoch->value()), epoch->mod_revision()};
    auto const* const present = found(reply.content, 0);
    if (present == nullptr) continue;  // the term was another one than assumed
    made.who = leader_in(*present);
    made.term = last.number;
    // An earlier try may have been applied although it seemed to fail.
    made.is_won = made.who.lease == lease;
    co_return made;
  }
}

asio::awaitable<status> depose(std::shared_ptr<client> by, job_keys keys, std::int64_t revision,
                               time_point give_up_at) {
  pb::TxnRequest request;
  require_created(request, keys.leader(), revision);
  remove_on_success(request, keys.leader());
  auto const reply = co_await transact(std::move(by), std::move(request), give_up_at);
  co_return reply.why;
}

asio::awaitable<leader_reply> read_leader(std::shared_ptr<client> by, job_keys keys,
                                          time_point give_up_at) {
  pb::RangeRequest request;
  request.set_key(keys.leader());
  auto const reply = co_await range(std::move(by), std::move(request), give_up_at);
  leader_reply made;
  made.why = reply.why;
  if (reply.content.kvs_size() > 0) made.who = leader_in(reply.content.kvs(0));
  co_return made;
}

}  // namespace coxswain::etcd
