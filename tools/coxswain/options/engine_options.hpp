#pragma once
// Coordinators of one job on several machines: etcd, which keeps the job's log, as options.

#include "coxswain/base/option_row.hpp"
#include "coxswain/server/standby/standby.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace coxswain::tools {

enum class large_value_treatment : std::uint8_t { refuse, keep };

struct engine_options {
  std::vector<std::string> members;  // empty: no engine
  std::string login_file;
  large_value_treatment large_values{};  // of those that etcd does not take
  server::standby_options standby;

  [[nodiscard]] bool is_wanted() const noexcept { return !members.empty(); }
};

inline constexpr std::tuple engine_rows{
    option_row("engine", &engine_options::members, option_group::standby,
               "Keep the job's inputs in etcd, at these members: etcd://a:2379,b:2379,c:2379. Of "
               "several coordinators with the same, one leads, and another one takes over",
               {.type = "ADDRESSES"}),
    option_row("large_values", &engine_options::large_values, option_group::standby,
               "What to do with values above 1 MiB, which etcd does not take: refuse them, or keep "
               "them until another coordinator takes over (volatile)",
               {.type = "HOW", .choices = "refuse volatile"}),
    option_row("engine_login", &engine_options::login_file, option_group::standby,
               "File with the user of etcd and its password: one line 'USER PASSWORD'",
               {.type = "FILE"})};

inline constexpr std::tuple standby_rows{
    option_row("advertise", &server::standby_options::address, option_group::standby,
               "Where clients reach this coordinator, for the others (default: --listen)",
               {.type = "ADDRESS"})};

inline constexpr std::tuple engine_tls_rows{
    option_row("engine_ca", &tls_options::ca, option_group::standby,
               "Use TLS with etcd; authorities of its certificates", {.type = "FILE"}),
    option_row("engine_cert", &tls_options::cert, option_group::standby,
               "Certificate for etcd, if it wants one", {.type = "FILE"}),
    option_row("engine_key", &tls_options::key, option_group::standby,
               "Private key of that certificate", {.type = "FILE"})};

// --engine and what belongs to it.
void add_engine_options(CLI::App& to, engine_options& into);

// Reads the login. To be called once. Throws program_error (usage): it cannot be read, or other
// hosts could read what is sent, without `insecure`.
void complete(engine_options& given, bool insecure);

}  // namespace coxswain::tools
