#pragma once
// Some keys with values of one size, for the workloads that read and write them. They are in a
// directory of this process alone: a coordinator that runs already may have others.

#include "crowd.hpp"

#include "coxswain/core/messages.hpp"

#include <cstdint>
#include <string>

namespace coxswain::bench {

class key_set {
 public:
  static constexpr std::uint32_t keys_max = 9'999'999;

  key_set(std::uint32_t keys, std::uint64_t value_bytes);

  [[nodiscard]] std::uint32_t size() const noexcept { return count_; }
  [[nodiscard]] std::string const& directory() const noexcept { return directory_; }
  [[nodiscard]] std::string name(std::uint32_t key) const;  // in the order of the numbers

  [[nodiscard]] core::request put(std::uint32_t key) const;
  [[nodiscard]] core::request get(std::uint32_t key) const;
  [[nodiscard]] core::answer put_answer(std::uint64_t version) const;
  [[nodiscard]] core::answer get_answer(std::uint64_t version) const;
  [[nodiscard]] core::answer list_answer() const;

  // Gives all keys their value, if the server knows of keys. Throws bench_error.
  void store(crowd& by) const;
  // The reverse.
  void remove(crowd& by) const;

 private:
  std::string directory_;
  std::uint32_t count_;
  std::string value_;
};

}  // namespace coxswain::bench
