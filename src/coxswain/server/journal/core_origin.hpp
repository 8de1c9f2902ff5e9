#pragma once
// Where a core comes from: it is new, or it was restored from a journal.

#include "coxswain/base/ids.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/core/coordinator.hpp"
#include "coxswain/server/journal/journal.hpp"
#include "coxswain/wire/recording.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace coxswain::server {

// A core that has had the inputs of its journal. It does not know of the restart yet
// (core::restarted).
struct restored_core {
  core::coordinator logic;
  wire::recording_head head;
  time_point started;      // on this process's clock
  std::uint64_t inputs{};  // so far
  duration downtime{};
};

// A job whose inputs are kept by a journal that other coordinators can read.
struct shared_job {
  std::shared_ptr<journal> log;           // null: there is none
  std::optional<restored_core> restored;  // none: a new job
  std::uint64_t term{};                   // of this coordinator
};

struct core_origin {
  incarnation self{};  // of a new one
  time_point now{};
  journal* log{};                           // of its inputs; null: none
  std::optional<restored_core> restored{};  // then there is a journal
};

}  // namespace coxswain::server
