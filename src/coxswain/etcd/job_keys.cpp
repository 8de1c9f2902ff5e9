#include "coxswain/etcd/job_keys.hpp"

#include <array>
#include <charconv>
#include <cstddef>

namespace coxswain::etcd {
namespace {

constexpr std::string_view digits = "0123456789abcdef";

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

template <std::size_t Digits>
std::string hexadecimal(std::uint64_t number) {
  std::string text(Digits, '0');
  for (std::size_t i = Digits; i-- > 0; number >>= 4) text[i] = digits[number & 15];
  return text;
}

}  // namespace

job_keys::job_keys(std::string_view job) : prefix_{"/coxswain/"} {
  for (char const c : job) {
    if (is_plain(c)) {
      prefix_ += c;
    } else {
      prefix_ += "%" + hexadecimal<2>(static_cast<unsigned char>(c));
    }
  }
  prefix_ += '/';
}

std::string job_keys::entry(std::uint64_t number) const {
  return log_begin() + hexadecimal<16>(number);
}

std::string job_keys::snapshot_part(std::uint64_t number, std::uint64_t part) const {
  return snapshots_before(number) + "/" + hexadecimal<8>(part);
}

std::string job_keys::snapshots_before(std::uint64_t number) const {
  return snapshots_begin() + hexadecimal<16>(number);
}

std::optional<std::uint64_t> job_keys::entry_number(std::string_view key) const {
  auto const begin = log_begin();
  if (!key.starts_with(begin) || key.size() != begin.size() + 16) return std::nullopt;
  std::uint64_t number{};
  auto const* const end = key.data() + key.size();
  auto const parsed = std::from_chars(key.data() + begin.size(), end, number, 16);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return number;
}

}  // namespace coxswain::etcd
