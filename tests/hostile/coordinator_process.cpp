#include "tests/hostile/coordinator_process.hpp"

#include "coxswain/net/asio.hpp"

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace coxswain::hostile {
namespace {

// Longer than any working operation takes.
constexpr duration limit = 60s;

using clock = std::chrono::steady_clock;

// The text between `before` and the next quotation mark.
std::string quoted_after(std::string_view text, std::string_view before) {
  auto const at = text.find(before);
  BOOST_TEST_REQUIRE(at != text.npos, "no " << before << " in " << text);
  auto const begin = at + before.size();
  return std::string{text.substr(begin, text.find('"', begin) - begin)};
}

std::filesystem::path new_directory() {
  std::string path = (std::filesystem::temp_directory_path() / "coxswain-hostile-XXXXXX").string();
  BOOST_TEST_REQUIRE(::mkdtemp(path.data()) != nullptr);
  return path;
}

// Starts the program with its standard output going to the descriptor.
pid_t start(std::string const& program, std::vector<std::string> const& arguments, int output) {
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (auto const& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t const pid = ::fork();
  BOOST_TEST_REQUIRE(pid >= 0);
  if (pid != 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
  ::execv(program.c_str(), argv.data());
  ::_exit(127);
}

// Returns once it has written a line, which is `line` then.
pid_t start_until_ready(std::string const& program, std::vector<std::string> const& arguments,
                        std::string& line) {
  std::array<int, 2> ends{};
  BOOST_TEST_REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  pid_t const pid = start(program, arguments, ends[1]);
  ::close(ends[1]);
  for (char c{}; ::read(ends[0], &c, 1) == 1 && c != '\n';) line.push_back(c);
  ::close(ends[0]);
  return pid;
}

std::size_t status_kib(pid_t of, std::string const& field) {
  std::ifstream status{"/proc/" + std::to_string(of) + "/status"};
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field + ':')) return std::stoull(line.substr(field.size() + 1));
  }
  return 0;
}

}  // namespace

coordinator_process::coordinator_process(std::size_t tasks, std::vector<std::string> const& options)
    : directory_{new_directory()} {
  char const* const program = std::getenv("COXSWAIN_BIN");
  BOOST_TEST_REQUIRE(program != nullptr, "COXSWAIN_BIN must name the program coxswain");
  auto const tokens = directory_ / "tokens";
  std::ofstream{tokens} << "worker worker\noperator operator\nreader reader\n";
  std::filesystem::permissions(tokens, std::filesystem::perms::owner_read);
  std::vector<std::string> arguments{"serve",       "-n",           std::to_string(tasks),
                                     "--listen",    "127.0.0.1:0",  "--http",
                                     "127.0.0.1:0", "--token-file", tokens.string()};
  arguments.insert(arguments.end(), options.begin(), options.end());
  std::string line;
  pid_ = start_until_ready(program, arguments, line);
  address_ = quoted_after(line, R"("addresses":[")");
  http_ = quoted_after(line, R"("http":")");
  constexpr std::string_view jax = R"("xla_addresses":[")";
  if (line.find(jax) != line.npos) jax_address_ = quoted_after(line, jax);
}

coordinator_process::~coordinator_process() {
  if (pid_ != 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

bool coordinator_process::is_running() {
  if (pid_ != 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = 0;
  return pid_ != 0;
}

std::size_t coordinator_process::status_kib(std::string const& field) const {
  return hostile::status_kib(pid_, field);
}

std::size_t coordinator_process::resident_bytes() const { return status_kib("VmRSS") * 1024; }
std::size_t coordinator_process::resident_bytes_max() const { return status_kib("VmHWM") * 1024; }

std::size_t coordinator_process::open_descriptors() const {
  std::filesystem::directory_iterator const all{"/proc/" + std::to_string(pid_) + "/fd"};
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::string coordinator_process::get(std::string const& path) const {
  asio::io_context io;
  asio::ip::tcp::socket s{io};
  auto const port = static_cast<std::uint16_t>(std::stoul(http_.substr(http_.rfind(':') + 1)));
  s.connect({asio::ip::address_v4::loopback(), port});
  timeval const wait_max{std::chrono::duration_cast<std::chrono::seconds>(limit).count(), 0};
  ::setsockopt(s.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &wait_max, sizeof wait_max);
  std::string const question = "GET " + path +
                               " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
                               "Authorization: Bearer operator\r\n\r\n";
  asio::write(s, asio::buffer(question));
  std::string answer;
  std::array<char, 16 * 1024> buffer;
  for (boost::system::error_code problem; !problem;) {
    answer.append(buffer.data(), s.read_some(asio::buffer(buffer), problem));
  }
  if (!answer.starts_with("HTTP/1.1 200")) throw std::runtime_error{"GET " + path + ": " + answer};
  return answer;
}

duration coordinator_process::ask_livez() const {
  auto const begin = clock::now();
  static_cast<void>(get("/livez"));
  return clock::now() - begin;
}

double coordinator_process::metric(std::string const& name) const {
  auto const all = get("/metrics");
  auto const at = all.find('\n' + name + ' ');
  if (at == all.npos) throw std::runtime_error{"no metric " + name};
  return std::stod(all.substr(at + name.size() + 2));
}

duration coordinator_process::terminate() {
  auto const begin = clock::now();
  int const process = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  ::kill(pid_, SIGTERM);
  pollfd ends{process, POLLIN, 0};
  constexpr auto wait_max = std::chrono::duration_cast<std::chrono::milliseconds>(limit).count();
  BOOST_TEST(::poll(&ends, 1, static_cast<int>(wait_max)) == 1, "it does not end after SIGTERM");
  ::close(process);
  is_running();
  return clock::now() - begin;
}

relay_process::relay_process(coordinator_process const& to, std::vector<std::string> const& options)
    : directory_{new_directory()} {
  char const* const program = std::getenv("COXSWAIN_BIN");
  BOOST_TEST_REQUIRE(program != nullptr, "COXSWAIN_BIN must name the program coxswain");
  auto const token = directory_ / "token";
  std::ofstream{token} << "worker";
  std::filesystem::permissions(token, std::filesystem::perms::owner_read);
  std::vector<std::string> arguments{"relay",
                                     "--upstream",
                                     to.address(),
                                     "--listen",
                                     "unix:" + (directory_ / "socket").string(),
                                     "--tcp-store-listen",
                                     "127.0.0.1:0",
                                     "--token-file",
                                     token.string()};
  arguments.insert(arguments.end(), options.begin(), options.end());
  std::string line;
  pid_ = start_until_ready(program, arguments, line);
  address_ = quoted_after(line, R"("addresses":[")");
  tcp_store_address_ = quoted_after(line, '"' + address_ + R"(",")");
}

relay_process::~relay_process() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

std::size_t relay_process::resident_bytes_max() const { return status_kib(pid_, "VmHWM") * 1024; }

}  // namespace coxswain::hostile
