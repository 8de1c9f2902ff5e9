#pragma once
// Gets that wait until several keys have values at the same time. Each waits at one of its missing
// keys, since nothing changes for it until that one is set. Then its other keys are checked, a few
// at a time; gets still to be checked are `woken`. Not here: the keys (kv_store), replies and
// deadlines (coordinator).

#include "coxswain/base/bytes.hpp"
#include "coxswain/base/fifo.hpp"
#include "coxswain/core/kernel/ticket.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::core {

class joint_gets {
 public:
  // How many keys are checked when one is set; and in each advance, besides those of one get.
  static constexpr std::size_t looks_per_put = 64;
  static constexpr std::size_t looks_per_advance = 4096;

  // Before keys are removed: a get that has not been checked by then may find them gone.
  static constexpr std::size_t looks_per_removal = 65'536;

  // How many are checked, at most, for a text that names the missing ones.
  static constexpr std::size_t looks_per_text = 1024;

  struct get {
    std::vector<std::string> keys;
    std::size_t at{};        // the key that it waits at, or that is checked next
    std::uint64_t waiter{};  // its number there
    std::size_t bytes{};     // the bytes it is counted with
    std::size_t looked{};    // how many before `at` had values when they were checked
    bool is_woken{};
    bool without_values{};  // in the reply
  };

  // Identifies one that waits.
  using number = std::uint64_t;

  explicit joint_gets(meter_ptr memory) : memory_{std::move(memory)} {}
  ~joint_gets();
  joint_gets(joint_gets const&) = delete;
  joint_gets& operator=(joint_gets const&) = delete;

  [[nodiscard]] static std::size_t overhead(std::vector<std::string> const& keys);

  number add(std::vector<std::string> keys, bool without_values);
  [[nodiscard]] bool has(number which) const { return gets_.contains(which); }
  [[nodiscard]] get& at(number which) { return gets_.at(which); }
  [[nodiscard]] get const& at(number which) const { return gets_.at(which); }
  void erase(number which);

  // Those whose key was set and whose other keys are still to be checked, in that order; some may
  // no longer wait.
  void wake(number which, ticket who);
  [[nodiscard]] fifo<ticket>& woken() noexcept { return woken_; }
  [[nodiscard]] std::size_t count_woken() const;
  [[nodiscard]] bool has_woken() const noexcept { return !woken_.empty(); }

  [[nodiscard]] std::size_t size() const noexcept { return gets_.size(); }

  static void fields(auto& a, auto& s);

 private:
  meter_ptr memory_;
  std::map<number, get> gets_;
  fifo<ticket> woken_;
  number last_{};
};

}  // namespace coxswain::core
