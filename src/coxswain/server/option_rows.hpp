#pragma once
// The options of a server, with those of its core.

#include "coxswain/core/option_rows.hpp"
#include "coxswain/server/options.hpp"

#include <tuple>

namespace coxswain::server {

inline constexpr std::tuple server_rows{
    option_row("listen", &options::listen, option_group::listeners,
               "Where to listen: host:port (port 0: any), [v6]:port, unix:/path, fd://N (an "
               "inherited socket), or :port: all addresses if a token or client certificates "
               "protect it, else this machine only. Repeatable; the variable separates them by "
               "commas",
               {.type = "ADDRESS"}),
    option_row("insecure", &options::insecure, option_group::listeners,
               "Allow listening on reachable addresses without a token"),
    option_row("linger", &options::linger, option_group::timing,
               "Time limit for sending the reason of a stop to all clients",
               {.flag = "goodbye-timeout"}),
    option_row("spin", &options::spin, option_group::timing,
               "Poll for input this long after each message before sleeping: replies leave some "
               "microseconds earlier, at the price of a core; at most 1s, 0: off"),
    option_row("queued_bytes_max", &options::queued_bytes_max, option_group::limits,
               "Replies queued for one session before reading from it pauses",
               {.least = 1, .is_size = true}),
    option_row("connections_max", &options::connections_max, option_group::limits,
               "Number of connections (default: the limit of open files, ulimit -n, less 64)",
               {.least = 1, .most = 100'000'000}),
    option_row("strangers_per_host_max", &options::strangers_per_host_max, option_group::limits,
               "Number of connections of one host before Hello; above it the oldest silent one is "
               "closed (default: half of all)",
               {.least = 1, .most = 100'000'000}),
    option_row("handshakes_per_second_max", &options::handshakes_per_second_max,
               option_group::limits, "Number of TLS handshakes per second and host; the rest wait",
               {.least = 1, .most = 1'000'000}),
    option_row("record_bytes_max", &options::record_bytes_max, option_group::recording,
               "Size of the recording kept in memory and written when the job fails; 0: none",
               {.is_size = true})};

inline constexpr std::tuple tls_rows{
    option_row("tls_cert", &tls_options::cert, option_group::tls,
               "Certificate chain to present (PEM); requires TLS of all connections except Unix "
               "sockets",
               {.type = "FILE"}),
    option_row("tls_key", &tls_options::key, option_group::tls,
               "Its private key (PEM, no passphrase)", {.type = "FILE"}),
    option_row("tls_ca", &tls_options::ca, option_group::tls,
               "Require client certificates signed by one of these authorities (PEM)",
               {.type = "FILE"}),
    option_row("tls_peer_uri_prefix", &tls_options::peer_uri_prefix, option_group::tls,
               "Require a URI name with this prefix in them, such as spiffe://cluster/job/",
               {.type = "PREFIX"}),
    option_row("tls_min", &tls_options::min, option_group::tls, "Oldest TLS version to accept",
               {.type = "VERSION", .choices = "1.2 1.3"}),
    option_row("tls_reload_period", &tls_options::reload_period, option_group::tls,
               "How often to check the files for changes", {.least = 1s})};

inline constexpr std::tuple journal_rows{
    option_row("journal", &journal_options::directory, option_group::journal,
               "Write all inputs to a journal in this directory before anything is answered; "
               "started again, the coordinator continues the job, and its clients resume",
               {.type = "DIR"}),
    option_row("durability", &journal_options::level, option_group::journal,
               "What the journal survives: the end of the process, or that of the machine, for "
               "which each reply waits until the disk has it",
               {.type = "LEVEL", .choices = "process disk"}),
    option_row("journal_bytes_max", &journal_options::bytes_max, option_group::journal,
               "Refuse to store more while the journal's files are larger; 0: no limit",
               {.flag = "journal-max", .is_size = true}),
    option_row("restart_grace", &journal_options::restart_grace, option_group::journal,
               "Fail tasks that have not resumed this long after a restart; clients suspect a "
               "silent connection after a third of it",
               {.least = 1s}),
    option_row("restart_within", &journal_options::restart_within, option_group::journal,
               "Clients wait this long for a restart, instead of --coordinator-return")};

inline constexpr std::tuple xla_rows{
    option_row("xla_listen", &xla_options::listen, option_group::xla,
               "Where else to serve unmodified JAX and torch programs, which cannot send a token: "
               "unix:/path, for this user only (JAX), or host:port with --tls-ca, --xla-allow or "
               "--xla-insecure. Repeatable; the variable separates them by commas. Without tokens "
               "and TLS the addresses of --listen serve them, too",
               {.type = "ADDRESS"}),
    option_row("xla_allow", &xla_options::allow, option_group::xla,
               "Hosts that may connect to these TCP addresses, such as 10.0.0.0/8,fd00::/8,::1",
               {.type = "CIDR"}),
    option_row("xla_insecure", &xla_options::insecure, option_group::xla,
               "Allow TCP addresses there that neither client certificates nor --xla-allow "
               "protect"),
    option_row("xla_strict", &xla_options::strict, option_group::xla,
               "Behave like XLA's own service where its tests require what our rules forbid"),
    option_row("xla_alive_timeout", &xla_options::alive_timeout, option_group::xla,
               "Time limit of GetAliveTasks, which has none of its own",
               {.least = 1ms, .may_be_forever = true})};

// `use(row, part)` for each that people can set; `part` returns the part of options that has it.
template <class Use>
void each_option(Use use) {
  auto const visit = [&](auto const& rows, auto part) {
    auto const use_row = [&](auto const& row) {
      if (row.group != option_group::internal) use(row, part);
    };
    std::apply([&](auto const&... row) { (use_row(row), ...); }, rows);
  };
  visit(server_rows, [](options& o) -> options& { return o; });
  visit(core::option_rows, [](options& o) -> core::config& { return o.core; });
  visit(tls_rows, [](options& o) -> tls_options& { return o.tls; });
  visit(journal_rows, [](options& o) -> journal_options& { return o.journal; });
  visit(xla_rows, [](options& o) -> xla_options& { return o.xla; });
}

}  // namespace coxswain::server
