#include "coxswain/client/options.hpp"

#include "coxswain/base/error.hpp"

#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace coxswain::test {
namespace {

// An environment with only the variables set here.
class environment {
 public:
  environment() { clear(); }
  ~environment() { clear(); }
  environment(environment const&) = delete;
  environment& operator=(environment const&) = delete;

  void set(char const* name, std::string const& value) { ::setenv(name, value.c_str(), 1); }
  // The variables of every command of `coxswain task`, except the incarnation.
  void set_task() {
    set("COXSWAIN_TASK_ID", "3");
    set("COXSWAIN_TASK_SOCKET", "/tmp/t/task");
    set("COXSWAIN_TASK_SECRET", "0123456789abcdef");
  }

 private:
  // All variables that are read, whatever launcher runs the tests.
  static void clear() {
    std::vector<std::string> names;
    for (auto* const* one = environ; *one != nullptr; ++one) {
      std::string const line{*one};
      names.push_back(line.substr(0, line.find('=')));
    }
    for (auto const& name : names) {
      for (auto const* prefix :
           {"COXSWAIN_", "JAX", "SLURM_", "OMPI_", "TPU_", "MASTER_", "TORCH"}) {
        if (name.starts_with(prefix)) ::unsetenv(name.c_str());
      }
    }
  }
};

class token_file {
 public:
  explicit token_file(std::string const& content) {
    static int count = 0;
    path_ += "-" + std::to_string(++count);
    std::ofstream{path_, std::ios::binary} << content;
  }
  ~token_file() { std::remove(path_.c_str()); }
  token_file(token_file const&) = delete;
  token_file& operator=(token_file const&) = delete;

  [[nodiscard]] std::string const& path() const { return path_; }

 private:
  std::string path_{"/tmp/coxswain-token-" + std::to_string(::getpid())};
};

std::string refusal() {
  try {
    client_options::from_environment();
  } catch (error const& e) {
    BOOST_TEST(e.code() == errc::invalid_argument);
    return e.outcome().message();
  }
  return "accepted";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(client_options_test)

BOOST_FIXTURE_TEST_CASE(all_options_are_read_from_the_environment, environment) {
  set("COXSWAIN_ADDRESS", "b12:8476");
  set("COXSWAIN_TASK_ID", "3");
  set("COXSWAIN_NUM_TASKS", "4");
  set("COXSWAIN_JOB", "night");
  set("COXSWAIN_ATTEMPT", "18446744073709551615");
  set("COXSWAIN_TOKEN", "secret");

  auto const options = client_options::from_environment();

  BOOST_TEST(options.address == "b12:8476");
  BOOST_TEST((options.task == task_id{3}));
  BOOST_TEST(options.num_tasks.value() == 4u);
  BOOST_TEST(options.job == "night");
  BOOST_TEST(options.attempt.value() == 18446744073709551615u);
  BOOST_TEST(options.token == "secret");
  BOOST_TEST((options.connect_timeout == 300s));
}

BOOST_FIXTURE_TEST_CASE(another_spelling_of_the_address_is_the_same_coordinator, environment) {
  set_task();
  set("COXSWAIN_TASK_INCARNATION", "5");
  auto const is_same = [&](char const* of_the_task, char const* other) {
    set("COXSWAIN_ADDRESS", of_the_task);
    return client_options{other, task_id{3}}.is_guest();
  };

  BOOST_TEST(is_same("127.0.0.1:8476", "localhost:8476"));
  BOOST_TEST(is_same("localhost:8476", "127.0.0.1:8476"));
  BOOST_TEST(is_same("[::1]:8476", "LOCALHOST:8476"));
  BOOST_TEST(is_same("b12.example:8476", "B12.Example:8476"));
  BOOST_TEST(is_same("unix:/tmp/coxswain", "unix:/tmp/./no-such-directory/..//coxswain"));

  BOOST_TEST(is_same("b12:8476,b13:8476", "B13:8476,b12:8476"));
  BOOST_TEST(is_same("b12:8476,b13:8476", "b13:8476"));

  BOOST_TEST(!is_same("b13:8476", "b12:8476,b13:8476"));
  BOOST_TEST(!is_same("127.0.0.1:8476", "localhost:8477"));
  BOOST_TEST(!is_same("b12:8476", "b13:8476"));
  BOOST_TEST(!is_same("unix:/tmp/a", "unix:/tmp/b"));
  BOOST_TEST(!is_same("unix:/tmp/a", "127.0.0.1:8476"));
  BOOST_TEST(!is_same("127.0.0.1:8476", "no address"));
}

BOOST_FIXTURE_TEST_CASE(a_client_started_by_coxswain_task_is_a_guest, environment) {
  set("COXSWAIN_ADDRESS", "b12:8476");
  set_task();
  set("COXSWAIN_TASK_INCARNATION", "18446744073709551615");

  auto const options = client_options::from_environment();
  BOOST_TEST(options.is_guest());
  BOOST_TEST(options.address == "b12:8476");
  BOOST_TEST(options.pass->socket == "/tmp/t/task");
  BOOST_TEST(options.pass->secret == "0123456789abcdef");
  BOOST_TEST(options.pass->self.value == 18446744073709551615u);
  BOOST_TEST((client_options{"b12:8476", task_id{3}}.is_guest()));

  BOOST_TEST((!client_options{"b12:8476"}.is_guest()));
  BOOST_TEST((!client_options{"b12:8476", task_id{4}}.is_guest()));
  BOOST_TEST((!client_options{"b13:8476", task_id{3}}.is_guest()));
  for (auto const* name : {"COXSWAIN_TASK_SOCKET", "COXSWAIN_TASK_SECRET",
                           "COXSWAIN_TASK_INCARNATION", "COXSWAIN_TASK_ID"}) {
    std::string const value = std::getenv(name);
    set(name, "");
    BOOST_TEST(!task_pass::from_environment());
    set(name, value);
  }
  set("COXSWAIN_TASK_INCARNATION", "1x");
  BOOST_TEST(!task_pass::from_environment());
}

BOOST_FIXTURE_TEST_CASE(without_a_launcher_only_the_address_is_required, environment) {
  set("COXSWAIN_ADDRESS", "unix:/tmp/c");
  set("COXSWAIN_TASK_ID", "");

  auto const options = client_options::from_environment();

  BOOST_TEST((options.task == std::nullopt));
  BOOST_TEST((options.num_tasks == std::nullopt));
  BOOST_TEST((options.attempt == std::nullopt));
  BOOST_TEST(options.job.empty());
  BOOST_TEST(options.token.empty());
}

BOOST_AUTO_TEST_CASE(a_missing_address_error_lists_the_allowed_forms) {
  environment const env;

  BOOST_TEST(refusal() ==
             "COXSWAIN_ADDRESS is not set, and no launcher provides it; expected the "
             "coordinator's host:port, [v6]:port or unix:/path.");
}

BOOST_FIXTURE_TEST_CASE(launcher_variables_supply_what_coxswain_variables_do_not, environment) {
  set("SLURM_JOB_ID", "7");
  set("SLURM_STEP_NODELIST", "b[12-13]");
  set("SLURM_NTASKS", "4");
  set("SLURM_PROCID", "3");
  set("SLURM_LOCALID", "1");
  set("SLURM_RESTART_COUNT", "2");

  auto options = client_options::from_environment();
  BOOST_TEST(options.address == "b12:61447");
  BOOST_TEST((options.task == task_id{3}));
  BOOST_TEST(options.num_tasks.value() == 4u);
  BOOST_TEST(options.job == "slurm-7");
  BOOST_TEST(options.attempt.value() == 2u);

  set("COXSWAIN_ADDRESS", "b1:8476");
  set("COXSWAIN_TASK_ID", "0");
  options = client_options::from_environment();
  BOOST_TEST(options.address == "b1:8476");
  BOOST_TEST((options.task == task_id{0}));
  BOOST_TEST(options.num_tasks.value() == 4u);
  BOOST_TEST(options.job.empty());
  BOOST_TEST((options.attempt == std::nullopt));
}

BOOST_FIXTURE_TEST_CASE(a_wrong_launcher_variable_is_ignored_if_ours_is_set, environment) {
  set("JAXOPERATOR_COORDINATOR_ADDRESS", "$(JAXOPERATOR_COORDINATOR_HOST):1234");
  set("JAXOPERATOR_PROCESS_ID", "first");
  BOOST_TEST(refusal() ==
             "JAXOPERATOR_COORDINATOR_ADDRESS is '$(JAXOPERATOR_COORDINATOR_HOST):1234'; expected "
             "JAXOPERATOR_COORDINATOR_HOST to be set.");

  set("COXSWAIN_ADDRESS", "b1:8476");
  BOOST_TEST(refusal() ==
             "JAXOPERATOR_PROCESS_ID is 'first'; expected a whole number from 0 to 4294967295.");

  set("COXSWAIN_TASK_ID", "0");
  BOOST_TEST(refusal() == "accepted");
}

BOOST_FIXTURE_TEST_CASE(a_launcher_without_an_address_error_names_the_variable_to_set,
                        environment) {
  set("OMPI_COMM_WORLD_RANK", "0");

  BOOST_TEST(
      refusal() ==
      "COXSWAIN_ADDRESS is not set, and the launcher 'ompi' does not provide it; expected the "
      "coordinator's host:port, [v6]:port or unix:/path. No variable names a host. Set "
      "COXSWAIN_ADDRESS to the host of task 0, or of coxswain serve, and a free port, for "
      "example: mpirun -x COXSWAIN_ADDRESS=b12:8476.");
}

BOOST_AUTO_TEST_CASE(a_malformed_number_error_names_its_value_and_range) {
  for (std::string const value : {"three", "3x", "-1", " 3", "4294967296", "0x3", "3.0"}) {
    environment env;
    env.set("COXSWAIN_ADDRESS", "b12:8476");
    env.set("COXSWAIN_TASK_ID", value);
    BOOST_TEST(refusal() == "COXSWAIN_TASK_ID is '" + value +
                                "'; expected a whole number from 0 to 4294967295.");
  }
}

BOOST_FIXTURE_TEST_CASE(zero_tasks_are_refused, environment) {
  set("COXSWAIN_ADDRESS", "b12:8476");
  set("COXSWAIN_NUM_TASKS", "0");

  BOOST_TEST(refusal() ==
             "COXSWAIN_NUM_TASKS is '0'; expected a whole number from 1 to 4294967295.");
}

BOOST_FIXTURE_TEST_CASE(a_task_must_be_below_the_number_of_tasks, environment) {
  set("COXSWAIN_ADDRESS", "b12:8476");
  set("COXSWAIN_NUM_TASKS", "4");
  set("COXSWAIN_TASK_ID", "4");

  BOOST_TEST(refusal() ==
             "COXSWAIN_TASK_ID is '4'; expected 0 to 3, since COXSWAIN_NUM_TASKS is '4'.");
}

BOOST_FIXTURE_TEST_CASE(whitespace_around_the_token_in_a_file_is_ignored, environment) {
  token_file const file{"  se cret\n\n"};
  set("COXSWAIN_ADDRESS", "b12:8476");
  set("COXSWAIN_TOKEN_FILE", file.path());

  BOOST_TEST(client_options::from_environment().token == "se cret");
}

BOOST_FIXTURE_TEST_CASE(a_missing_empty_or_too_long_token_file_is_refused, environment) {
  set("COXSWAIN_ADDRESS", "b12:8476");
  set("COXSWAIN_TOKEN_FILE", "/nowhere/token");
  BOOST_TEST(refusal() ==
             "COXSWAIN_TOKEN_FILE is '/nowhere/token', which cannot be read; expected "
             "the path of a file that holds the token.");

  token_file const empty{" \n"};
  set("COXSWAIN_TOKEN_FILE", empty.path());
  BOOST_TEST(refusal().find("is empty") != std::string::npos);

  token_file const large{std::string(5'000, 'x')};
  set("COXSWAIN_TOKEN_FILE", large.path());
  BOOST_TEST(refusal().find("is too long") != std::string::npos);
  set("COXSWAIN_TOKEN_FILE", "/tmp");
  BOOST_TEST(refusal().find("cannot be read") != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(a_token_and_a_token_file_together_are_refused, environment) {
  set("COXSWAIN_ADDRESS", "b12:8476");
  set("COXSWAIN_TOKEN", "secret");
  set("COXSWAIN_TOKEN_FILE", "/nowhere");

  BOOST_TEST(refusal() ==
             "COXSWAIN_TOKEN and COXSWAIN_TOKEN_FILE ('/nowhere') are both set; expected one of "
             "them.");
}

BOOST_FIXTURE_TEST_CASE(an_environment_token_applies_to_the_environment_address, environment) {
  set("COXSWAIN_ADDRESS", "127.0.0.1:8476");
  set("COXSWAIN_TOKEN", "secret");

  BOOST_TEST(client_options{"localhost:8476"}.token == "secret");
  BOOST_TEST(client_options{"127.0.0.1:8477"}.token.empty());
}

BOOST_AUTO_TEST_CASE(events_have_a_text) {
  client_event const lost{client_event::kind::disconnected, {errc::unavailable, "reset"}};
  client_event const back{client_event::kind::reconnected, {errc::ok, "20 ms"}};

  BOOST_TEST(lost.text() == "disconnected: UNAVAILABLE: reset");
  BOOST_TEST(back.text() == "reconnected after 20 ms");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
