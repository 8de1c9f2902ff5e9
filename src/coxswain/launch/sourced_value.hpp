#pragma once
// PUBLIC. What the environment says of one parameter: nothing, a value, or what is not allowed.
// The latter is no error before somebody wants the value.

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

  // `text` names the variables, their values and what is allowed.
  static sourced_value wrong(std::string text, std::string from) {
    sourced_value made;
    made.problem_ = {errc::invalid_argument, std::move(text)};
    made.from_ = std::move(from);
    return made;
  }

  // There is a launcher, but its environment lacks this parameter. `text` is a sentence that says
  // why and what to set.
  static sourced_value missing(std::string text) {
    sourced_value made;
    made.why_missing_ = std::move(text);
    return made;
  }

  // Somebody says something, be it wrong.
  [[nodiscard]] bool is_there() const noexcept { return !from_.empty(); }

  // INVALID_ARGUMENT: what is said is not allowed.
  [[nodiscard]] status const& problem() const noexcept { return problem_; }

  // The variables that say it: "SLURM_PROCID", "MASTER_ADDR and MASTER_PORT".
  [[nodiscard]] std::string const& from() const noexcept { return from_; }

  // Empty: nobody knows why.
  [[nodiscard]] std::string const& why_missing() const noexcept { return why_missing_; }

  // None: nobody says anything. Throws coxswain::error with the problem, if there is one.
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
