#include "coxswain/core/rendezvous/round_texts.hpp"

#include "coxswain/core/kernel/text.hpp"
#include "coxswain/core/model/reasons.hpp"
#include "coxswain/core/rendezvous/reduction.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace coxswain::core {
namespace {

constexpr std::size_t participants_bytes_max = 200;

std::string operation_text(round_kind const& kind) {
  if (kind.gather) return "all_gather";
  return kind.reduce == reduction::none ? "barrier"
                                        : "reduction " + std::string{words_of(kind.reduce)};
}

std::string participants_text(task_set const& expected) {
  std::vector<task_id> tasks;
  for (std::uint32_t i = 0; i < expected.size(); ++i) tasks.push_back(expected.at(i));
  auto const named = ranges(tasks, participants_bytes_max);
  return named.cut == 0 ? named.text : named.text + " and " + std::to_string(named.cut) + " more";
}

std::string fail_when_lost_text(round_kind const& kind) {
  return kind.fail_when_lost ? "true" : "false";
}

// With both sides.
std::string difference(round_kind const& caller, task_set const& named, round_kind const& waiting,
                       task_set const& awaited) {
  std::string text;
  auto const add = [&text](std::string_view what, std::string const& its,
                           std::string const& theirs) {
    if (its == theirs) return;
    if (!text.empty()) text += ", ";
    text.append(what).append(" ").append(its).append(" instead of ").append(theirs);
  };
  add("operation", operation_text(caller), operation_text(waiting));
  add("participants", participants_text(named), participants_text(awaited));
  add("fail_when_lost", fail_when_lost_text(caller), fail_when_lost_text(waiting));
  return text;
}

}  // namespace

std::string round_text(barriers::barrier const& b) {
  return "Barrier " + in_quotes(b.name) + " round " + std::to_string(b.number.value);
}

status mismatch(barriers::barrier const& b, task_id caller, round_kind const& kind,
                task_set const& named) {
  return fail<&reasons::differs_from_waiting>(round_text(b), caller,
                                              difference(kind, named, b.kind, b.round.expected()));
}

}  // namespace coxswain::core
