#pragma once
// PUBLIC. One parameter from the environment: absent, a value, or an invalid value. The latter is
// no error until the value is used.

#include "coxswain/base/error.hpp"
#include "coxswain/base/status.hpp"

#include <optional>
#include <string>
#include <utility>

namespace coxswain::launch {

template <class Value>
class sourced_value {
 public:
  sourced_value() = default;
  sourced_value(Value value, std::string from) : value_{std::move(value)}, from_{std::move(from)} {}

  // `text` names the variables, their values and the expected ones.
  static sourced_value wrong(std::string text, std::string from) {
    sourced_value made;
    made.problem_ = {errc::invalid_argument, std::move(text)};
    made.from_ = std::move(from);
    return made;
  }

  // There is a launcher, but its environment lacks this parameter. `text` is a sentence with the
  // reason and what to set.
  static sourced_value missing(std::string text) {
    sourced_value made;
    made.why_missing_ = std::move(text);
    return made;
  }

  // A value is present, valid or not.
  [[nodiscard]] bool is_there() const noexcept { return !from_.empty(); }

  // INVALID_ARGUMENT: the value is invalid.
  [[nodiscard]] status const& problem() const noexcept { return problem_; }

  // The variables it comes from: "SLURM_PROCID", "MASTER_ADDR and MASTER_PORT".
  [[nodiscard]] std::string const& from() const noexcept { return from_; }

  // Empty: no reason is known.
  [[nodiscard]] std::string const& why_missing() const noexcept { return why_missing_; }

  // None if absent. Throws coxswain::error with the problem, if there is one.
  [[nodiscard]] std::optional<Value> const& value() const {
    if (!problem_.ok()) throw error{problem_};
    return value_;
  }

 private:
  std::optional<Value> value_;
  status problem_;
  std::string from_;
  std::string why_missing_;
};

}  // namespace coxswain::launch
