#pragma once
// A chart of curves over two axes, with a table of figures as its legend. It is readable on light
// and on dark pages, since it has a ground of its own, and takes the dark colours where the reader
// prefers them. Not here: what the curves are (plot).

#include "axis.hpp"
#include "svg.hpp"

#include <string>
#include <vector>

namespace coxswain::bench {

enum class colour { first, second };  // well apart also for the colour-blind

struct curve {
  std::string name;
  colour drawn_in{colour::first};
  std::vector<point> line;
  std::vector<point> dots;
  std::vector<std::string> figures;  // as many as the chart's headings
};

// A value of the upright axis to which the eye is to be led.
struct guide {
  double value{};
  std::string name;
};

struct chart {
  std::string title;
  std::vector<std::string> subtitles;
  std::vector<std::string> headings;  // of the curves' figures
  std::vector<curve> curves;          // the last is drawn on top
  std::string across;                 // what the lower axis shows
  std::string upright;
  axis x;
  axis y;
  std::vector<guide> guides;
  std::vector<std::string> warnings;
  std::string origin;  // in small type
};

[[nodiscard]] std::string to_svg(chart const& c);

// In lines of at most so many characters, broken at blanks; a longer word has a line of its own.
[[nodiscard]] std::vector<std::string> wrapped(std::string const& text, std::size_t characters);

}  // namespace coxswain::bench
