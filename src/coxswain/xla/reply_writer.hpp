#pragma once
// Replies from the core's answers, with the texts and payloads that clients look for (
// §14.1). Private to xla. Not here: to whom they go (open_call_table).

#include "coxswain/base/bytes.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/xla/job_failure.hpp"
#include "coxswain/xla/messages.hpp"
#include "coxswain/xla/methods.hpp"
#include "coxswain/xla/open_call_table.hpp"
#include "coxswain/xla/outcome.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace coxswain::xla {

// Null: the answer is another one.
template <class T>
T const* as(core::answer const& what) {
  return std::get_if<T>(&what.value);
}

class reply_writer {
 public:
  // `why` must outlive it. `is_strict`: as upstream's tests require it.
  reply_writer(job_failure const& why, bool is_strict, std::size_t bytes_max, meter_ptr memory);

  // The reply to a call that succeeds; of a directory, it takes all its pages. RESOURCE_EXHAUSTED:
  // it would have more than `bytes_max` bytes, or there is no memory for it.
  [[nodiscard]] result<encoded_reply> succeeded(open_call const& call, core::answer const& what);
  // How a call fails that the core refused with `why`.
  [[nodiscard]] outcome failed(open_call const& call, status const& why) const;

  // Equal listings of tasks are written once until this is called.
  void forget_listings() noexcept { listings_.clear(); }

 private:
  struct kept_listing {
    std::uint64_t version{};
    generation as{};
    std::string job;
    bytes what;
  };

  [[nodiscard]] result<encoded_reply> listing(open_call const& call, core::tasks_answer const& all);
  [[nodiscard]] status check_size(std::size_t bytes) const;

  job_failure const& failure_;
  bool is_strict_;
  std::size_t bytes_max_;
  meter_ptr memory_;
  std::vector<kept_listing> listings_;
};

}  // namespace coxswain::xla
