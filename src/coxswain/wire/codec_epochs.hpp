#pragma once
// Requests and answers of elastic jobs <-> Protobuf.

#include "coxswain/core/model/messages.hpp"
#include "coxswain/v1/coxswain.pb.h"

namespace coxswain::wire {

void encode(core::next_epoch_args const& from, v1::ClientMessage& message);
[[nodiscard]] core::next_epoch_args decode(v1::NextEpoch& from);

void encode(core::epoch_members_args from, v1::ClientMessage& message);
[[nodiscard]] core::epoch_members_args decode(v1::EpochMembers& from);

void encode(core::resize_args from, v1::ClientMessage& message);
[[nodiscard]] core::resize_args decode(v1::Resize& from);

void encode(core::epoch_answer const& from, v1::Epoch& to);
void encode(core::epoch_answer const& from, v1::ServerMessage& message);
[[nodiscard]] core::epoch_answer decode(v1::Epoch& from);

void encode(core::epoch_members_answer const& from, v1::ServerMessage& message);
[[nodiscard]] core::epoch_members_answer decode(v1::EpochMembersReply& from);

void encode(core::epoch_ends const& from, v1::ServerMessage& message);
[[nodiscard]] core::epoch_ends decode(v1::EpochEnds& from);

}  // namespace coxswain::wire
