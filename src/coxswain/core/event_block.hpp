#pragma once
// Some events that follow each other, in few bytes: most texts differ from an earlier one in their
// numbers only, so such texts have their words in common. Each event is found as it was added. Not
// here: how many events are kept (event_log).

#include "coxswain/base/time.hpp"
#include "coxswain/core/event.hpp"
#include "coxswain/core/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::core {

class event_block {
 public:
  // Its events are numbered from this one.
  explicit event_block(std::uint64_t first) noexcept : first_{first}, next_{first} {}

  // The next event belongs into another block, so that a few events that are still wanted do not
  // keep the memory of many.
  [[nodiscard]] bool is_full() const noexcept;
  void add(duration at, event const& what);
  // Gives back the memory that was meant for more events.
  void shrink();

  // The number of the last event. There must be one.
  [[nodiscard]] std::uint64_t last() const noexcept { return next_ - 1; }

  // Reads a block from the beginning. The block must stay as it is meanwhile.
  class reader {
   public:
    explicit reader(event_block const& of) noexcept : block_{of}, number_{of.first_} {}

    // The next event after this number that is at least so severe; none at the end.
    [[nodiscard]] std::optional<events_answer::entry> next(std::uint64_t after, severity at_least);

   private:
    [[nodiscard]] std::string_view rest() const noexcept {
      return std::string_view{block_.bytes_}.substr(at_);
    }
    [[nodiscard]] std::uint64_t take_number() noexcept;
    [[nodiscard]] std::string take_text();
    [[nodiscard]] event take_event(severity level);

    event_block const& block_;
    std::size_t at_{};  // in the bytes
    std::uint64_t number_;
    duration time_{};
  };

 private:
  [[nodiscard]] std::uint64_t index_of(std::string&& words);

  std::uint64_t first_;
  std::uint64_t next_;
  duration last_at_{};
  std::string bytes_;
  std::vector<std::string> words_;  // of the texts, each once
  std::size_t words_bytes_{};
};

}  // namespace coxswain::core
