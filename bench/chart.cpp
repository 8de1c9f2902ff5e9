#include "chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string_view>

namespace coxswain::bench {
namespace {

constexpr double width = 900;
constexpr double margin = 28;
constexpr double plot_left = 84;
constexpr double plot_right = width - 72;
constexpr double plot_height = 380;
constexpr double text_width = width - 2 * margin;
constexpr std::size_t many_dots = 12;
constexpr double figure_width = 96;  // of a column of the legend

// Of an average character, by the size of the type: more than system fonts need.
constexpr double character_width = 0.53;
constexpr double bold_character_width = 0.6;

constexpr std::string_view style = R"(  svg { color-scheme: light dark;
    --ground: #ffffff; --frame: #d8dee4; --ink: #1f2328; --faint: #59636e; --grid: #e6eaef;
    --guide: #b3bcc6; --first: #0b62d6; --second: #c2570c; --alarm: #b3261e; }
  @media (prefers-color-scheme: dark) { svg {
    --ground: #0f141a; --frame: #313a44; --ink: #e6edf3; --faint: #9da7b3; --grid: #232b34;
    --guide: #4d5864; --first: #62a8ff; --second: #f2a155; --alarm: #ff8a80; } }
  text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans",
    sans-serif; font-size: 12px; fill: var(--ink); font-variant-numeric: tabular-nums; }
  .ground { fill: var(--ground); stroke: var(--frame); }
  .title { font-size: 17px; font-weight: 600; }
  .faint { fill: var(--faint); }
  .small { font-size: 10.5px; fill: var(--faint); }
  .alarm { fill: var(--alarm); }
  .end { text-anchor: end; }
  .middle { text-anchor: middle; }
  .grid { stroke: var(--grid); }
  .guide { stroke: var(--guide); stroke-dasharray: 2 3; }
  .frame { stroke: var(--faint); }
  polyline { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
  polyline.first { stroke: var(--first); }
  polyline.second { stroke: var(--second); stroke-dasharray: 7 4; }
  circle { stroke: var(--ground); stroke-width: 1.2; fill-opacity: 0.85; }
  circle.first { fill: var(--first); }
  circle.second { fill: var(--second); }
)";

std::string_view look_of(colour c) { return c == colour::first ? "first" : "second"; }

// Text that is set from the top down; what does not fit a line is broken.
struct paragraph {
  std::vector<std::string> lines;
  double step{};
  std::string_view look;
  [[nodiscard]] double height() const { return step * static_cast<double>(lines.size()); }
};

paragraph set(std::string const& text, double type_size, std::string_view look,
              double of_a_character = character_width) {
  auto const fit = static_cast<std::size_t>(text_width / (of_a_character * type_size));
  return {wrapped(text, fit), type_size * 1.45, look};
}

double height_of(std::vector<paragraph> const& all) {
  double sum = 0;
  for (auto const& p : all) sum += p.height();
  return sum;
}

class drawing {
 public:
  explicit drawing(chart const& c);
  [[nodiscard]] std::string document() const { return out_.document(); }

 private:
  static constexpr double legend_step = 20;
  static constexpr double above_plot = 44;  // with the upright axis's title
  static constexpr double below_plot = 58;  // with ticks and title of the lower axis

  [[nodiscard]] double legend_height() const {
    auto const rows = chart_.curves.size() + (chart_.headings.empty() ? 0 : 1);
    return legend_step * static_cast<double>(rows);
  }
  [[nodiscard]] double height() const {
    return margin + height_of(above_) + 10 + legend_height() + above_plot + plot_height +
           below_plot + height_of(below_) + margin / 2;
  }
  [[nodiscard]] double top() const { return bottom_ - plot_height; }
  [[nodiscard]] double x_of(double value) const {
    return plot_left + chart_.x.place(value) * (plot_right - plot_left);
  }
  [[nodiscard]] double y_of(double value) const {
    return bottom_ - chart_.y.place(value) * plot_height;
  }
  [[nodiscard]] point at(point p) const { return {x_of(p.x), y_of(p.y)}; }

  void write(std::vector<paragraph> const& all);
  void legend();
  void across();
  void upright();
  void guides();
  void curves();

  chart const& chart_;
  std::vector<paragraph> above_;
  std::vector<paragraph> below_;
  svg out_;
  double y_{margin};  // what is above has been drawn
  double bottom_{};   // of the plot
};

std::vector<paragraph> above(chart const& c) {
  std::vector<paragraph> all{set(c.title, 17, "title", bold_character_width)};
  for (auto const& s : c.subtitles) all.push_back(set(s, 12, "faint"));
  return all;
}

std::vector<paragraph> below(chart const& c) {
  std::vector<paragraph> all;
  for (auto const& w : c.warnings) all.push_back(set(w, 12, "alarm"));
  all.push_back(set(c.origin, 10.5, "small"));
  return all;
}

drawing::drawing(chart const& c)
    : chart_{c}, above_{above(c)}, below_{below(c)}, out_{width, height(), c.title, style} {
  out_.rectangle({0.5, 0.5}, {width - 1, height() - 1}, 8, "ground");
  write(above_);
  y_ += 10;
  legend();
  bottom_ = y_ + above_plot + plot_height;
  upright();
  across();
  guides();
  curves();
  y_ = bottom_ + below_plot;
  write(below_);
}

void drawing::write(std::vector<paragraph> const& all) {
  for (auto const& p : all) {
    for (auto const& l : p.lines) {
      y_ += p.step;
      out_.text({margin, y_ - 0.3 * p.step}, l, p.look);
    }
  }
}

// A row for each curve, the one on top first.
void drawing::legend() {
  auto const column = [this](std::size_t i) {
    return plot_right - figure_width * static_cast<double>(chart_.headings.size() - 1 - i);
  };
  if (!chart_.headings.empty()) {
    y_ += legend_step;
    for (std::size_t i = 0; i < chart_.headings.size(); ++i) {
      out_.text({column(i), y_ - 6}, chart_.headings[i], "faint end");
    }
  }
  for (auto c = chart_.curves.rbegin(); c != chart_.curves.rend(); ++c) {
    y_ += legend_step;
    auto const look = look_of(c->drawn_in);
    if (!c->line.empty()) out_.curve({{margin, y_ - 10}, {margin + 32, y_ - 10}}, look);
    if (!c->dots.empty()) out_.circle({margin + 16, y_ - 10}, 4, look);
    out_.text({margin + 42, y_ - 6}, c->name, "");
    for (std::size_t i = 0; i < c->figures.size(); ++i) {
      out_.text({column(i), y_ - 6}, c->figures[i], "end");
    }
  }
}

// A label that would touch the one before is left out.
void drawing::across() {
  double free_from = 0;
  for (auto const& t : chart_.x.ticks()) {
    auto const x = x_of(t.value);
    bool const is_named = !t.label.empty();
    if (is_named) out_.line({x, top()}, {x, bottom_}, "grid");
    out_.line({x, bottom_}, {x, bottom_ + (is_named ? 6 : 3)}, "frame");
    auto const half = static_cast<double>(t.label.size()) * 12 * character_width / 2;
    if (!is_named || x - half < free_from) continue;
    out_.text({x, bottom_ + 20}, t.label, "middle");
    free_from = x + half + 4;
  }
  out_.line({plot_left, bottom_}, {plot_right, bottom_}, "frame");
  out_.text({(plot_left + plot_right) / 2, bottom_ + 42}, chart_.across, "faint middle");
}

void drawing::upright() {
  out_.text({margin, top() - 18}, chart_.upright, "faint");
  auto free_from = bottom_ + 14;
  for (auto const& t : chart_.y.ticks()) {
    auto const y = y_of(t.value);
    bool const is_named = !t.label.empty();
    if (is_named) out_.line({plot_left, y}, {plot_right, y}, "grid");
    out_.line({plot_left - (is_named ? 6 : 3), y}, {plot_left, y}, "frame");
    if (!is_named || y + 7 > free_from) continue;
    out_.text({plot_left - 10, y + 4}, t.label, "end");
    free_from = y - 7;
  }
  out_.line({plot_left, top()}, {plot_left, bottom_}, "frame");
}

void drawing::guides() {
  for (auto const& g : chart_.guides) {
    if (g.value < chart_.y.low() || g.value > chart_.y.high()) continue;
    auto const y = y_of(g.value);
    out_.line({plot_left, y}, {plot_right, y}, "guide");
    out_.text({plot_right + 8, y + 4}, g.name, "faint");
  }
}

void drawing::curves() {
  for (auto const& c : chart_.curves) {
    std::vector<point> places;
    for (auto const& p : c.line) places.push_back(at(p));
    if (!places.empty()) out_.curve(places, look_of(c.drawn_in));
  }
  for (auto const& c : chart_.curves) {
    auto const radius = c.dots.size() > many_dots ? 3 : 4;
    for (auto const& d : c.dots) out_.circle(at(d), radius, look_of(c.drawn_in));
  }
}

}  // namespace

std::vector<std::string> wrapped(std::string const& text, std::size_t characters) {
  std::vector<std::string> lines;
  std::istringstream words{text};
  for (std::string word; words >> word;) {
    if (lines.empty() || lines.back().size() + 1 + word.size() > characters)
      lines.push_back(word);
    else
      lines.back() += " " + word;
  }
  return lines;
}

std::string to_svg(chart const& c) { return drawing{c}.document(); }

}  // namespace coxswain::bench
