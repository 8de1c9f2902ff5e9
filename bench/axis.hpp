#pragma once
// Where a value lies on a line, and which values are written beside it, so that people can read it.
// Not here: how long the line is, and how it is drawn (chart).

#include <string>
#include <vector>

namespace coxswain::bench {

struct tick {
  double value{};
  std::string label;  // empty: a small tick between two that have one
};

class axis {
 public:
  // Nanoseconds, logarithmic; some room is left at both ends.
  [[nodiscard]] static axis times(double low, double high);
  // Such as tasks, logarithmic; some room is left at both ends.
  [[nodiscard]] static axis counts(double low, double high);
  // From zero; some room is left at the upper end.
  [[nodiscard]] static axis counts_up_to(double high);
  [[nodiscard]] static axis bytes_up_to(double high);
  // Parts of a whole (more than 0, less than 1), the more stretched the nearer they are to 0 or 1:
  // from 90 to 99 % is as far as from 99 to 99.9 %.
  [[nodiscard]] static axis shares(double low, double high);

  // 0 at its beginning, 1 at its end; a value beyond an end is put there.
  [[nodiscard]] double place(double value) const;
  [[nodiscard]] double low() const noexcept { return low_; }
  [[nodiscard]] double high() const noexcept { return high_; }
  // Rising, all between the ends.
  [[nodiscard]] std::vector<tick> const& ticks() const noexcept { return ticks_; }

 private:
  using scale = double (*)(double);
  using wording = std::string (*)(double);

  axis(double low, double high, scale of) : low_{low}, high_{high}, scale_{of} {}
  static axis logarithmic(double low, double high, wording say);
  void add(double value, std::string label);
  void add_even(double step, wording say);
  void add_by_decades(wording say);

  double low_;
  double high_;
  scale scale_;
  std::vector<tick> ticks_;
};

}  // namespace coxswain::bench
