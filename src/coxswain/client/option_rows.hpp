#pragma once
// The options of a client that people can set: as C++ members, Python keywords, fields of C's
// options, flags, and variables (COXSWAIN_JOB). Not here: the environment and its launchers.

#include "coxswain/base/option_row.hpp"
#include "coxswain/client/options.hpp"

#include <tuple>

namespace coxswain {

inline constexpr std::tuple client_rows{
    option_row("address", &client_options::address, option_group::client,
               "The coordinator: host:port, [v6]:port or unix:/path; several with commas",
               {.type = "ADDRESS"}),
    option_row("task", &client_options::task, option_group::client,
               "The task of this process; none: an observer, which cannot join"),
    option_row("num_tasks", &client_options::num_tasks, option_group::client,
               "The number of tasks that the process expects, which the coordinator must have"),
    option_row("job", &client_options::job, option_group::client,
               "Job that the coordinator must serve", {.type = "NAME"}),
    option_row("attempt", &client_options::attempt, option_group::client,
               "The launcher's restart count; that of the coordinator must not be another one"),
    option_row("token", &client_options::token, option_group::client,
               "The token, if the coordinator requires one"),
    option_row("label", &client_options::label, option_group::client,
               "Its name in logs, on the status page and in errors; empty: host:pid"),
    option_row("recoverable", &client_options::recoverable, option_group::client,
               "Whether the job continues when the task fails; none: as the coordinator has it"),
    option_row("incarnation", &client_options::incarnation, option_group::client,
               "Distinguishes this process from an earlier one of the same task; none: random"),
    option_row("connect_timeout", &client_options::connect_timeout, option_group::client,
               "Time limit for reaching the coordinator", {.may_be_forever = true}),
    option_row("fence_after", &client_options::fence_after, option_group::client,
               "Give up after this long without any message from the coordinator; none: after its "
               "--heartbeat-timeout, or --coordinator-return if it refuses connections",
               {.may_be_forever = true}),
    option_row("spin", &client_options::spin, option_group::client,
               "Poll for replies this long before sleeping: they arrive some microseconds earlier, "
               "at the price of a core; 0: off",
               {.most = 1s}),
    option_row("any", &client_options::any, option_group::client,
               "Without a task: join as any, and wait as a spare while all numbers are taken"),
    option_row("member", &client_options::member, option_group::client,
               "The name of such a process, such as b17/0: the next one of that name gets the same "
               "number"),
    option_row("placement", &client_options::placement, option_group::client,
               "Where it runs, such as pod1/rack7/b17: a spare replaces a task nearby")};

inline constexpr std::tuple client_tls_rows{
    option_row("tls_ca", &tls_options::ca, option_group::client,
               "Use TLS, and require a coordinator's certificate signed by one of these "
               "authorities (PEM)",
               {.type = "FILE"}),
    option_row("tls_cert", &tls_options::cert, option_group::client,
               "Certificate chain to present to the coordinator (PEM)", {.type = "FILE"}),
    option_row("tls_key", &tls_options::key, option_group::client,
               "Its private key (PEM, no passphrase)", {.type = "FILE"}),
    option_row("tls_peer_uri_prefix", &tls_options::peer_uri_prefix, option_group::client,
               "Require a URI name with this prefix, such as spiffe://cluster/job/, instead of the "
               "host's name",
               {.type = "PREFIX"})};

// `use(row, part)` for each; `part` returns the part of options that has it.
template <class Use>
void each_client_option(Use use) {
  auto const visit = [&](auto const& rows, auto part) {
    std::apply([&](auto const&... row) { (use(row, part), ...); }, rows);
  };
  visit(client_rows, []<class Options>(Options& o) -> Options& { return o; });
  visit(
      client_tls_rows, [](auto& o) -> auto& { return o.tls; });
}

// The documentation of the one of this name.
[[nodiscard]] inline std::string client_option_text(std::string_view name) {
  std::string text;
  each_client_option([&](auto const& row, auto) {
    if (row.name == name) text = row.doc;
  });
  return text;
}

}  // namespace coxswain
