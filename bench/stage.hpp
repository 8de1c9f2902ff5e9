#pragma once
// Where the servers of a study stand beside each other, each with its load; and what disturbed
// them.

#include "disturbance.hpp"
#include "interrupts.hpp"
#include "origin.hpp"
#include "progress.hpp"
#include "side.hpp"
#include "temporary_directory.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::bench {

// What is to be known of any study.
struct circumstances {
  std::string transport;  // "tcp"
  cpu_plan cpus;
  disturbance disturbed;
  origin measured_on;

  // "TCP; servers on CPU 0, load on CPU 1".
  [[nodiscard]] std::string text() const;
};

class stage {
 public:
  explicit stage(bool unix_sockets);

  // Starts a server and its load, and lets it connect. `work` outlives the stage. Throws
  // bench_error.
  side& add(workload const& work, std::string const& name, side_kind kind = side_kind::coxswain);

  void show(std::string const& text) const { live_.show(text); }

  // Disturbances count from here on.
  void watch();
  [[nodiscard]] circumstances seen() const;

 private:
  [[nodiscard]] usage used_by_us() const;

  interrupts const signals_;
  std::optional<temporary_directory> sockets_;
  progress const live_;
  std::vector<std::unique_ptr<side>> sides_;
  machine_time machine_before_;
  usage ours_before_;
};

}  // namespace coxswain::bench
