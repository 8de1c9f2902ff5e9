#pragma once
// Where servers stand beside each other, each with its load; and what disturbed them.

#include "servers/machine.hpp"
#include "servers/process.hpp"
#include "servers/side.hpp"

#include <boost/json/object.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::bench {

// What is to be known of any measurement.
struct circumstances {
  std::string transport{};  // "tcp"
  cpu_plan cpus{};
  disturbance disturbed{};
  origin measured_on{};

  // "Unix sockets", "TLS", "TCP".
  [[nodiscard]] std::string over() const;
  void add_to(boost::json::object& o) const;  // where it was measured
  [[nodiscard]] boost::json::object disturbed_json() const;
};

class stage {
 public:
  explicit stage(std::string transport) : transport_{std::move(transport)} {}

  // From here on there is a directory for the sockets and the files of the servers.
  void make_directory(std::string const& parent = "/tmp") { directory_.emplace(parent); }
  void remove_directory() { directory_.reset(); }

  // Starts a server, unless it runs already, and its load, and lets that connect. What it works on
  // outlives it; `name` is for the person who waits. Throws bench_error.
  side& add(side_plan what, bool over_unix, std::string const& name);
  void remove(side& one);

  [[nodiscard]] bool is_unix() const noexcept { return transport_ == "unix"; }
  void show(std::string const& text) const { live_.show(text); }

  // Disturbances count from here on.
  void watch();
  [[nodiscard]] circumstances seen() const;

 private:
  [[nodiscard]] usage used_by_us() const;

  std::string transport_;
  interrupts const signals_;
  std::optional<temporary_directory> directory_;
  progress const live_;
  std::vector<std::unique_ptr<side>> sides_;
  std::uint64_t added_{};
  machine_time machine_before_;
  usage ours_before_;
  duration waited_{};  // of sides that are no more
};

}  // namespace coxswain::bench
