#include "coxswain/xla/directory_pages.hpp"

#include "coxswain/core/kernel/text.hpp"
#include "coxswain/xla/codec.hpp"

#include <variant>

namespace coxswain::xla {
namespace {

// How often a listing starts again.
constexpr int restarts_max = 8;

}  // namespace

core::request directory_pages::next() const {
  if (why_ == purpose::remove) return core::remove_tree_args{directory_, false, after_};
  core::list_args list{directory_, after_};
  bool const is_bound = version_ != 0 && restarts_ < restarts_max;
  if (is_bound) list.version = version_;
  return list;
}

result<bool> directory_pages::take(core::answer const& page, std::size_t reply_bytes_max) {
  if (auto const* const removed = std::get_if<core::removed_answer>(&page.value)) {
    after_ = removed->last;
    return !after_.empty();
  }
  auto const* const listed = std::get_if<core::listing_answer>(&page.value);
  if (!listed) {
    if (page.outcome.code() != errc::out_of_range) return false;
    restart();
    return true;
  }
  bool const is_first = version_ == 0;
  if (!is_first && listed->version != version_ && restarts_ < restarts_max) {
    restart();
    return true;
  }
  version_ = listed->version;
  for (auto const& entry : listed->entries) append_listed(reply_, entry.key, entry.value.view());
  counted_.count(reply_.size());
  if (reply_.size() > reply_bytes_max) {
    return status{errc::resource_exhausted,
                  "directory " + core::in_quotes(directory_) + " holds more than " +
                      std::to_string(reply_bytes_max) + " bytes, the limit of one reply"};
  }
  if (listed->more) after_ = listed->entries.back().key;
  return listed->more;
}

void directory_pages::restart() {
  ++restarts_;
  reply_.clear();
  after_.clear();
  version_ = 0;
}

std::string directory_pages::release_reply() {
  counted_.count(0);
  return std::move(reply_);
}

}  // namespace coxswain::xla
