#include "tally.hpp"

namespace coxswain::bench {

std::string tally::to_bytes() const {
  std::string out;
  append_raw(out, operations);
  append_raw(out, elapsed);
  append_raw(out, busy);
  append_raw(out, latencies.size());
  for (auto const& l : latencies) l.append_to(out);
  append_raw(out, parts.size());
  for (auto const& p : parts) append_raw(out, p);
  return out;
}

tally tally::from_bytes(std::string_view from) {
  tally t;
  t.operations = take_raw<std::uint64_t>(from);
  t.elapsed = take_raw<duration>(from);
  t.busy = take_raw<duration>(from);
  for (auto left = take_raw<std::size_t>(from); left > 0; --left) {
    t.latencies.push_back(histogram::take_from(from));
  }
  for (auto left = take_raw<std::size_t>(from); left > 0; --left) {
    t.parts.push_back(take_raw<part>(from));
  }
  return t;
}

}  // namespace coxswain::bench
