#pragma once
// Barriers by name, their numbered rounds, and the outcomes still owed to stragglers (
// §6.1). At most one round of a name is open. A name without an open round and without owed
// outcomes is remembered for a while, with its last number and participants. Not here: replies,
// deadlines, error texts (coordinator).

#include "coxswain/base/status.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/core/rendezvous/meeting.hpp"

#include <compare>
#include <cstdint>
#include <list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace coxswain::core {

// What all callers of a round must agree on, besides its participants.
struct round_kind {
  bool gather{};
  reduction reduce{reduction::none};
  bool fail_when_lost{};  // also when a recoverable participant is lost

  friend bool operator==(round_kind const&, round_kind const&) = default;
};

class barriers {
 public:
  // Rises with each round opened: an order over all rounds of all names.
  using round_sequence = std::uint64_t;

  struct barrier {
    std::string name;
    meeting round;
    round_sequence sequence{};  // of the open round
    round_number number{};      // of the open round, or of the last one
    round_number passed{};      // the last round that all have passed
    round_kind kind;
    std::size_t operand_bytes{};  // of the open round's first caller
    session_id opener{};          // of the open round, which counts towards its share
    task_set_ptr last_expected;   // of the last round that has ended

    static void fields(auto& a, auto& s);

   private:
    friend class barriers;
    std::uint64_t id{};                            // never used twice
    std::size_t debts{};                           // ended rounds whose outcome is still owed
    std::list<std::string const*>::iterator idle;  // its position in the list of idle names
    bool is_idle{};
    std::size_t bytes{};  // its memory
  };

  // Names in use, open rounds and owed outcomes count as used memory.
  barriers(meter_ptr memory, std::size_t owed_max, std::size_t idle_max)
      : memory_{std::move(memory)}, owed_max_{owed_max}, idle_max_{idle_max} {}
  ~barriers();
  barriers(barriers const&) = delete;
  barriers& operator=(barriers const&) = delete;

  // The memory of a round of this name while it is open.
  [[nodiscard]] static std::size_t cost(std::string_view name, task_set const& expected);

  // The barrier of this name, created if unknown.
  barrier& at(std::string_view name);
  // Null if the name is not known.
  [[nodiscard]] barrier* find(std::string_view name);
  [[nodiscard]] barrier const* find(std::string_view name) const;
  // Null if no such round is open.
  [[nodiscard]] barrier* open_round(round_sequence sequence) const;

  // No round of it is open, and no outcome is owed.
  [[nodiscard]] static bool has_rested(barrier const& b) { return b.is_idle; }

  // Removes and returns the oldest outcome owed to the task; null if there is none.
  answer_ptr take_owed(barrier& b, task_id task);

  // INVALID_ARGUMENT if the next round of `b` may not have these participants, or may not be
  // opened by this caller.
  [[nodiscard]] status may_open(barrier const& b, task_id caller, task_set const& expected) const;
  void open(barrier& b, task_set_ptr expected, round_kind kind, time_point now);

  // Ends the open round. `owed_to` have not called and will be given `outcome` when they do.
  void end(barrier& b, answer_ptr outcome, std::vector<task_id> owed_to);

  // Ends the open round, which all have left, as if it had never been opened.
  void dissolve(barrier& b);

  // Discards the outcomes owed to this task, or all.
  void forget_owed_to(task_id task);
  void forget_owed();
  // Discards these, and all names. No round is open.
  void forget_all();

  // The open rounds in the order in which they were opened.
  [[nodiscard]] std::map<round_sequence, barrier*> const& open_rounds() const { return open_; }

  // For tests: how many names are known, and how many outcomes are owed.
  [[nodiscard]] std::size_t known() const noexcept { return by_name_.size(); }
  [[nodiscard]] std::size_t owed() const noexcept { return claims_.size(); }

  static void fields(auto& a, auto& s);

 private:
  struct name_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const noexcept {
      return std::hash<std::string_view>{}(name);
    }
  };
  struct name_equal {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const noexcept { return a == b; }
  };

  // A failed round whose outcome is owed.
  struct debt {
    barrier* of{};
    round_number number{};
    answer_ptr outcome;       // null: discarded; only its existence is still known
    std::vector<task_id> to;  // the tasks it was owed to at first
    std::size_t left{};       // how many of them still are
    std::size_t bytes{};      // the memory of the outcome, until it is discarded
  };
  using debt_key = std::uint64_t;  // rises: the oldest debt has the smallest

  // An outcome owed to a task. Sorted so that the oldest of a task and a barrier is found quickly,
  // however much is owed to others.
  struct claim {
    task_id task;
    std::uint64_t barrier;
    debt_key debt;
    friend constexpr auto operator<=>(claim const&, claim const&) = default;
    static void fields(auto& a, auto& s) { a.members(s.task, s.barrier, s.debt); }
  };
  using claims = std::set<claim>;

  void save(auto& a) const;
  void load(auto& a);
  // Adds what was loaded; false if it contradicts what is there.
  [[nodiscard]] bool restore(barrier b);
  [[nodiscard]] bool restore_idle(barrier* b);
  [[nodiscard]] bool restore(debt_key key, debt d);
  [[nodiscard]] bool restore(claim const& c);
  void fulfil(claims::iterator at);
  void settle(std::map<debt_key, debt>::iterator at);
  void shrink_debts();
  void forget_outcome(debt& of);
  void recount(barrier& b);
  void close_round(barrier& b);
  void rest(barrier& b);
  void forget_oldest_idle();

  meter_ptr memory_;
  std::size_t owed_max_;
  std::size_t idle_max_;
  std::unordered_map<std::string, barrier, name_hash, name_equal> by_name_;
  barrier* found_last_{};  // consecutive calls are often for the same one
  std::map<round_sequence, barrier*> open_;
  std::map<debt_key, debt> debts_;
  claims claims_;
  std::size_t remembered_{};            // claims whose outcome is still known
  std::size_t remembered_bytes_{};      // and their memory
  debt_key first_remembered_{1};        // the outcomes of all earlier debts are discarded
  std::list<std::string const*> idle_;  // names, longest idle first
  std::size_t idle_bytes_{};
  std::vector<meeting> spare_;  // closed ones, for their memory
  std::uint64_t barriers_made_{};
  debt_key debts_made_{};
  round_sequence sequence_{};
};

}  // namespace coxswain::core
