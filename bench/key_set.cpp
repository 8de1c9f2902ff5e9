#include "key_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include <unistd.h>

namespace coxswain::bench {

key_set::key_set(std::uint32_t keys, std::uint64_t value_bytes)
    : directory_{fmt::format("bench-{:07}", ::getpid())}, count_{keys}, value_(value_bytes, 'v') {}

std::string key_set::name(std::uint32_t key) const {
  return fmt::format("{}/{:07}", directory_, key);
}

core::request key_set::put(std::uint32_t key) const {
  core::put_args put;
  put.key = name(key);
  put.value = value_;
  put.overwrite = true;
  return put;
}

core::request key_set::get(std::uint32_t key) const {
  core::get_args get;
  get.key = name(key);
  return get;
}

core::answer key_set::put_answer(std::uint64_t version) const {
  return {{}, core::stored_answer{version}};
}

core::answer key_set::get_answer(std::uint64_t version) const {
  return {{}, core::value_answer{bytes{value_}, version}};
}

core::answer key_set::list_answer() const {
  core::listing_answer listing;
  for (std::uint32_t key = 0; key < count_; ++key) {
    listing.entries.push_back({name(key), bytes{value_}, key + std::uint64_t{1}});
  }
  listing.version = count_;
  return {{}, std::move(listing)};
}

void key_set::store(crowd& by) const {
  constexpr std::uint32_t at_once = 64;
  if (!by.speaks().has_keys()) return;
  by.speaks().expect({put_answer(count_)});
  for (std::uint32_t first = 0; first < count_; first += at_once) {
    for (auto key = first; key < std::min(count_, first + at_once); ++key) {
      by.ask(0, std::nullopt, put(key));
    }
    by.run("the end of its put");
  }
}

void key_set::remove(crowd& by) const {
  if (!by.speaks().has_sessions()) return;
  by.speaks().expect({core::answer{{}, core::removed_answer{count_}}});
  core::remove_args all;
  all.key = directory_;
  by.ask(0, std::nullopt, std::move(all));
  by.run("the end of the removal");
}

}  // namespace coxswain::bench
