#include "coxswain/server/recording/running_digest.hpp"

#include "coxswain/core/model/records.hpp"
#include "coxswain/core/snapshot/encoding.hpp"
#include "coxswain/core/snapshot/state_writer.hpp"

#include <concepts>
#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace coxswain::server {
namespace {

namespace as = core::as;

// The capacity that buffers keep.
constexpr std::size_t digest_buffer_bytes = 64 * 1024;

template <class T, class... Ts>
concept one_of = (std::same_as<T, Ts> || ...);

// Writes fields after their numbers, and leaves out those that are zero or empty: a new field
// changes no digest as long as it is not used.
class content {
 public:
  explicit content(std::string& to) : to_{to} {}

  void number(std::uint64_t n) {
    for (; n >= 0x80; n >>= 7) to_ += static_cast<char>(n | 0x80);
    to_ += static_cast<char>(n);
  }

  template <class Meaning = as::plain_t, class T>
  void put(T const& what) {
    if constexpr (core::numeric<T>) {
      number(core::encoded(what));
    } else if constexpr (one_of<T, std::string, bytes>) {
      number(what.size());
      constexpr bool is_covered =
          std::same_as<T, std::string> && !std::same_as<Meaning, as::value_t>;
      if constexpr (is_covered) to_ += what;
    } else if constexpr (std::same_as<T, status>) {
      put(what.code());
    } else if constexpr (std::same_as<T, wall_time>) {
      put(what.unix_ms);
      put(what.utc_offset_s);
    } else if constexpr (core::is_list<T>) {
      number(what.size());
      for (auto const& item : what) put<Meaning>(item);
    } else if constexpr (core::is_optional<T>) {
      number(what ? 1 : 0);
      if (what) put<Meaning>(*what);
    } else {
      core::record_of<T>.for_each(
          [&]<class Row>(Row const& row) { field<typename Row::meaning>(row, row.of(what)); });
      number(0);
    }
  }

 private:
  template <class Meaning, class T>
  void field(auto const& row, T const& what) {
    constexpr bool is_left_out =
        one_of<Meaning, as::text_t, as::status_message_t> || std::same_as<T, core::session_secret>;
    if constexpr (!is_left_out) {
      // The state of the job is made of what the other fields say, for people.
      if (what == T{} || row.name == "memory_bytes" || row.name == "job_state") return;
      if constexpr (core::is_variant<T>) {
        alternative(row, what, Meaning{});
      } else {
        number(row.number);
        put<Meaning>(what);
      }
    }
  }

  template <class T, class Meaning>
  void alternative(auto const& row, auto const& what, as::alternative_t<T, Meaning>) {
    if (!std::holds_alternative<T>(what)) return;
    number(row.number);
    put<Meaning>(std::get<T>(what));
  }

  std::string& to_;
};

template <class Value>
void put_answer(content& to, Value const& value) {
  to.number(core::record_of<Value>.number);
  to.put(value);
}
template <class Value>
void put_answer(content& to, boxed<Value> const& value) {
  put_answer(to, *value);
}
void put_answer(content& to, std::monostate) { to.number(0); }

}  // namespace

void running_digest::add(core::outgoing const& message) {
  if (message.what != last_) {
    content_.clear();
    content to{content_};
    to.put(message.what->outcome);
    std::visit([&to](auto const& body) { put_answer(to, body); }, message.what->value);
    last_ = message.what;
    of_last_ = core::digest_of(content_);
  }
  content to{added_};
  to.put(message.to);
  to.put(message.in_reply_to);
  to.number(of_last_);
}

void running_digest::add(core::event const& what) {
  content to{added_};
  to.put(what.level);
  to.put(what.kind);
  to.put(what.task);
  to.put(what.barrier);
}

running_digest::value running_digest::take() {
  auto const digest = hash_(added_);
  for (std::string* const buffer : {&added_, &content_}) {
    buffer->clear();
    if (buffer->capacity() > digest_buffer_bytes) buffer->shrink_to_fit();
  }
  added_.assign(digest.begin(), digest.end());
  last_.reset();
  return digest;
}

}  // namespace coxswain::server
