#pragma once
// A random value of any struct that has a record, as it can arrive: in whole units of the wire.

#include "coxswain/core/model/records.hpp"
#include "tests/fuzz/random_source.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::test {

namespace as = core::as;

template <class T>
concept structure =
    core::described<T> && !std::same_as<T, status> && !std::same_as<T, std::vector<std::int64_t>>;

class value_generator {
 public:
  explicit value_generator(random_source& rng) : rng_{rng} {}

  // All members that the record has.
  template <class T>
  void fill(boxed<T>& to) {
    fill(*to);
  }
  template <class T>
  void fill(T& to) {
    core::record_of<T>.for_each(
        [&]<class Row>(Row const& row) { set(typename Row::meaning{}, row.of(to)); });
    finish(to);
  }

 private:
  template <class Meaning, class T>
  void set(Meaning how, std::optional<T>& to) {
    if (rng_.one_in(3)) return;
    set(how, to.emplace(T{}));
  }
  template <class Meaning, class T>
  void set(Meaning how, std::vector<T>& to) {
    to.resize(rng_.upto(3));
    for (auto& one : to) set(how, one);
  }
  void set(as::distances_t, std::vector<request_id>& to) {
    set(as::plain, to);
    std::sort(to.begin(), to.end());
  }
  template <std::size_t Count, class T>
  void set(as::at_most_t<Count>, std::vector<T>& to) {
    set(as::plain, to);
  }
  template <class T, class Meaning, class... Of>
  void set(as::alternative_t<T, Meaning>, std::variant<Of...>& to) {
    if (rng_.one_in(3)) set(Meaning{}, to.template emplace<T>());
  }

  void set(as::plain_t, bool& to) { to = rng_.one_in(2); }
  template <std::integral T>
  void set(as::plain_t, T& to) {
    using limits = std::numeric_limits<T>;
    to = rng_.one_of(std::array<T, 7>{0, 1, 127, static_cast<T>(128), static_cast<T>(17'000),
                                      limits::min(), limits::max()});
  }
  void set(as::signed_number_t, auto& to) { set(as::plain, to); }
  void set(as::plain_t, float& to) { to = rng_.one_of(std::array{0.0F, 0.5F, -1e30F}); }
  template <class Tag, class Rep>
  void set(as::plain_t, id<Tag, Rep>& to) {
    set(as::plain, to.value);
  }
  void set(as::plain_t, errc& to) { to = errc_of(static_cast<std::uint32_t>(rng_.upto(16))); }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void set(as::plain_t, Enum& to) {
    to = static_cast<Enum>(rng_.upto(static_cast<std::uint64_t>(core::enumeration_of<Enum>.last)));
  }
  void set(as::plain_t, core::absent_value&) {}
  void set(as::secret_t, core::session_secret& to) {
    for (auto& byte : to) byte = static_cast<std::uint8_t>(rng_.upto(255));
  }

  void set(as::plain_t, std::string& to) { to = any_bytes(); }
  void set(as::name_t, std::string& to) { to = any_bytes(); }
  void set(as::value_t, std::string& to) { to = any_value(); }
  void set(as::value_t, bytes& to) { to = bytes{any_value()}; }
  void set(as::secret_t, std::string& to) { to = any_bytes(); }
  void set(as::text_t, std::string& to) { to = any_text(); }
  void set(as::token_t, std::string& to) { to = any_text(); }
  void set(as::plain_t, status& to) { to = any_status(); }
  void set(as::status_code_t, status& to) { to = any_status(); }
  void set(as::status_message_t, status&) {}

  void set(as::timeout_t, duration& to) { to = rng_.one_in(4) ? without_limit : any_time(1ms); }
  void set(as::wide_timeout_t, duration& to) { set(as::timeout, to); }
  void set(as::milliseconds_t, duration& to) { set(as::timeout, to); }
  void set(as::microseconds_t, duration& to) { to = any_time(1us); }
  void set(as::period_t, duration& to) { to = any_time(1ms); }
  void set(as::short_period_t, duration& to) { to = any_time(1ms); }
  void set(as::unix_ms_t, std::optional<wall_time>& to) {
    if (rng_.one_in(2)) to = {1'795'441'987'212, rng_.one_in(2) ? -3600 : 0};
  }
  void set(as::utc_offset_s_t, std::optional<wall_time>&) {}

  template <structure T>
  void set(as::plain_t, T& to) {
    fill(to);
  }

  // What the codec makes of several members.
  template <class T>
  void finish(T&) {}
  void finish(job_error& to) {
    to.later_count = std::max<std::uint64_t>(to.later_count, to.later.size());
  }

  std::string any_bytes() {
    return rng_.one_of(std::array<std::string, 5>{"", "addr/3", "work", std::string{"\0\xff", 2},
                                                  std::string(130, 'k')});
  }
  std::string any_value() {
    return rng_.one_in(4) ? std::string(rng_.upto(5'000), 'v') : any_bytes();
  }
  std::string any_text() {
    return rng_.one_of(
        std::array<std::string, 4>{"", "b12:3391", "Zürich is silent", std::string(130, 't')});
  }
  status any_status() {
    if (rng_.one_in(3)) return {};
    return {errc_of(static_cast<std::uint32_t>(1 + rng_.upto(15))), any_text()};
  }
  duration any_time(duration unit) {
    return rng_.one_of(std::array<std::int64_t, 5>{0, 1, 300, 34'000, 4'000'000'000}) * unit;
  }

  random_source& rng_;
};

template <class T>
[[nodiscard]] T any_value(random_source& rng) {
  T made{};
  value_generator{rng}.fill(made);
  return made;
}

}  // namespace coxswain::test
