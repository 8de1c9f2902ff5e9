// coxswain relay: carries the sessions of the tasks of one host over one connection.

#include "commands/commands.hpp"
#include "commands/version.hpp"
#include "options/command_line.hpp"
#include "options/exit_code.hpp"
#include "options/tls.hpp"
#include "options/token.hpp"
#include "options/units.hpp"
#include "process/log.hpp"
#include "process/machine.hpp"
#include "process/service_manager.hpp"
#include "stacks/stack_taker.hpp"
#include "terminal/error_output.hpp"
#include "text/json.hpp"

#include "coxswain/client/option_rows.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/relay/relay.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <boost/asio/signal_set.hpp>

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::tools {
namespace {

struct relay_command {
  std::string upstream;
  std::vector<std::string> listen;
  std::vector<std::string> tcp_store_listen;
  std::string port_file;
  std::string job;
  std::string token_file;
  tls_options tls;
  duration connect_timeout{300s};
  bool admits_all_users{};
  duration until_idle{};
  duration stalled_reader_timeout{30s};
  std::size_t memory_bytes_max{relay::relay_service::memory_max_default};
  log_options log;
};

std::string own_label() {
  std::array<char, 128> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return fmt::format("relay:{}", ::getpid());
  return fmt::format("{}:{}", name.data(), ::getpid());
}

relay::relay_options options_of(relay_command const& given, log const& lines) {
  client_options upstream{given.upstream};
  upstream.pass.reset();
  upstream.job = given.job;
  upstream.token = read_token(given.token_file);
  if (auto const why = exposure_of(given.token_file); !why.empty()) spdlog::warn(why);
  upstream.tls = given.tls;
  upstream.label = own_label();
  upstream.connect_timeout = given.connect_timeout;
  relay::relay_options made{std::move(upstream)};
  made.listen = given.listen;
  made.tcp_store_listen = given.tcp_store_listen;
  made.admits_all_users = given.admits_all_users;
  made.idle_max = given.until_idle;
  made.stalled_reader_timeout = given.stalled_reader_timeout;
  made.memory_bytes_max = given.memory_bytes_max;
  made.log = [write = lines.sink()](core::severity level, std::string const& text) {
    write({level, text});
  };
  return made;
}

// Where a relay listens, as long as it does.
class port_file {
 public:
  port_file(std::string path, std::vector<std::string> const& addresses) : path_{std::move(path)} {
    if (path_.empty()) return;
    write_lines_atomically(path_, addresses);
    content_ = read_file(path_, "--port-file");
  }
  port_file(port_file const&) = delete;
  port_file& operator=(port_file const&) = delete;
  // The next relay may have written its own.
  ~port_file() {
    std::ifstream file{path_, std::ios::binary};
    std::string const content{std::istreambuf_iterator<char>{file}, {}};
    if (!content_.empty() && content == content_) std::remove(path_.c_str());
  }

 private:
  std::string path_;
  std::string content_;
};

// A relay calls those at its Unix sockets by their processes: "unix: process 77 of user 0".
std::vector<stack_taker::process> clients_in(core::stacks_wanted const& wanted,
                                             relay::relay const& of) {
  constexpr std::string_view begin = "unix: process ";
  std::vector<stack_taker::process> all;
  for (auto const& one : wanted.processes) {
    stack_taker::process found{one.task, 0, {}, "its process is not known to its relay"};
    if (one.name.starts_with(begin) && of.has_peer(one.name)) {
      auto const number =
          one.name.substr(begin.size(), one.name.find(' ', begin.size()) - begin.size());
      found.root = std::atoi(number.c_str());
      found.client = ":" + number;
    }
    all.push_back(std::move(found));
  }
  return all;
}

int run_relay(relay_command const& given) try {
  std::signal(SIGPIPE, SIG_IGN);
  raise_descriptor_limit();
  log const lines{given.log, "%Y-%m-%dT%H:%M:%S.%e%z %l: %v"};
  asio::io_context io{1};
  service_manager manager{io};
  auto options = options_of(given, lines);
  relay::relay* serving = nullptr;
  stack_taker stacks{io.get_executor(), {}, [&serving](core::report_stack_args what) {
                       serving->report(std::move(what));
                     }};
  options.upstream.wants_stacks = [&](core::stacks_wanted const& wanted) {
    stacks.take(wanted.number, clients_in(wanted, *serving));
  };
  relay::relay made{io, std::move(options)};
  serving = &made;
  asio::signal_set signals{io, SIGINT, SIGTERM};
  signals.async_wait([&](boost::system::error_code problem, int /*number*/) {
    if (!problem) made.stop();
  });
  status end;
  std::exception_ptr failure;
  auto take = [&](std::exception_ptr problem, status why) {
    failure = std::move(problem);
    end = std::move(why);
    signals.cancel();
    io.stop();
  };
  asio::co_spawn(io, made.run(), take);
  auto const addresses = made.addresses();
  port_file const ports{given.port_file, addresses};
  json::object const ready{{"event", "ready"},
                           {"addresses", json::array(addresses.begin(), addresses.end())},
                           {"upstream", given.upstream},
                           {"pid", ::getpid()},
                           {"version", version}};
  print_report("{}\n", serialized(ready));
  manager.ready(fmt::format("Relays {} to {}", addresses.front(), given.upstream));
  io.run();
  manager.stopping("stopped");
  if (failure) std::rethrow_exception(failure);
  if (!end.ok()) throw program_error{exit_code_of(end.code()), end.message()};
  return static_cast<int>(exit_code::ok);
} catch (error const& problem) {
  throw program_error{exit_code_of(problem.outcome().code()), problem.what()};
}

constexpr auto relay_footer =
    R"(One relay runs on each host. It carries the connections of the host's tasks
over one connection to the coordinator, which can so serve many more tasks.
Each task keeps its own session, with the job's token. A relay holds nothing of
these sessions and may be killed at any time: give the tasks the relay's
address and then the coordinator's, and they go on there.

With tokens the relay needs one of a worker, or of the role relay, which can
look and relay but not act for a task. Only processes of the relay's user can
connect to its Unix sockets, unless --all-users is given. The relay ends when
the coordinator ends its session, as when it stops.

Unmodified JAX processes connect there, too, and survive a restart of the
coordinator, but not the end of the relay. They have no token: the relay's
speaks for those of its own user, and must be that of a worker.

The same holds for torch's TCPStore clients, as of init_process_group() with
env://. They only use TCP: with a token they connect to --tcp-store-listen,
which admits processes of the relay's user and of root, else to a TCP address
of --listen as well. MASTER_ADDR and MASTER_PORT name that address, and
TORCHELASTIC_USE_AGENT_STORE=True makes process 0 start no store of its own;
coxswain task --relay and coxswain run --relay set them.

EXAMPLE
  coxswain relay --upstream job-host:8476 --token-file relay-token \
      --listen unix:/run/job/relay.sock &
  coxswain task --address unix:/run/job/relay.sock,job-host:8476 -- ./train

)";

}  // namespace

void add_relay(CLI::App& program, action& chosen) {
  auto given = std::make_shared<relay_command>();
  auto& command =
      add_subcommand(program, "relay", "Carries the tasks of one host over one connection", chosen,
                     [given] { return run_relay(*given); });
  command
      .add_option("--upstream", given->upstream,
                  "The coordinator: host:port, [v6]:port or unix:/path; several with commas")
      ->type_name("ADDRESS")
      ->check(address_list_check())
      ->required();
  command
      .add_option("--listen", given->listen,
                  "Where the tasks connect: unix:/path, host:port, fd://N. Repeatable; the "
                  "variable separates them by commas")
      ->type_name("ADDRESS")
      ->delimiter(',')
      ->transform(listener_check())
      ->allow_extra_args(false)
      ->required();
  command
      .add_option(
          "--tcp-store-listen", given->tcp_store_listen,
          "Where programs of torch connect that belong to the relay's user, with its token: "
          "127.0.0.1:port. Repeatable")
      ->type_name("ADDRESS")
      ->delimiter(',')
      ->transform(listener_check())
      ->allow_extra_args(false);
  command
      .add_option("--port-file", given->port_file,
                  "Write the addresses to this file once they accept connections, one per line; it "
                  "is removed when the relay ends")
      ->type_name("FILE");
  command.add_option("--job", given->job, client_option_text("job"))
      ->type_name("NAME")
      ->default_str("any");
  add_token_file(command, given->token_file);
  command.add_flag("--all-users", given->admits_all_users,
                   "Let all users of this machine connect to its Unix sockets");
  add_duration(command, "--until-idle", given->until_idle,
               "End after this long without a client; 0: never");
  add_duration(command, "--stalled-reader-timeout", given->stalled_reader_timeout,
               "Disconnect a JAX process or TCPStore client that reads nothing for this long");
  add_size(command, "--memory-max", given->memory_bytes_max,
           "Memory for messages of JAX processes and TCPStore clients in transit");
  add_tls_options(command, given->tls);
  add_duration(command, "--connect-timeout", given->connect_timeout,
               client_option_text("connect_timeout") + " at the start");
  add_log_options(command, given->log);
  command.name_variables();
  command.add_fallback("--token-file", token_of_variable, subcommand::rank::above_file);
  command.footer(help_end(relay_footer));
}

}  // namespace coxswain::tools
