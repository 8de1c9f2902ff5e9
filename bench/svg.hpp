#pragma once
// Writes a drawing as SVG. Places are in pixels from the upper left corner. Not here: what is
// drawn.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::bench {

// For text and for attributes in quotes; what XML does not allow at all becomes a blank.
[[nodiscard]] std::string escaped(std::string_view text);

struct point {
  double x{};
  double y{};
};

class svg {
 public:
  // `style` is CSS for the classes below; `title` is what a screen reader says.
  svg(double width, double height, std::string_view title, std::string_view style);

  // `look` are the classes of an element.
  void rectangle(point corner, point size, double radius, std::string_view look);
  void line(point from, point to, std::string_view look);
  // Points that would be drawn at the same place as the one before are left out.
  void curve(std::vector<point> const& points, std::string_view look);
  void circle(point middle, double radius, std::string_view look);
  void text(point begin, std::string_view what, std::string_view look);

  [[nodiscard]] std::string document() const { return elements_ + "</svg>\n"; }

 private:
  std::string elements_;
};

}  // namespace coxswain::bench
