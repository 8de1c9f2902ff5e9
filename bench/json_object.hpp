#pragma once
// A JSON object that is written in order. Not here: what is told in it (json).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::bench {

class json_object {
 public:
  void add(std::string_view key, double value);  // null if there is no such number in JSON
  void add(std::string_view key, std::uint64_t value);
  void add(std::string_view key, std::optional<double> value);  // left out if there is none
  void add(std::string_view key, std::string_view value);
  void add(std::string_view key, std::vector<double> const& values);
  void add(std::string_view key, std::vector<json_object> const& values);
  void add(std::string_view key, json_object const& inner);
  void add_flag(std::string_view key, bool value);

  [[nodiscard]] std::string text() const { return "{" + members_ + "}"; }

 private:
  void add_raw(std::string_view key, std::string_view value);

  std::string members_;
};

}  // namespace coxswain::bench
