// A task for the end-to-end tests: joins the job that the environment names, says "joined", and
// does one after the other what its arguments say:
//
//   coxswain-e2e-task step:3 barrier:start get:key leave

#include "coxswain/client/blocking_client.hpp"

#include <iostream>
#include <string>
#include <string_view>

using namespace coxswain;

namespace {

void act(blocking_client& job, std::string_view what) {
  auto const colon = what.find(':');
  std::string const name{colon == what.npos ? "" : what.substr(colon + 1)};
  std::string_view const verb = what.substr(0, colon);
  if (verb == "step") return job.report_progress(std::stoull(name));
  if (verb == "leave") return job.leave();
  if (verb == "barrier") {
    job.barrier(name);
  } else if (verb == "get") {
    job.get(name);
  } else {
    throw error{{errc::invalid_argument, "no such thing to do: " + std::string{what}}};
  }
}

}  // namespace

int main(int argc, char** argv) try {
  blocking_client job{client_options::from_environment()};
  job.join();
  std::cout << "joined" << std::endl;
  for (int i = 1; i < argc; ++i) act(job, argv[i]);
} catch (std::exception const& problem) {
  std::cerr << problem.what() << '\n';
  return 1;
}
