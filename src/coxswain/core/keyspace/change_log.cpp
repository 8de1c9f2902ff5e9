#include "coxswain/core/keyspace/change_log.hpp"

#include <cassert>
#include <utility>

namespace coxswain::core {
namespace {

std::size_t bytes_of(key_change const& c) { return c.key.size() + (c.value ? c.value->size() : 0); }

}  // namespace

change_log::~change_log() {
  while (forget_oldest()) continue;
}

void change_log::add(key_change what) {
  assert(what.version == last_ + 1);
  last_ = what.version;
  bytes_ += bytes_of(what);
  memory_->add(overhead(what.key));
  if (what.value) what.value->hold(holder::core);
  changes_.push_back(std::move(what));
  while (changes_.size() > limits_.changes_max ||
         (bytes_ > limits_.bytes_max && changes_.size() > 1)) {
    forget_oldest();
  }
}

// It was added long ago.
void change_log::expect_oldest() const noexcept {
  if (!changes_.empty() && changes_.front().value) changes_.front().value->prefetch();
}

bool change_log::forget_oldest() {
  if (changes_.empty()) return false;
  bytes_ -= bytes_of(changes_.front());
  memory_->subtract(overhead(changes_.front().key));
  if (changes_.front().value) changes_.front().value->let_go(holder::core);
  changes_.pop_front();
  expect_oldest();
  return true;
}

}  // namespace coxswain::core
