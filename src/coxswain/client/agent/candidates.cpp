#include "coxswain/client/agent/candidates.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace coxswain::detail {
namespace {

constexpr std::string_view unix_prefix = "unix:";

}  // namespace

candidates::candidates(std::vector<std::string> list, std::uint64_t seed, bool follows_others)
    : listed_{list.size()}, follows_others_{follows_others}, random_{seed} {
  assert(!list.empty());
  for (auto& address : list) all_.push_back({std::move(address)});
}

void candidates::begin_round() {
  round_.clear();
  if (served_) append(*served_);
  if (hinted_) append(*std::exchange(hinted_, std::nullopt));
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < listed_; ++i) {
    if (is_local(i)) {
      append(i);
    } else {
      others.push_back(i);
    }
  }
  for (std::size_t left = others.size(); left > 1; --left) {
    std::swap(others[left - 1], others[random_.up_to(left - 1)]);
  }
  for (std::size_t const index : others) append(index);
  auto const last = avoided_ ? std::find(round_.begin(), round_.end(), *avoided_) : round_.end();
  if (last != round_.end()) std::rotate(last, last + 1, round_.end());
  avoided_.reset();
}

bool candidates::is_local(std::size_t which) const {
  return all_[which].where.starts_with(unix_prefix);
}

void candidates::append(std::size_t which) {
  if (is_tried(which) || std::find(round_.begin(), round_.end(), which) != round_.end()) return;
  round_.push_back(which);
}

std::size_t candidates::try_next(time_point now) {
  std::size_t const which = round_.front();
  round_.pop_front();
  if (hinted_ == which) hinted_.reset();
  all_[which].tried_at = now;
  all_[which].stage = {};
  return which;
}

void candidates::failed(std::size_t which, bool refused) {
  all_[which].tried_at.reset();
  all_[which].refuses = refused;
}

std::vector<std::size_t> candidates::connected(std::size_t which) {
  all_[which].refuses = false;
  auto others = tried();
  std::erase(others, which);
  for (std::size_t const index : others) all_[index].tried_at.reset();
  round_.insert(round_.begin(), others.begin(), others.end());
  return others;
}

void candidates::serves(std::size_t which) {
  served_ = which;
  hinted_.reset();
  round_.clear();
}

void candidates::hint(std::size_t from, std::string_view address) {
  auto const which = place_for(address);
  if (!which || *which == from) return;
  if (served_ == from) served_ = which;
  hinted_ = which;
  auto const at = std::find(round_.begin(), round_.end(), *which);
  if (at != round_.end()) {
    std::rotate(round_.begin(), at, at + 1);
  } else if (*which == listed_ && !is_tried(listed_)) {
    round_.push_front(listed_);
  }
}

std::optional<std::size_t> candidates::place_for(std::string_view where) {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (all_[i].where == where) return i;
  }
  if (!follows_others_ || where.empty() || where.starts_with(unix_prefix)) return std::nullopt;
  if (all_.size() == listed_) all_.emplace_back();
  if (!is_tried(listed_)) all_[listed_] = {std::string{where}};
  return listed_;
}

std::vector<std::size_t> candidates::tried() const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (is_tried(i)) found.push_back(i);
  }
  return found;
}

bool candidates::is_tried(std::size_t which) const { return all_[which].tried_at.has_value(); }

std::optional<std::size_t> candidates::oldest() const {
  auto const those = tried();
  auto const first = std::min_element(those.begin(), those.end(), [this](auto a, auto b) {
    return all_[a].tried_at < all_[b].tried_at;
  });
  return first == those.end() ? std::nullopt : std::optional{*first};
}

bool candidates::all_refuse() const {
  return std::all_of(all_.begin(), all_.end(),
                     [](candidate const& candidate) { return candidate.refuses; });
}

}  // namespace coxswain::detail
