#include "svg.hpp"

#include <fmt/format.h>

#include <cmath>

namespace coxswain::bench {
namespace {

// Nearer than this nobody sees that there are two points.
constexpr double distance_min = 0.4;

// A tenth of a pixel is enough.
std::string number(double value) {
  return fmt::format("{:.6g}", std::round(value * 10) / 10 + 0.0);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (auto const c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

svg::svg(double width, double height, std::string_view title, std::string_view style)
    : elements_{fmt::format(
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
          "viewBox=\"0 0 {0} {1}\" role=\"img\">\n<title>{2}</title>\n<style>\n{3}</style>\n",
          number(width), number(height), escaped(title), style)} {}

void svg::rectangle(point corner, point size, double radius, std::string_view look) {
  elements_ +=
      fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\" class=\"{}\"/>\n",
                  number(corner.x), number(corner.y), number(size.x), number(size.y),
                  number(radius), escaped(look));
}

void svg::line(point from, point to, std::string_view look) {
  elements_ +=
      fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}\"/>\n", number(from.x),
                  number(from.y), number(to.x), number(to.y), escaped(look));
}

void svg::curve(std::vector<point> const& points, std::string_view look) {
  std::string all;
  point last;
  for (std::size_t i = 0; i < points.size(); ++i) {
    auto const& p = points[i];
    bool const is_end = i == 0 || i + 1 == points.size();
    if (!is_end && std::hypot(p.x - last.x, p.y - last.y) < distance_min) continue;
    all += fmt::format("{}{},{}", all.empty() ? "" : " ", number(p.x), number(p.y));
    last = p;
  }
  elements_ += fmt::format("<polyline points=\"{}\" class=\"{}\"/>\n", all, escaped(look));
}

void svg::circle(point middle, double radius, std::string_view look) {
  elements_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" class=\"{}\"/>\n",
                           number(middle.x), number(middle.y), number(radius), escaped(look));
}

void svg::text(point begin, std::string_view what, std::string_view look) {
  elements_ += fmt::format("<text x=\"{}\" y=\"{}\" class=\"{}\">{}</text>\n", number(begin.x),
                           number(begin.y), escaped(look), escaped(what));
}

}  // namespace coxswain::bench
