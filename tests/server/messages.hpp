#pragma once
// The peer's side of the protocol for tests: messages to bytes, bytes to messages.

#include "coxswain/server/outbox.hpp"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/frame.hpp"
#include "tests/main/contains.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::server {

using test::contains;

inline std::string frame(core::request what, std::uint64_t id = 0,
                         std::optional<task_id> task = std::nullopt,
                         std::uint64_t answered_through = 0) {
  std::string bytes;
  wire::append_frame(bytes, {request_id{id}, answered_through, task, std::move(what)});
  return bytes;
}

inline std::string hello_frame(std::string token = "") {
  return frame(core::hello_args{.token = std::move(token), .label = "test:1"});
}

inline std::string join_frame(std::uint64_t id, std::uint32_t task) {
  return frame(core::join_args{.self = incarnation{1000 + task}}, id, task_id{task});
}

inline std::string barrier_frame(std::uint64_t id, std::uint32_t task, std::string name) {
  return frame(core::barrier_args{.name = std::move(name)}, id, task_id{task});
}

inline std::string put_frame(std::uint64_t id, std::string key, std::string value) {
  return frame(core::put_args{.key = std::move(key), .value = std::move(value)}, id);
}

inline std::string try_get_frame(std::uint64_t id, std::string key) {
  return frame(core::try_get_args{std::move(key)}, id);
}

inline std::string list_frame(std::uint64_t id, std::string directory) {
  return frame(core::list_args{std::move(directory)}, id);
}

// All messages in it; fails if bytes are left over.
class message_reader {
 public:
  void feed(std::string_view bytes) {
    decoder_.feed(bytes);
    for (;;) {
      auto const payload = decoder_.next();
      BOOST_TEST_REQUIRE(payload.has_value());
      if (!*payload) return;
      messages_.push_back(wire::decode_server(**payload).value());
    }
  }

  [[nodiscard]] bool empty() const { return taken_ == messages_.size(); }
  wire::server_message take() {
    BOOST_TEST_REQUIRE(!empty());
    return std::move(messages_[taken_++]);
  }

 private:
  wire::frame_decoder decoder_{wire::message_bytes_max};
  std::vector<wire::server_message> messages_;
  std::size_t taken_{};
};

// The bytes that outbox::fill returns.
inline std::string text_of(std::span<iovec const> pieces) {
  std::string text;
  for (auto const& piece : pieces)
    text.append(static_cast<char const*>(piece.iov_base), piece.iov_len);
  return text;
}

inline std::string next_bytes(outbox const& from) {
  std::array<iovec, 64> room;
  return text_of(from.fill(room));
}

inline core::answer_ptr answer_of(status outcome) {
  return core::make_answer({std::move(outcome), {}});
}

inline core::answer_ptr value_of(bytes value) {
  return core::make_answer({{}, core::value_answer{std::move(value), 1}});
}

inline core::answer_ptr goodbye_of(std::string reason) {
  return core::make_answer({{}, core::goodbye{{errc::unavailable, std::move(reason)}, true}});
}

}  // namespace coxswain::server
