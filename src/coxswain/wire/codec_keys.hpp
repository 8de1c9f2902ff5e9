#pragma once
// The requests and answers of keys, queues and locks, in both directions. Private to wire/codec.

#include "coxswain/core/model/messages.hpp"
#include "coxswain/v1/coxswain.pb.h"

namespace coxswain::wire {

void encode(core::put_args const& from, v1::ClientMessage& message);
[[nodiscard]] core::put_args decode(v1::Put& from);
void encode(core::get_args const& from, v1::ClientMessage& message);
[[nodiscard]] core::get_args decode(v1::Get& from);
void encode(core::try_get_args const& from, v1::ClientMessage& message);
[[nodiscard]] core::try_get_args decode(v1::TryGet& from);
void encode(core::list_args const& from, v1::ClientMessage& message);
[[nodiscard]] core::list_args decode(v1::List& from);
void encode(core::remove_args const& from, v1::ClientMessage& message);
[[nodiscard]] core::remove_args decode(v1::Remove& from);
void encode(core::remove_tree_args const& from, v1::ClientMessage& message);
[[nodiscard]] core::remove_tree_args decode(v1::RemoveTree& from);
void encode(core::increment_args const& from, v1::ClientMessage& message);
[[nodiscard]] core::increment_args decode(v1::Increment& from);
void encode(core::compare_and_set_args const& from, v1::ClientMessage& message);
[[nodiscard]] core::compare_and_set_args decode(v1::CompareAndSet& from);
void encode(core::append_args const& from, v1::ClientMessage& message);
[[nodiscard]] core::append_args decode(v1::Append& from);
void encode(core::get_all_args const& from, v1::ClientMessage& message);
[[nodiscard]] core::get_all_args decode(v1::GetAll& from);
void encode(core::put_all_args const& from, v1::ClientMessage& message);
[[nodiscard]] core::put_all_args decode(v1::PutAll& from);
void encode(core::count_keys_args const& from, v1::ClientMessage& message);
[[nodiscard]] core::count_keys_args decode(v1::CountKeys& from);
void encode(core::push_args const& from, v1::ClientMessage& message);
[[nodiscard]] core::push_args decode(v1::Push& from);
void encode(core::pop_args const& from, v1::ClientMessage& message);
[[nodiscard]] core::pop_args decode(v1::Pop& from);
void encode(core::watch_keys_args const& from, v1::ClientMessage& message);
[[nodiscard]] core::watch_keys_args decode(v1::WatchKeys& from);
void encode(core::take_args const& from, v1::ClientMessage& message);
[[nodiscard]] core::take_args decode(v1::Take& from);
void encode(core::update_lease_args const& from, v1::ClientMessage& message);
[[nodiscard]] core::update_lease_args decode(v1::UpdateLease& from);
void encode(core::lock_args const& from, v1::ClientMessage& message);
[[nodiscard]] core::lock_args decode(v1::Lock& from);
void encode(core::try_lock_args const& from, v1::ClientMessage& message);
[[nodiscard]] core::try_lock_args decode(v1::TryLock& from);
void encode(core::unlock_args const& from, v1::ClientMessage& message);
[[nodiscard]] core::unlock_args decode(v1::Unlock& from);

void encode(core::value_answer const& from, v1::ServerMessage& message);
[[nodiscard]] core::value_answer decode(v1::Value& from);
void encode(core::counter_answer const& from, v1::ServerMessage& message);
[[nodiscard]] core::counter_answer decode(v1::Counter& from);
void encode(core::removed_answer const& from, v1::ServerMessage& message);
[[nodiscard]] core::removed_answer decode(v1::Removed& from);
void encode(core::listing_answer const& from, v1::ServerMessage& message);
[[nodiscard]] core::listing_answer decode(v1::Listing& from);
void encode(core::stored_answer const& from, v1::ServerMessage& message);
[[nodiscard]] core::stored_answer decode(v1::Stored& from);
void encode(core::count_answer const& from, v1::ServerMessage& message);
[[nodiscard]] core::count_answer decode(v1::Count& from);
void encode(core::key_changes_answer const& from, v1::ServerMessage& message);
[[nodiscard]] core::key_changes_answer decode(v1::KeyChanges& from);

}  // namespace coxswain::wire
