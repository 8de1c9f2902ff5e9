#include "coxswain/server/recording/seekable_replay.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace coxswain::server {

seekable_replay::seekable_replay(replay of, limits within)
    : limits_{within}, replay_{std::move(of)} {
  keep_bookmark();
  for (std::size_t records = 1; replay_.step(); ++records) {
    if (records % limits_.records_between == 0) keep_bookmark();
  }
  ends_ = at_ = replay_.reached();
}

void seekable_replay::keep_bookmark() {
  bookmarks_.push_back(replay_.mark());
  bookmark_bytes_ += bookmarks_.back().bytes();
  while (bookmarks_.size() > 1 &&
         (bookmarks_.size() > limits_.bookmarks_max || bookmark_bytes_ > limits_.bytes_max)) {
    thin_out();
  }
}

// Drops every other one, but never the beginning.
void seekable_replay::thin_out() {
  limits_.records_between *= 2;
  std::vector<replay::bookmark> left;
  bookmark_bytes_ = 0;
  for (std::size_t i = 0; i < bookmarks_.size(); i += 2) {
    bookmark_bytes_ += bookmarks_[i].bytes();
    left.push_back(std::move(bookmarks_[i]));
  }
  bookmarks_ = std::move(left);
}

void seekable_replay::seek(duration to) {
  to = std::clamp(to, begins(), ends_);
  // The beginning is never later than `to`.
  auto const after = std::upper_bound(
      std::next(bookmarks_.begin()), bookmarks_.end(), to,
      [](duration moment, replay::bookmark const& one) { return moment < one.reached(); });
  auto const& nearest = *std::prev(after);
  bool const is_ahead = replay_.reached() > to || replay_.reached() < nearest.reached();
  if (is_ahead) replay_.go_to(nearest);
  replayed_ = 0;
  while (replay_.step(to)) ++replayed_;
  at_ = to;
}

}  // namespace coxswain::server
