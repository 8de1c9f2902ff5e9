#include "json.hpp"
#include "why_text.hpp"

#include "coxswain/base/error.hpp"

#include <utility>

namespace coxswain::tools {
namespace {

json::value object_of(missing_task const& m) {
  json::value step;
  if (m.step) step = *m.step;
  return json::object{
      {"task", m.task.value}, {"state", name(m.state)},
      {"suspect", m.suspect}, {"last_heard_ms", milliseconds_of(m.last_heard)},
      {"process", m.label},   {"waits_for", m.waits_for},
      {"step", step},
  };
}

json::value object_of(core::why_answer::wait const& w) {
  json::object one{
      {"kind", name_of(w.what)},
      {"name", w.name},
      {"stuck", w.stuck},
      {"waiting", w.waiting},
      {"waiting_cut", w.cut},
      {"others", w.others},
      {"age_ms", milliseconds_of(w.age)},
      {"remaining_ms", milliseconds_of(w.remaining)},
  };
  if (!w.missing) return one;
  json::array known;
  for (auto const& m : w.missing->known) known.push_back(object_of(m));
  one["round"] = w.missing->round.value;
  one["arrived"] = w.missing->arrived;
  one["expected"] = w.missing->expected;
  one["missing"] = w.missing->missing;
  one["missing_cut"] = w.missing->missing_cut;
  one["known"] = std::move(known);
  return one;
}

}  // namespace

std::string why_json(core::why_answer const& answer) {
  json::array waits;
  for (auto const& w : answer.waits) waits.push_back(object_of(w));
  json::value stuck;
  if (!answer.stuck.empty()) stuck = answer.stuck;
  json::object const all{
      {"stuck", std::move(stuck)}, {"waits", std::move(waits)}, {"more", answer.more}};
  return json::serialize(all);
}

}  // namespace coxswain::tools
