#include "python/native/coordinator_options.hpp"

#include "coxswain/host/hosted_coordinator.hpp"
#include "python/native/arguments.hpp"
#include "python/native/bindings.hpp"

#include <type_traits>
#include <utility>

namespace coxswain::python {
namespace {

using options = coordinator_options;

core::role role_of(std::string const& name) {
  if (auto const found = core::role_named(name)) return *found;
  throw py::value_error("a role is 'reader', 'operator' or 'worker', not '" + name + "'");
}

// A setting stored in a member of a part of the options. Durations are seconds.
template <class Part, class Value>
void add(py::class_<options>& to, char const* name, Part& (*part)(options&), Value Part::*member) {
  constexpr bool is_time = std::is_base_of_v<duration, Value>;
  using passed = std::conditional_t<is_time, timeout, Value>;
  setting(to, name, [=](options& o, passed value) {
    if constexpr (is_time) {
      part(o).*member = value.value;
    } else {
      part(o).*member = std::move(value);
    }
  });
}

core::config& core_of(options& o) { return o.server.core; }
server::options& server_of(options& o) { return o.server; }
server::journal_options& journal_of(options& o) { return o.server.journal; }
server::xla_options& xla_of(options& o) { return o.server.xla; }
options& all_of(options& o) { return o; }

void bind_identity(py::class_<options>& to) {
  add(to, "num_tasks", core_of, &core::config::num_tasks);
  add(to, "job", core_of, &core::config::job);
  add(to, "attempt", core_of, &core::config::attempt);
  add(to, "hosted_by_task", core_of, &core::config::hosted_by_task);
  add(to, "listen", server_of, &server::options::listen);
  add(to, "insecure", server_of, &server::options::insecure);
  define(to, "add_token", [](options& o, std::string role, std::string token) {
    o.server.core.credentials.push_back({role_of(role), std::move(token)});
  });
  define(to, "use_tls",
         [](options& o, std::string authorities, std::string certificate, std::string key,
            std::string peer_uri_prefix, bool allows_tls_1_2) {
           o.server.tls.ca = std::move(authorities);
           o.server.tls.cert = std::move(certificate);
           o.server.tls.key = std::move(key);
           o.server.tls.peer_uri_prefix = std::move(peer_uri_prefix);
           if (allows_tls_1_2) o.server.tls.min = tls_version::v1_2;
         });
}

void bind_rules(py::class_<options>& to) {
  add(to, "recoverable", core_of, &core::config::recoverable);
  add(to, "join_barrier", core_of, &core::config::join_barrier);
  add(to, "join_timeout_max", core_of, &core::config::join_timeout_max);
  add(to, "leave_barrier", core_of, &core::config::leave_barrier);
  add(to, "leave_timeout_max", core_of, &core::config::leave_timeout_max);
  add(to, "leave_together", core_of, &core::config::leave_together);
  add(to, "return_timeout", core_of, &core::config::return_timeout);
  add(to, "spares", core_of, &core::config::spares);
  setting(to, "assign", [](options& o, std::string how) {
    o.server.core.assign = how == "order"    ? core::assignment::order
                           : how == "member" ? core::assignment::member
                                             : core::assignment::placement;
  });
  add(to, "elastic", core_of, &core::config::elastic);
  add(to, "min_tasks", core_of, &core::config::min_tasks);
  setting(to, "grow", [](options& o, std::string when) {
    o.server.core.grow = when == "boundary" ? core::growth::boundary
                         : when == "now"    ? core::growth::now
                                            : core::growth::never;
  });
  setting(to, "ranks", [](options& o, std::string how) {
    o.server.core.ranks = how == "keep" ? core::rank_order::keep : core::rank_order::member;
  });
  add(to, "epoch_timeout", core_of, &core::config::epoch_timeout);
  add(to, "min_wait", core_of, &core::config::min_wait);
  add(to, "epochs_max", core_of, &core::config::epochs_max);
  add(to, "last_call", core_of, &core::config::last_call);
  add(to, "come_back", core_of, &core::config::come_back);
  add(to, "fail_without_progress", core_of, &core::config::fail_without_progress);
  add(to, "heartbeat_timeout", core_of, &core::config::heartbeat_timeout);
  add(to, "reconnect_grace", core_of, &core::config::reconnect_grace);
  add(to, "relay_grace", core_of, &core::config::relay_grace);
  add(to, "coordinator_return", core_of, &core::config::coordinator_return);
  add(to, "hello_timeout", core_of, &core::config::hello_timeout);
  add(to, "stalled_reader_timeout", core_of, &core::config::stalled_reader_timeout);
  add(to, "progress_timeout", core_of, &core::config::progress_timeout);
  add(to, "preemption_lead", core_of, &core::config::preemption_lead);
  add(to, "preemption_timeout", core_of, &core::config::preemption_timeout);
  add(to, "journal", journal_of, &server::journal_options::directory);
  setting(to, "durability", [](options& o, std::string level) {
    o.server.journal.level =
        level == "disk" ? server::durability::disk : server::durability::process;
  });
  add(to, "journal_bytes_max", journal_of, &server::journal_options::bytes_max);
  add(to, "restart_grace", journal_of, &server::journal_options::restart_grace);
  add(to, "restart_within", journal_of, &server::journal_options::restart_within);
  add(to, "linger", server_of, &server::options::linger);
  add(to, "spin", server_of, &server::options::spin);
}

void bind_limits(py::class_<options>& to) {
  add(to, "memory_bytes_max", core_of, &core::config::memory_bytes_max);
  add(to, "value_bytes_max", core_of, &core::config::value_bytes_max);
  add(to, "key_bytes_max", core_of, &core::config::key_bytes_max);
  add(to, "gather_bytes_max", core_of, &core::config::gather_bytes_max);
  add(to, "changes_max", core_of, &core::config::changes_max);
  add(to, "change_bytes_max", core_of, &core::config::change_bytes_max);
  add(to, "open_requests_max", core_of, &core::config::open_requests_max);
  add(to, "open_requests_max_per_task", core_of, &core::config::open_requests_max_per_task);
  add(to, "queued_bytes_max", server_of, &server::options::queued_bytes_max);
  add(to, "connections_max", server_of, &server::options::connections_max);
  add(to, "strangers_per_host_max", server_of, &server::options::strangers_per_host_max);
  add(to, "handshakes_per_second_max", server_of, &server::options::handshakes_per_second_max);
}

void bind_xla(py::class_<options>& to) {
  add(to, "xla_listen", xla_of, &server::xla_options::listen);
  add(to, "xla_allow", xla_of, &server::xla_options::allow);
  add(to, "xla_insecure", xla_of, &server::xla_options::insecure);
  add(to, "xla_strict", xla_of, &server::xla_options::strict);
  add(to, "xla_reconnect_grace", core_of, &core::config::xla_reconnect_grace);
  add(to, "xla_alive_timeout", xla_of, &server::xla_options::alive_timeout);
}

void bind_observation(py::class_<options>& to) {
  add(to, "http", all_of, &options::http);
  add(to, "http_connections_max", all_of, &options::http_connections_max);
  add(to, "record", all_of, &options::record_file);
  add(to, "record_bytes_max", server_of, &server::options::record_bytes_max);
}

}  // namespace

std::optional<status_page::options> page_options(coordinator_options const& o) {
  if (o.http.empty()) return std::nullopt;
  status_page::options page;
  page.listen = o.http;
  page.connections_max = o.http_connections_max;
  page.credentials = o.server.core.credentials;
  page.insecure = o.server.insecure;
  page.tls = o.server.tls;
  return page;
}

void bind_coordinator_options(py::module_& into) {
  py::class_<options> one{into, "CoordinatorOptions"};
  one.def(py::init<>()).def_static("hosting", [](client_options const& client) {
    options made;
    made.server = hosting_options(client);
    return made;
  });
  bind_identity(one);
  bind_rules(one);
  bind_limits(one);
  bind_xla(one);
  bind_observation(one);
}

}  // namespace coxswain::python
