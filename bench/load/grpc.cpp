#include "load/grpc.hpp"

#include "bench_error.hpp"
#include "load/tally.hpp"

#include <fmt/format.h>
#include <boost/endian/conversion.hpp>

#include <utility>
#include <variant>

namespace coxswain::bench {
namespace {

using namespace std::string_view_literals;

// The window of a connection and of a stream before the server has widened it.
constexpr std::size_t window_bytes = 65'535;

// Of a frame: the length of its payload, its kind, flags and stream.
constexpr std::size_t frame_head_bytes = 9;
constexpr std::size_t kind_at = 3;
constexpr char headers_kind = 1;

// A call takes at most this much besides its message.
constexpr std::size_t call_bytes = 64;

constexpr std::size_t output_bytes_max = std::size_t{1} << 30;

// SETTINGS and WINDOW_UPDATE of a server that takes 1 GiB, and whose priorities are as ours are.
constexpr auto generous_server =
    "\0\0\6\4\0\0\0\0\0\0\11\0\0\0\1"
    "\0\0\4\10\0\0\0\0\0\x40\0\0\0"sv;

}  // namespace

grpc_line::grpc_line() : session_{{.message_bytes_max = output_bytes_max}} {}

void grpc_line::append_preface(std::string& out) {
  append_output(out);
  // Calls are encoded before the server's SETTINGS arrive, so the session gets generous ones now.
  // Their acknowledgement is dropped, since the server never sent them.
  session_.receive(now(), generous_server, events_);
  std::string acknowledgement;
  append_output(acknowledgement);
  append_ping(out);
}

void grpc_line::append_ping(std::string& out) {
  session_.ping(0);
  append_output(out);
}

void grpc_line::append_call(std::string& out, std::string_view path, std::string_view message,
                            grpc_kind kind) {
  append_output(out);
  auto const stream = session_.start({.path = path}, message);
  if (!stream) throw bench_error{"the connection takes no more calls"};
  if (kind != grpc_kind::answer) special_.emplace(*stream, kind);
  std::string frames;
  append_output(frames);
  for (std::string_view rest = frames; !rest.empty();) {
    auto const length =
        boost::endian::load_big_u24(reinterpret_cast<unsigned char const*>(rest.data()));
    auto const found = rest.substr(0, frame_head_bytes + length);
    rest.remove_prefix(found.size());
    if (found[kind_at] != headers_kind) {
      out += found;
      continue;
    }
    auto const head = out.size();
    out += found.substr(0, frame_head_bytes);
    headers_.append(out, path);
    boost::endian::store_big_u24(reinterpret_cast<unsigned char*>(&out[head]),
                                 static_cast<std::uint32_t>(out.size() - head - frame_head_bytes));
  }
  if (session_.unsent_bytes() == 0) return;
  refuse("a call of {} bytes exceeds what HTTP/2 lets a client send at first: take shorter values",
         message.size());
}

void grpc_line::append_output(std::string& out) { session_.append_output(out, output_bytes_max); }

std::optional<received_frame> grpc_line::next(std::string_view& input) {
  if (!input.empty()) session_.receive(now(), std::exchange(input, {}), events_);
  while (at_ < events_.size()) {
    bool const is_item = std::visit([this](auto const& e) { return take(e); }, events_[at_++]);
    if (is_item) return received_frame{item_, item_.size()};
  }
  events_.clear();
  at_ = 0;
  return std::nullopt;
}

std::string grpc_line::take_output() {
  std::string output;
  if (session_.wants_write()) append_output(output);
  if (!session_.error().empty()) throw bench_error{"it broke HTTP/2: " + session_.error()};
  return output;
}

grpc_kind grpc_line::kind_of(http2::stream_id stream) const {
  auto const found = special_.find(stream);
  return found == special_.end() ? grpc_kind::answer : found->second;
}

bool grpc_line::take(http2::reply_message const& message) {
  auto const kind = kind_of(message.stream);
  if (kind == grpc_kind::background) return false;
  ++unended_;
  item_.assign(1, static_cast<char>(kind));
  item_ += message.message;
  return true;
}

bool grpc_line::take(http2::call_ended const& end) {
  auto const kind = kind_of(end.stream);
  special_.erase(end.stream);
  if (kind == grpc_kind::background) return false;
  if (!end.outcome.ok()) throw bench_error{"it refused: " + end.outcome.text()};
  if (unended_ == 0) throw bench_error{"it ended a call without an answer"};
  --unended_;
  return false;
}

bool grpc_line::take(http2::ping_answer const&) {
  item_.assign(1, static_cast<char>(grpc_kind::pong));
  return true;
}

bool grpc_line::take(http2::peer_goodbye const& goodbye) {
  throw bench_error{"it ends the connection: " + goodbye.text};
}

void grpc_peer::open(std::size_t connection) {
  if (lines_.size() <= connection) lines_.resize(connection + 1);
  lines_[connection] = std::make_shared<grpc_line>();
}

void grpc_peer::check_window(asking const& how, std::size_t message_bytes) {
  if ((how.unanswered + 1) * (call_bytes + message_bytes) <= window_bytes) return;
  refuse(
      "so many requests, or so long ones, exceed what HTTP/2 lets a client send at first, and the "
      "load does not wait for more: take fewer --outstanding, shorter values or more --sessions");
}

std::optional<wire::field> take_field(std::string_view& message, std::uint64_t number) {
  while (!message.empty()) {
    auto const found = wire::take_field(message);
    if (!found) throw bench_error{"it sent nonsense instead of Protobuf"};
    if (found->number == number) return found;
  }
  return std::nullopt;
}

}  // namespace coxswain::bench
