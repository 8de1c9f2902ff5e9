#pragma once
// A question that one workload and its ratio to the floor do not answer: it is asked of several
// coordinators beside each other, or of one at several times. Each is a file of its own.

#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace coxswain::bench {

// What was found, in the forms in which it is told.
struct findings {
  std::string table;
  std::string json;
  std::string svg;
  bool is_good{true};  // what was to be as expected, is
};

class study {
 public:
  virtual ~study() = default;

  // Adds its subcommand to the program, and returns it.
  virtual CLI::App* add_to(CLI::App& program) = 0;
  // Looks at what was given. Throws bench_error (usage).
  virtual void check() const {}
  // Throws bench_error.
  [[nodiscard]] virtual findings run(bool unix_sockets) const = 0;
};

[[nodiscard]] std::unique_ptr<study> make_growth();
[[nodiscard]] std::unique_ptr<study> make_history();

// In the order of the help.
[[nodiscard]] std::vector<std::unique_ptr<study>> all_studies();

}  // namespace coxswain::bench
