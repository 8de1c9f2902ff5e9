#include "coxswain/wire/codec_epochs.hpp"

#include "coxswain/wire/codec_fields.hpp"

#include <utility>

namespace coxswain::wire {

void encode(core::next_epoch_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_next_epoch();
  to.set_timeout_ms(timeout_to_wire(from.timeout));
  to.set_after(from.after);
  to.set_shrink_only(from.shrink_only);
}

core::next_epoch_args decode(v1::NextEpoch& from) {
  return {timeout_of(from), from.after(), from.shrink_only()};
}

void encode(core::epoch_members_args from, v1::ClientMessage& message) {
  message.mutable_epoch_members()->set_first_task(from.first_task.value);
}

core::epoch_members_args decode(v1::EpochMembers& from) { return {task_id{from.first_task()}}; }

void encode(core::resize_args from, v1::ClientMessage& message) {
  message.mutable_resize()->set_num_tasks(from.num_tasks);
}

core::resize_args decode(v1::Resize& from) { return {from.num_tasks()}; }

void encode(core::epoch_answer const& from, v1::Epoch& to) {
  to.set_number(from.number);
  to.set_size(from.size);
  to.set_rank(from.rank.value);
  to.set_address(text(from.address));
  to.set_lost(from.lost);
  to.set_joined(from.joined);
}

core::epoch_answer decode(v1::Epoch& from) {
  return {from.number(), from.size(),  task_id{from.rank()}, std::move(*from.mutable_address()),
          from.lost(),   from.joined()};
}

void encode(core::epoch_answer const& from, v1::ServerMessage& message) {
  encode(from, *message.mutable_epoch());
}

void encode(core::epoch_members_answer const& from, v1::ServerMessage& message) {
  auto& to = *message.mutable_epoch_members();
  to.set_epoch(from.epoch);
  for (auto const& one : from.members) {
    auto& added = *to.add_members();
    added.set_member(one.name);
    added.set_incarnation(one.self.value);
    added.set_label(text(one.label));
    added.set_peer(text(one.peer));
    added.set_survivor(one.survivor);
  }
  if (from.next_task) to.set_next_task(from.next_task->value);
}

core::epoch_members_answer decode(v1::EpochMembersReply& from) {
  core::epoch_members_answer to;
  to.epoch = from.epoch();
  to.members.reserve(static_cast<std::size_t>(from.members_size()));
  for (auto& one : *from.mutable_members()) {
    to.members.push_back({std::move(*one.mutable_member()), incarnation{one.incarnation()},
                          std::move(*one.mutable_label()), std::move(*one.mutable_peer()),
                          one.survivor()});
  }
  if (from.has_next_task()) to.next_task = task_id{from.next_task()};
  return to;
}

void encode(core::epoch_ends const& from, v1::ServerMessage& message) {
  auto& to = *message.mutable_epoch_ends();
  to.set_epoch(from.epoch);
  to.set_why(static_cast<v1::EpochEnds::Why>(from.why));
  to.set_text(text(from.text));
  to.set_joiners(from.joiners);
}

core::epoch_ends decode(v1::EpochEnds& from) {
  auto const why = v1::EpochEnds::Why_IsValid(from.why())
                       ? static_cast<core::epoch_ends::cause>(from.why())
                       : core::epoch_ends::cause::asked;
  return {from.epoch(), why, std::move(*from.mutable_text()), from.joiners()};
}

}  // namespace coxswain::wire
