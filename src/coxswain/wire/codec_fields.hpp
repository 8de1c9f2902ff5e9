#pragma once
// Shared by the two halves of the codec: fields that differ between the wire and the core (text,
// times, outcomes, secrets), and the memory for Protobuf messages. Private to wire/codec.

#include "coxswain/core/model/messages.hpp"
#include "coxswain/v1/coxswain.pb.h"

#include <google/protobuf/arena.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace coxswain::wire {

// A Protobuf message for one encoding or decoding, in a memory block that the thread keeps. Memory
// beyond the block is freed with it, so one large message does not cost memory for ever. Strings
// may be moved out. One at a time per thread.
class scratch {
 public:
  scratch();
  ~scratch();
  scratch(scratch const&) = delete;
  scratch& operator=(scratch const&) = delete;

  template <class Message>
  [[nodiscard]] Message& make() {
#if GOOGLE_PROTOBUF_VERSION >= 5026000
    return *google::protobuf::Arena::Create<Message>(&arena_);
#else
    return *google::protobuf::Arena::CreateMessage<Message>(&arena_);
#endif
  }

 private:
  google::protobuf::Arena& arena_;
};

// Whether the lengths of the message's own fields are valid. Protobuf notices only at the end of a
// nested message that it was longer than its parent, and until then reserves up to 50 MB for a
// string in it.
[[nodiscard]] bool lengths_are_true(std::string_view message) noexcept;

// False if the payload is not a `message`.
[[nodiscard]] bool parse(std::string_view payload, google::protobuf::MessageLite& message);

// Appends the message without a length.
void append_message(std::string& out, google::protobuf::MessageLite const& message);

// Tag and length of a `bytes` or message field whose content follows, for messages whose end is not
// copied into a Protobuf message.
void append_field_head(std::string& out, int field, std::size_t content_bytes);

// From this size on, values are not copied into Protobuf messages.
inline constexpr std::size_t large_value_bytes = 1024;

// The text, with '?' for each byte that is not part of valid UTF-8.
[[nodiscard]] std::string text(std::string_view from);

// Whole milliseconds, rounded up; never negative, which would mean without limit.
[[nodiscard]] std::int64_t timeout_to_wire(duration timeout);
[[nodiscard]] duration timeout_from_wire(std::int64_t milliseconds);

// Whole units, rounded down. `without_limit` is the largest number, and a number too large for a
// duration is `without_limit`.
[[nodiscard]] std::uint64_t to_milliseconds(duration time);
[[nodiscard]] duration from_milliseconds(std::uint64_t count);
[[nodiscard]] std::uint64_t to_microseconds(duration time);
[[nodiscard]] duration from_microseconds(std::uint64_t count);

// The timeout of a request, or the default if it states none.
template <class Request>
[[nodiscard]] duration timeout_of(Request const& request,
                                  duration if_none = core::timeout_default) {
  return request.has_timeout_ms() ? timeout_from_wire(request.timeout_ms()) : if_none;
}

// Parts of several messages. An unknown state becomes `never_connected`, an unknown code UNKNOWN.
[[nodiscard]] v1::TaskState encode(task_state from);
[[nodiscard]] task_state decode(v1::TaskState from);
void encode(status const& from, v1::Status& to);
[[nodiscard]] status decode(v1::Status& from);
void encode(job_error const& from, v1::JobError& to);
[[nodiscard]] job_error decode(v1::JobError& from);
void encode(core::join_args const& from, v1::ClientMessage& message);
[[nodiscard]] core::join_args decode(v1::Join& from);
void encode(core::snapshot const& from, v1::JobStatus& to);
[[nodiscard]] core::snapshot decode(v1::JobStatus& from);
void encode(core::snapshot::task const& from, v1::JobStatus::Task& to);
[[nodiscard]] core::snapshot::task decode(v1::JobStatus::Task& from);

// Watches (codec_watch.cpp). An unknown severity becomes `info`, an unknown kind `other`.
[[nodiscard]] v1::Severity encode(core::severity from);
[[nodiscard]] core::severity decode(v1::Severity from);
void encode(core::alive_answer const& from, v1::AliveReply& to);
[[nodiscard]] core::alive_answer decode(v1::AliveReply& from);
void encode(core::tasks_answer const& from, v1::Tasks& to);
[[nodiscard]] core::tasks_answer decode(v1::Tasks& from);
void encode(core::events_answer const& from, v1::Events& to);
[[nodiscard]] core::events_answer decode(v1::Events& from);
// The reply to why (codec_why.cpp). An unknown kind becomes `barrier`.
void encode(barrier_failure const& from, v1::BarrierFailure& to);
[[nodiscard]] barrier_failure decode(v1::BarrierFailure& from);
void encode(core::why_answer const& from, v1::WhyReply& to);
[[nodiscard]] core::why_answer decode(v1::WhyReply& from);
void encode(core::local_topology const& from, v1::LocalTopology& to);
// More devices than one task may have are cut to one more than that.
[[nodiscard]] core::local_topology decode(v1::LocalTopology& from);
void encode(core::global_topology const& from, v1::GlobalTopology& to);
[[nodiscard]] core::global_topology decode(v1::GlobalTopology& from);

// None if the size is wrong.
[[nodiscard]] std::optional<core::session_secret> secret_of(std::string_view from);
[[nodiscard]] std::string to_wire(core::session_secret const& secret);
[[nodiscard]] status wrong_secret_size(std::string_view message, std::size_t bytes);

}  // namespace coxswain::wire
