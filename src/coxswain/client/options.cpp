#include "coxswain/client/options.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/client/process_environment.hpp"
#include "coxswain/launch/detection.hpp"
#include "coxswain/net/endpoint.hpp"

#include <boost/algorithm/string/case_conv.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <locale>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace coxswain {
namespace {

// A token longer than this is not one.
constexpr std::size_t token_bytes_max = 4096;

// An empty variable counts as none.
std::optional<std::string> variable(char const* name) {
  char const* const value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string{value};
}

template <class Number>
std::optional<Number> number_in(char const* name) {
  auto const text = variable(name);
  if (!text) return std::nullopt;
  Number number{};
  auto const* const end = text->data() + text->size();
  auto const [parsed, problem] = std::from_chars(text->data(), end, number);
  return problem == std::errc{} && parsed == end ? std::optional{number} : std::nullopt;
}

[[noreturn]] void refuse(std::string const& text) {
  throw error{status{errc::invalid_argument, text}};
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  auto const first = text.find_first_not_of(space);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

// The content is not shown in errors: it is a secret.
std::string token_in(std::string const& path) {
  std::ifstream file{path, std::ios::binary};
  std::string text(token_bytes_max + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file && !file.eof()) {
    refuse("COXSWAIN_TOKEN_FILE is '" + path +
           "', which cannot be read; expected the path of a "
           "file that holds the token.");
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > token_bytes_max || trimmed(text).empty()) {
    refuse("COXSWAIN_TOKEN_FILE is '" + path + "', which " +
           (text.size() > token_bytes_max ? "is too long" : "is empty") +
           "; expected a file that holds the token, of up to " + std::to_string(token_bytes_max) +
           " bytes.");
  }
  return std::string{trimmed(text)};
}

std::string token_from_environment() {
  auto const value = variable("COXSWAIN_TOKEN");
  auto const file = variable("COXSWAIN_TOKEN_FILE");
  if (value && file) {
    refuse("COXSWAIN_TOKEN and COXSWAIN_TOKEN_FILE ('" + *file +
           "') are both set; expected one "
           "of them.");
  }
  return file ? token_in(*file) : value.value_or("");
}

tls_options tls_from_environment() {
  tls_options tls;
  tls.ca = variable("COXSWAIN_TLS_CA").value_or("");
  tls.cert = variable("COXSWAIN_TLS_CERT").value_or("");
  tls.key = variable("COXSWAIN_TLS_KEY").value_or("");
  tls.peer_uri_prefix = variable("COXSWAIN_TLS_PEER_URI_PREFIX").value_or("");
  return tls;
}

std::string no_address(launch::parameters const& found) {
  constexpr auto allowed = "expected the coordinator's host:port, [v6]:port or unix:/path.";
  if (found.launcher.empty()) {
    return std::string{"COXSWAIN_ADDRESS is not set, and no launcher provides it; "} + allowed;
  }
  auto const& why = found.address.why_missing();
  return "COXSWAIN_ADDRESS is not set, and the launcher '" + found.launcher +
         "' does not provide it; " + allowed + (why.empty() ? "" : " " + why);
}

// The one spelling of a place, as far as that is known without looking up a name.
std::string normal_spelling(net::endpoint const& where) {
  if (where.is_unix()) {
    std::error_code problem;
    auto const path = std::filesystem::weakly_canonical(where.path(), problem);
    return problem ? where.text() : "unix:" + path.string();
  }
  auto host = boost::algorithm::to_lower_copy(where.host(), std::locale::classic());
  // A client without a host connects to this one.
  if (host.empty() || host == "localhost" || host == "::1") host = "127.0.0.1";
  return host + ':' + std::to_string(where.port());
}

// Empty: it is malformed.
std::set<std::string> places(std::string const& addresses) {
  std::set<std::string> all;
  auto const list = net::endpoint::parse_list(addresses);
  if (!list) return all;
  for (auto const& address : *list) all.insert(normal_spelling(address));
  return all;
}

// Whether `some` are addresses of the coordinator at `all`.
bool are_of(std::string const& all, std::string const& some) {
  if (all == some) return true;
  auto const known = places(all);
  auto const given = places(some);
  return !given.empty() && std::includes(known.begin(), known.end(), given.begin(), given.end());
}

std::string_view name_of(client_event::kind what) {
  switch (what) {
    case client_event::kind::disconnected: return "disconnected";
    case client_event::kind::reconnected: return "reconnected";
    case client_event::kind::goodbye: return "goodbye";
    case client_event::kind::lost: return "lost";
    case client_event::kind::waiting: return "waiting";
    case client_event::kind::notice: return "notice";
  }
  return "event";
}

}  // namespace

std::string client_event::text() const {
  std::string text{name_of(what)};
  if (!why.ok()) return text.append(": ").append(why.text());
  if (what == kind::waiting || what == kind::notice) return text.append(": ").append(why.message());
  if (!why.message().empty()) text.append(" after ").append(why.message());
  return text;
}

std::optional<task_pass> task_pass::from_environment() {
  auto const socket = variable("COXSWAIN_TASK_SOCKET");
  auto const secret = variable("COXSWAIN_TASK_SECRET");
  auto const task = number_in<std::uint32_t>("COXSWAIN_TASK_ID");
  auto const self = number_in<std::uint64_t>("COXSWAIN_TASK_INCARNATION");
  auto const address = variable("COXSWAIN_ADDRESS");
  if (!socket || !secret || !task || !self || !address) return std::nullopt;
  task_pass pass;
  pass.socket = *socket;
  pass.secret = *secret;
  pass.task = task_id{*task};
  pass.self = incarnation{*self};
  pass.address = *address;
  return pass;
}

std::vector<std::string> placement_of(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    parts.emplace_back(text.substr(0, text.find('/')));
    text.remove_prefix(std::min(text.size(), parts.back().size() + 1));
  }
  return parts;
}

client_options::client_options(std::string address_of_coordinator)
    : pass{task_pass::from_environment()}, address{std::move(address_of_coordinator)} {
  auto const named = variable("COXSWAIN_ADDRESS");
  if (named && are_of(*named, address)) token = variable("COXSWAIN_TOKEN").value_or("");
}

client_options::client_options(std::string address_of_coordinator, task_id acting_task)
    : client_options{std::move(address_of_coordinator)} {
  task = acting_task;
}

bool client_options::is_guest() const {
  return pass && pass->task == task && are_of(pass->address, address);
}

client_options client_options::from_environment(std::string address) {
  auto const found = launch::detect(process_environment());
  if (address.empty()) {
    if (!found.address.value()) refuse(no_address(found));
    address = *found.address.value();
  }
  client_options options{std::move(address)};
  auto const member = variable("COXSWAIN_TASK_ID") ? std::nullopt : variable("COXSWAIN_MEMBER");
  if (member) {
    options.any = true;
    options.member = *member;
    options.placement = placement_of(variable("COXSWAIN_PLACEMENT").value_or(""));
  } else if (auto const task = found.task.value()) {
    options.task = task_id{*task};
  }
  options.num_tasks = found.num_tasks.value();
  options.job = found.job.value().value_or("");
  options.attempt = found.attempt.value();
  options.token = token_from_environment();
  options.tls = tls_from_environment();
  return options;
}

}  // namespace coxswain
