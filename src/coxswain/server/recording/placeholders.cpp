#include "coxswain/server/recording/placeholders.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/base/little_endian.hpp"
#include "coxswain/core/model/records.hpp"
#include "coxswain/server/entropy.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <type_traits>
#include <variant>

namespace coxswain::server {
namespace {

// Marks an operand that is stored unchanged.
constexpr char literal = '=';

// In the place of an expected value that the key has, or of a put one; and of one that it does not
// have.
constexpr std::string_view held = "held";
constexpr std::string_view not_held = "not held";

// Visits the values of a request, but for the one that a CompareAndSet expects.
template <class Args, class Visit>
void visit_values(Args& args, Visit const& visit) {
  core::each_member_of<core::as::value_t>(args, visit);
}

std::string_view text_of(core::session_secret const& digest) {
  return {reinterpret_cast<char const*>(digest.data()), digest.size()};
}

std::string placeholder(std::string const& value) { return std::to_string(value.size()); }

std::string placeholder(core::barrier_args const& barrier, digester const& by) {
  auto const& operand = barrier.data;
  switch (barrier.reduce) {
    case core::reduction::all_equal:
      return placeholder(operand) + ' ' + std::string{text_of(by.digest(operand))};
    case core::reduction::sum_int64:
      return operand.size() == number_bytes ? literal + operand : placeholder(operand);
    default: return placeholder(operand);
  }
}

// A secret of the same kind: valid if it was.
std::string placeholder_for_grant(std::string const& secret, digester const& by) {
  bool const is_one = secret.size() >= core::grant_secret_bytes_min &&
                      secret.size() <= core::grant_secret_bytes_max;
  if (is_one) return std::string{text_of(by.digest(secret))};
  return std::string(secret.size(), 'x');
}

struct expectation {
  std::string const& key;
  std::string& value;
};
std::optional<expectation> expectation_in(core::request& what) {
  auto* const args = std::get_if<core::compare_and_set_args>(&what);
  auto* const value = args ? std::get_if<std::string>(&args->expected) : nullptr;
  if (!value) return std::nullopt;
  return expectation{args->key, *value};
}

error no_placeholder() {
  return error{{errc::invalid_argument,
                "The recording has something in the place of a value that stands for none."}};
}

}  // namespace

digester::digester() : hash_{text_of(draw_secret())} {}

core::session_secret digester::digest(std::string_view text) const { return hash_(text); }

core::session_secret digester::digest(core::session_secret const& secret) const {
  return digest(text_of(secret));
}

bool needs_placeholders(core::request const& what) {
  return std::visit(
      []<class Args>(Args const& args) {
        bool is_needed = std::is_same_v<Args, core::compare_and_set_args> ||
                         std::is_same_v<Args, core::increment_args>;
        auto const look = [&](auto const& hidden) { is_needed |= hidden.size() != 0; };
        visit_values(args, look);
        core::each_member_of<core::as::secret_t>(args, look);
        core::each_member_of<core::as::token_t>(args, look);
        return is_needed;
      },
      what);
}

bool is_replaced_by_length(core::request const& what) {
  auto const* const barrier = std::get_if<core::barrier_args>(&what);
  return barrier == nullptr || (barrier->reduce != core::reduction::all_equal &&
                                barrier->reduce != core::reduction::sum_int64);
}

void write_placeholder(std::span<char> value) noexcept {
  std::ranges::fill(value, '0');
  auto length = value.size();
  for (auto at = value.rbegin(); length != 0; length /= 10) {
    *at++ = static_cast<char>('0' + length % 10);
  }
}

std::optional<std::string> placeholder_for_value(core::request const& what, digester const& by) {
  auto const of = [](std::string const& value) {
    return value.empty() ? std::nullopt : std::optional{placeholder(value)};
  };
  if (auto const* const put = std::get_if<core::put_args>(&what)) return of(put->value);
  if (auto const* const append = std::get_if<core::append_args>(&what)) return of(append->value);
  if (auto const* const push = std::get_if<core::push_args>(&what)) return of(push->value);
  auto const* const barrier = std::get_if<core::barrier_args>(&what);
  if (barrier && !barrier->data.empty()) return placeholder(*barrier, by);
  return std::nullopt;
}

redaction::redaction(core::client_message& message, core::coordinator const& receiver,
                     digester const& by) {
  if (auto const expected = expectation_in(message.what)) {
    auto const has = receiver.value(expected->key);
    bool const is_held = has && has->value.view() == expected->value;
    texts_.replace(expected->value, std::string{is_held ? held : not_held});
  }
  auto const* const barrier = std::get_if<core::barrier_args>(&message.what);
  bool const is_compared = receiver.compares_value(message.what);
  if (is_compared) {
    auto& put = std::get<core::put_args>(message.what);
    auto const has = receiver.value(put.key);
    texts_.replace(put.value, std::string{has->value.view() == put.value ? held : not_held});
  }
  auto const redact = [&](std::string& value) {
    if (!value.empty() && !is_compared)
      texts_.replace(value, barrier ? placeholder(*barrier, by) : placeholder(value));
  };
  std::visit([&](auto& args) { visit_values(args, redact); }, message.what);
  auto const hide = [&]<class Secret>(Secret& secret) {
    if constexpr (std::is_same_v<Secret, std::string>)
      texts_.replace(secret, placeholder_for_grant(secret, by));
  };
  std::visit([&](auto& args) { core::each_member_of<core::as::secret_t>(args, hide); },
             message.what);
  resume_ = std::get_if<core::resume_args>(&message.what);
  if (resume_) secret_ = std::exchange(resume_->secret, by.digest(resume_->secret));
}

redaction::~redaction() {
  if (resume_) resume_->secret = secret_;
}

text_replacement::~text_replacement() {
  for (auto& [at, text] : texts_) *at = std::move(text);
}

void text_replacement::replace(std::string& text, std::string by) {
  texts_.emplace_back(&text, std::exchange(text, std::move(by)));
}

std::optional<std::int64_t> held_number(core::client_message const& message,
                                        core::coordinator const& receiver) {
  auto const* const args = std::get_if<core::increment_args>(&message.what);
  if (!args) return std::nullopt;
  auto const has = receiver.value(args->key);
  if (!has) return std::nullopt;
  auto const text = has->value.view();
  std::int64_t number = 0;
  auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  bool const is_whole = problem == std::errc{} && end == text.data() + text.size();
  return is_whole ? std::optional{number} : std::nullopt;
}

void restoration::restore(core::client_message& message, core::coordinator const& receiver) {
  if (auto* const put = std::get_if<core::put_args>(&message.what)) {
    bool const is_held = put->value == held;
    if (is_held || put->value == not_held) {
      auto const has = receiver.value(put->key);
      if (!has || has->value.size() == 0) throw no_placeholder();
      put->value = has->value.view();
      if (!is_held) put->value.front() = static_cast<char>(put->value.front() ^ 1);
      return;
    }
  }
  auto bytes_left = receiver.options().frame_bytes_max();
  auto const restore_one = [&](std::string& value) { restore(value, bytes_left); };
  std::visit([&](auto& args) { visit_values(args, restore_one); }, message.what);
  auto const expected = expectation_in(message.what);
  if (!expected) return;
  auto const has = receiver.value(expected->key);
  auto const present = has ? has->value.view() : std::string_view{};
  if (expected->value == held) {
    expected->value = present;
  } else {
    expected->value = std::string{present} + 'x';
  }
}

void restoration::restore(std::string& value, std::size_t& bytes_left) {
  if (value.empty()) return;
  if (value.front() == literal) {
    value.erase(0, 1);
    return;
  }
  std::size_t length = 0;
  auto const* const end = value.data() + value.size();
  auto const [at, problem] = std::from_chars(value.data(), end, length);
  if (problem != std::errc{} || (at != end && *at != ' ')) throw no_placeholder();
  if (length > bytes_left) {
    throw error{{errc::invalid_argument,
                 "A value that the recording leaves out is larger than its coordinator took."}};
  }
  bytes_left -= length;
  std::string made;
  if (at != end) {
    auto& numbers = numbers_[length];
    made = to_little_endian(numbers.try_emplace({at + 1, end}, numbers.size()).first->second);
  }
  made.resize(length, 'x');
  value = std::move(made);
}

}  // namespace coxswain::server
