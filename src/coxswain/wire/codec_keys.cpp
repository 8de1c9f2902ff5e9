#include "coxswain/wire/codec_keys.hpp"

#include "coxswain/wire/codec_fields.hpp"

#include <utility>
#include <variant>

namespace coxswain::wire {
namespace {

template <class Request>
duration lease_of(Request const& from) {
  return from.has_lease_ms() ? timeout_from_wire(from.lease_ms()) : core::lease_default;
}

}  // namespace

void encode(core::put_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_put();
  to.set_key(from.key);
  to.set_value(from.value);
  to.set_overwrite(from.overwrite);
  to.set_ephemeral(from.ephemeral);
  to.set_replaces_predecessor(from.replaces_predecessor);
}

core::put_args decode(v1::Put& from) {
  return {std::move(*from.mutable_key()), std::move(*from.mutable_value()), from.overwrite(),
          from.ephemeral(), from.replaces_predecessor()};
}

void encode(core::get_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_get();
  to.set_key(from.key);
  to.set_timeout_ms(timeout_to_wire(from.timeout));
}

core::get_args decode(v1::Get& from) { return {std::move(*from.mutable_key()), timeout_of(from)}; }

void encode(core::try_get_args const& from, v1::ClientMessage& message) {
  message.mutable_try_get()->set_key(from.key);
}

core::try_get_args decode(v1::TryGet& from) { return {std::move(*from.mutable_key())}; }

void encode(core::list_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_list();
  to.set_directory(from.directory);
  to.set_after(from.after);
  if (from.version) to.set_version(*from.version);
}

core::list_args decode(v1::List& from) {
  core::list_args to{std::move(*from.mutable_directory()), std::move(*from.mutable_after())};
  if (from.has_version()) to.version = from.version();
  return to;
}

void encode(core::remove_args const& from, v1::ClientMessage& message) {
  message.mutable_remove()->set_key(from.key);
}

core::remove_args decode(v1::Remove& from) { return {std::move(*from.mutable_key())}; }

void encode(core::remove_tree_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_remove_tree();
  to.set_directory(from.directory);
  to.set_all(from.all);
  to.set_after(from.after);
}

core::remove_tree_args decode(v1::RemoveTree& from) {
  return {std::move(*from.mutable_directory()), from.all(), std::move(*from.mutable_after())};
}

void encode(core::increment_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_increment();
  to.set_key(from.key);
  to.set_by(from.by);
}

core::increment_args decode(v1::Increment& from) {
  return {std::move(*from.mutable_key()), from.by()};
}

void encode(core::compare_and_set_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_compare_and_set();
  to.set_key(from.key);
  to.set_value(from.value);
  to.set_ephemeral(from.ephemeral);
  if (auto const* version = std::get_if<std::uint64_t>(&from.expected)) {
    to.set_expected_version(*version);
  } else if (auto const* value = std::get_if<std::string>(&from.expected)) {
    to.set_expected_value(*value);
  } else if (std::holds_alternative<core::absent_value>(from.expected)) {
    to.set_expected_absent(true);
  }
}

core::compare_and_set_args decode(v1::CompareAndSet& from) {
  core::compare_and_set_args to;
  to.key = std::move(*from.mutable_key());
  to.value = std::move(*from.mutable_value());
  to.ephemeral = from.ephemeral();
  if (from.has_expected_version()) {
    to.expected = from.expected_version();
  } else if (from.has_expected_value()) {
    to.expected = std::move(*from.mutable_expected_value());
  } else if (from.expected_absent()) {
    to.expected = core::absent_value{};
  }
  return to;
}

void encode(core::append_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_append();
  to.set_key(from.key);
  to.set_value(from.value);
}

core::append_args decode(v1::Append& from) {
  return {std::move(*from.mutable_key()), std::move(*from.mutable_value())};
}

void encode(core::get_all_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_get_all();
  for (auto const& key : from.keys) to.add_keys(key);
  to.set_timeout_ms(timeout_to_wire(from.timeout));
  to.set_without_values(from.without_values);
}

core::get_all_args decode(v1::GetAll& from) {
  core::get_all_args to;
  to.keys.reserve(static_cast<std::size_t>(from.keys_size()));
  for (auto& key : *from.mutable_keys()) to.keys.push_back(std::move(key));
  to.timeout = timeout_of(from);
  to.without_values = from.without_values();
  return to;
}

void encode(core::put_all_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_put_all();
  for (auto const& entry : from.entries) {
    auto& added = *to.add_entries();
    added.set_key(entry.key);
    added.set_value(entry.value);
  }
  to.set_overwrite(from.overwrite);
}

core::put_all_args decode(v1::PutAll& from) {
  core::put_all_args to;
  to.entries.reserve(static_cast<std::size_t>(from.entries_size()));
  for (auto& entry : *from.mutable_entries()) {
    to.entries.push_back({std::move(*entry.mutable_key()), std::move(*entry.mutable_value())});
  }
  to.overwrite = from.overwrite();
  return to;
}

void encode(core::count_keys_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_count_keys();
  to.set_directory(from.directory);
  to.set_of_queue(from.of_queue);
}

core::count_keys_args decode(v1::CountKeys& from) {
  return {std::move(*from.mutable_directory()), from.of_queue()};
}

void encode(core::push_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_push();
  to.set_queue(from.queue);
  to.set_value(from.value);
}

core::push_args decode(v1::Push& from) {
  return {std::move(*from.mutable_queue()), std::move(*from.mutable_value())};
}

void encode(core::pop_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_pop();
  to.set_queue(from.queue);
  to.set_timeout_ms(timeout_to_wire(from.timeout));
}

core::pop_args decode(v1::Pop& from) {
  return {std::move(*from.mutable_queue()), timeout_of(from)};
}

void encode(core::take_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_take();
  to.set_queue(from.queue);
  to.set_timeout_ms(timeout_to_wire(from.timeout));
  to.set_lease_ms(timeout_to_wire(from.lease));
}

core::take_args decode(v1::Take& from) {
  return {std::move(*from.mutable_queue()), timeout_of(from), lease_of(from)};
}

void encode(core::update_lease_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_update_lease();
  to.set_item(from.item);
  to.set_redeliveries(from.redeliveries);
  to.set_change(static_cast<v1::UpdateLease::Change>(from.change));
  if (from.change == core::lease_change::extend) to.set_lease_ms(timeout_to_wire(from.lease));
}

core::update_lease_args decode(v1::UpdateLease& from) {
  auto const change = v1::UpdateLease::Change_IsValid(from.change())
                          ? static_cast<core::lease_change>(from.change())
                          : core::lease_change::unknown;
  bool const is_extended = change == core::lease_change::extend;
  return {from.item(), from.redeliveries(), change,
          is_extended ? lease_of(from) : core::lease_default};
}

void encode(core::watch_keys_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_watch_keys();
  to.set_directory(from.directory);
  if (from.after) to.set_after_version(*from.after);
  if (from.timeout != without_limit) to.set_timeout_ms(timeout_to_wire(from.timeout));
}

core::watch_keys_args decode(v1::WatchKeys& from) {
  core::watch_keys_args to;
  to.directory = std::move(*from.mutable_directory());
  if (from.has_after_version()) to.after = from.after_version();
  if (from.has_timeout_ms()) to.timeout = timeout_from_wire(from.timeout_ms());
  return to;
}

void encode(core::value_answer const& from, v1::ServerMessage& message) {
  auto& to = *message.mutable_value();
  to.set_version(from.version);
  to.set_value(from.value.view().data(), from.value.size());
  if (from.redeliveries) to.set_redeliveries(*from.redeliveries);
}

core::value_answer decode(v1::Value& from) {
  core::value_answer to{bytes{std::move(*from.mutable_value())}, from.version()};
  if (from.has_redeliveries()) to.redeliveries = from.redeliveries();
  return to;
}

void encode(core::counter_answer const& from, v1::ServerMessage& message) {
  auto& to = *message.mutable_counter();
  to.set_value(from.value);
  to.set_version(from.version);
}

core::counter_answer decode(v1::Counter& from) { return {from.value(), from.version()}; }

void encode(core::removed_answer const& from, v1::ServerMessage& message) {
  message.mutable_removed()->set_count(from.count);
  message.mutable_removed()->set_last(from.last);
}

core::removed_answer decode(v1::Removed& from) {
  return {from.count(), std::move(*from.mutable_last())};
}

void encode(core::listing_answer const& from, v1::ServerMessage& message) {
  auto& to = *message.mutable_listing();
  for (auto const& entry : from.entries) {
    auto& added = *to.add_entries();
    added.set_key(entry.key);
    added.set_version(entry.version);
    added.set_value(entry.value.view().data(), entry.value.size());
  }
  to.set_version(from.version);
  to.set_more(from.more);
}

core::listing_answer decode(v1::Listing& from) {
  core::listing_answer to;
  to.entries.reserve(static_cast<std::size_t>(from.entries_size()));
  for (auto& entry : *from.mutable_entries()) {
    to.entries.push_back({std::move(*entry.mutable_key()), bytes{std::move(*entry.mutable_value())},
                          entry.version()});
  }
  to.version = from.version();
  to.more = from.more();
  return to;
}

void encode(core::stored_answer const& from, v1::ServerMessage& message) {
  message.mutable_stored()->set_version(from.version);
  message.mutable_stored()->set_is_volatile(from.is_volatile);
}

core::stored_answer decode(v1::Stored& from) { return {from.version(), from.is_volatile()}; }

void encode(core::count_answer const& from, v1::ServerMessage& message) {
  message.mutable_count()->set_count(from.count);
}

core::count_answer decode(v1::Count& from) { return {from.count()}; }

void encode(core::key_changes_answer const& from, v1::ServerMessage& message) {
  auto& to = *message.mutable_key_changes();
  for (auto const& change : from.changes) {
    auto& added = *to.add_changes();
    added.set_key(change.key);
    added.set_version(change.version);
    if (change.value) added.set_value(change.value->view().data(), change.value->size());
  }
  to.set_version(from.version);
}

core::key_changes_answer decode(v1::KeyChanges& from) {
  core::key_changes_answer to;
  to.changes.reserve(static_cast<std::size_t>(from.changes_size()));
  for (auto& change : *from.mutable_changes()) {
    auto& added = to.changes.emplace_back();
    added.key = std::move(*change.mutable_key());
    added.version = change.version();
    if (change.has_value()) added.value.emplace(std::move(*change.mutable_value()));
  }
  to.version = from.version();
  return to;
}

void encode(core::lock_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_lock();
  to.set_name(from.name);
  to.set_timeout_ms(timeout_to_wire(from.timeout));
}

core::lock_args decode(v1::Lock& from) {
  return {std::move(*from.mutable_name()), timeout_of(from)};
}

void encode(core::try_lock_args const& from, v1::ClientMessage& message) {
  message.mutable_try_lock()->set_name(from.name);
}

core::try_lock_args decode(v1::TryLock& from) { return {std::move(*from.mutable_name())}; }

void encode(core::unlock_args const& from, v1::ClientMessage& message) {
  message.mutable_unlock()->set_name(from.name);
  message.mutable_unlock()->set_token(from.token);
}

core::unlock_args decode(v1::Unlock& from) {
  return {std::move(*from.mutable_name()), from.token()};
}

}  // namespace coxswain::wire
