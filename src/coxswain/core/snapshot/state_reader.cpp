#include "coxswain/core/snapshot/state_reader.hpp"

namespace coxswain::core {

void state_reader::malformed(std::string const& what) const {
  throw error{{errc::data_loss, "the snapshot is damaged at byte " +
                                    std::to_string(size_ - from_.size()) + ": " + what}};
}

void state_reader::share(std::uint32_t number, bytes& value) {
  value = {};
  if (auto const is = reference(number)) {
    check(*is <= contents_.size(), "a reference to a value that is not there");
    if (*is > 0) value = contents_[*is - 1];
    return;
  }
  begin(number);
  std::string content;
  bool is_unmetered{};
  std::size_t omitted{};
  (*this)(1, content);
  (*this)(2, is_unmetered);
  (*this)(3, omitted);
  end(number);
  if (omitted != 0) {
    check(content.empty() && omitted <= omitted_max_, "an omitted value is too long");
    content.assign(omitted, '\0');
  }
  value = bytes{std::move(content), is_unmetered ? nullptr : memory_};
  contents_.push_back(value);
}

std::optional<std::uint64_t> state_reader::reference(std::uint32_t number) {
  look();
  if ((tag_ & 7) == static_cast<std::uint64_t>(wire_type::begin)) return std::nullopt;
  return take_number(number);
}

bool state_reader::is_next(std::uint32_t number) {
  look();
  return tag_ >> 3 == number && (tag_ & 7) != static_cast<std::uint64_t>(wire_type::end);
}

void state_reader::end(std::uint32_t number) {
  look();
  if ((tag_ & 7) != static_cast<std::uint64_t>(wire_type::end)) {
    malformed("field " + std::to_string(tag_ >> 3) + " is unknown here, or missing its end");
  }
  take_tag(number, wire_type::end);
}

std::uint64_t state_reader::take_number(std::uint32_t number) {
  take_tag(number, wire_type::number);
  return varint();
}

std::string_view state_reader::take_text(std::uint32_t number) {
  take_tag(number, wire_type::text);
  std::uint64_t const size = varint();
  check(size <= from_.size(), "a text is cut off");
  std::string_view const content = from_.substr(0, size);
  from_.remove_prefix(size);
  return content;
}

void state_reader::take_tag(std::uint32_t number, wire_type what) {
  look();
  if (tag_ != (std::uint64_t{number} << 3 | static_cast<std::uint64_t>(what))) {
    malformed("field " + std::to_string(number) + " should be here");
  }
  tag_ = 0;
}

// No field has number zero.
void state_reader::look() {
  if (tag_ != 0 || from_.empty()) return;
  tag_ = varint();
  check(tag_ >= 8, "a field has no number");
}

std::uint64_t state_reader::varint() {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    check(!from_.empty(), "it is cut off");
    auto const byte = static_cast<unsigned char>(from_.front());
    from_.remove_prefix(1);
    check(shift < 63 || byte <= 1, "a number is too large");
    number |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return number;
  }
  malformed("a number is too long");
}

}  // namespace coxswain::core
