// coxswain detect: this process's parameters from the environment, with the variables they come
// from.

#include "commands/commands.hpp"
#include "options/exit_code.hpp"
#include "options/launcher.hpp"
#include "terminal/error_output.hpp"
#include "terminal/table.hpp"
#include "text/json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <memory>

namespace coxswain::tools {
namespace {

// Both views of the parameters; each gets every parameter by its name.
template <class View>
void show_all(launch::parameters const& found, View& view) {
  view.add("address", found.address);
  view.add("job", found.job);
  view.add("attempt", found.attempt);
  view.add("task", found.task);
  view.add("num_tasks", found.num_tasks);
  view.add("local_task", found.local_task);
  view.add("listen", found.listen);
}

class text_view {
 public:
  template <class Value>
  void add(std::string const& name, launch::sourced_value<Value> const& what) {
    if (!what.why_missing().empty()) missing_ += "no " + name + ": " + what.why_missing() + "\n";
    if (!what.is_there()) return;
    bool const is_wrong = !what.problem().ok();
    rows_.add({name, is_wrong ? "?" : fmt::format("{}", *what.value()), what.from()});
    if (is_wrong) problems_ += what.problem().message() + "\n";
    is_empty_ = false;
  }

  [[nodiscard]] std::string text() const {
    return (is_empty_ ? "nothing was found\n" : rows_.text()) + missing_;
  }
  [[nodiscard]] std::string const& problems() const { return problems_; }

 private:
  table rows_{{"PARAMETER"}, {"VALUE"}, {"FROM"}};
  std::string problems_;
  std::string missing_;
  bool is_empty_{true};
};

class json_view {
 public:
  explicit json_view(launch::parameters const& found) {
    all_["launcher"] = nullptr;
    if (!found.launcher.empty()) all_["launcher"] = found.launcher;
    all_["passed_over"] = json::array(found.passed_over.begin(), found.passed_over.end());
  }

  template <class Value>
  void add(std::string const& name, launch::sourced_value<Value> const& what) {
    all_[name] = nullptr;
    if (!what.why_missing().empty()) {
      all_[name] = json::object{{"value", nullptr}, {"missing", what.why_missing()}};
    }
    if (!what.is_there()) return;
    json::object one{{"value", nullptr}, {"from", what.from()}};
    if (what.problem().ok()) {
      one["value"] = *what.value();
    } else {
      one["problem"] = what.problem().message();
    }
    all_[name] = std::move(one);
  }

  [[nodiscard]] std::string text() const { return serialized(all_); }

 private:
  json::object all_;
};

std::string launcher_text(launch::parameters const& found) {
  if (found.launcher.empty()) return "no launcher\n";
  auto const others = fmt::format("{}", fmt::join(found.passed_over, ", "));
  return fmt::format("launcher {}{}\n", found.launcher,
                     others.empty() ? "" : "; ignored: " + others);
}

int detect(bool as_json) {
  auto const& found = launched();
  text_view text;
  show_all(found, text);
  if (as_json) {
    json_view json{found};
    show_all(found, json);
    fmt::print("{}\n", json.text());
  } else {
    fmt::print("{}{}", launcher_text(found), text.text());
  }
  write_error(text.problems());
  return static_cast<int>(text.problems().empty() ? exit_code::ok : exit_code::usage);
}

constexpr auto detect_footer = R"(All other subcommands, and client_options::from_environment() in
programs, use these as defaults: the address, the task, the number of tasks. Each comes from the
first of these that provides it:
  1. COXSWAIN_ADDRESS, COXSWAIN_TASK_ID, COXSWAIN_NUM_TASKS
  2. JAX_COORDINATOR_ADDRESS, JAX_PROCESS_ID, JAX_NUM_PROCESSES
  3. the first launcher that is present: torchrun, aichor (JAXOPERATOR_...),
     ompi (mpirun), slurm (srun), gketpu, torch (MASTER_ADDR, MASTER_PORT,
     RANK, WORLD_SIZE), pmi (mpiexec of MPICH and Intel MPI), pmix, pbs, lsf,
     kubernetes (Indexed Jobs and JobSets)
pmi, pmix and Open MPI 5 provide no host: the address comes from the Slurm, PBS or LSF job in which
they run, or must be set. Ports that no launcher provides are computed as JAX does, unless
JAX_COORDINATOR_PORT is set. Nothing is contacted. An invalid variable is reported with the expected
value, and the exit code is 64; for what a launcher cannot provide, the variable to set is listed.

EXAMPLES
  srun -n 4 coxswain detect
  coxswain detect --json | jq -r .address.value
)";

}  // namespace

void add_detect(CLI::App& program, action& chosen) {
  auto as_json = std::make_shared<bool>();
  auto& command = add_subcommand(
      program, "detect", "Shows the job and task that the launcher assigned to this process",
      chosen, [as_json] { return detect(*as_json); });
  command.add_flag("--json", *as_json, "One JSON object on one line, for programs");
  command.footer(detect_footer);
}

}  // namespace coxswain::tools
