#pragma once
// Gets that wait until several keys have values at the same time. Each waits at one of its keys
// that is missing, since before that one comes nothing changes for it. Not here: the keys
// (kv_store), replies and deadlines (coordinator).

#include "coxswain/base/bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::core {

class joint_gets {
 public:
  struct get {
    std::vector<std::string> keys;
    std::size_t at{};        // the key that it waits at
    std::uint64_t waiter{};  // its number there
    std::size_t bytes{};     // what it is counted with
  };

  // Identifies one that waits.
  using number = std::uint64_t;

  explicit joint_gets(std::shared_ptr<memory_meter> memory) : memory_{std::move(memory)} {}
  ~joint_gets();
  joint_gets(joint_gets const&) = delete;
  joint_gets& operator=(joint_gets const&) = delete;

  [[nodiscard]] static std::size_t overhead(std::vector<std::string> const& keys);

  number add(std::vector<std::string> keys);
  [[nodiscard]] get& at(number which) { return gets_.at(which); }
  [[nodiscard]] get const& at(number which) const { return gets_.at(which); }
  void erase(number which);

  [[nodiscard]] std::size_t size() const noexcept { return gets_.size(); }

 private:
  std::shared_ptr<memory_meter> memory_;
  std::map<number, get> gets_;
  number last_{};
};

}  // namespace coxswain::core
