#include "tests/sim/everything/injected_bugs.hpp"

#include <optional>
#include <variant>

namespace coxswain::sim {
namespace {

constexpr std::size_t auditor = 0;
constexpr std::size_t frame_bytes_max = std::size_t{1} << 30;

void append_frame(std::string& out, wire::server_message const& m) {
  wire::encoded_answer const body = wire::encode(m.what);
  wire::append_server_head(out, m.id, body.size());
  out.append(body.head).append(body.tail.view());
}

}  // namespace

wire::frame_decoder& bug_injector::decoder(std::map<std::uint64_t, wire::frame_decoder>& of,
                                           link const& on) {
  return of.try_emplace(on.number, frame_bytes_max).first->second;
}

std::string bug_injector::up(std::size_t process, link const& on, std::string_view bytes) {
  if (process == auditor) return std::string{bytes};
  std::string changed;
  auto& frames = decoder(up_, on);
  frames.feed(bytes);
  for (auto frame = frames.next(); frame && *frame; frame = frames.next()) {
    client_messages sent{*wire::decode_client(**frame)};
    auto const* const hello = std::get_if<core::hello_args>(&sent[0].what);
    if (hello && hello->acts_for) guests_.insert(process);
    if (sent[0].id != request_id{}) requests_[{process, sent[0].id}] = sent[0].what;
    if (how_.up) how_.up(*this, process, sent);
    for (auto const& one : sent) wire::append_frame(changed, one);
  }
  return changed;
}

std::string bug_injector::down(std::size_t process, link const& on, std::string_view bytes) {
  if (process == auditor || !how_.down) return std::string{bytes};
  std::string changed;
  auto& frames = decoder(down_, on);
  frames.feed(bytes);
  for (auto frame = frames.next(); frame && *frame; frame = frames.next()) {
    server_messages sent{*wire::decode_server(**frame)};
    how_.down(*this, process, sent);
    for (auto const& one : sent) append_frame(changed, one);
  }
  return changed;
}

}  // namespace coxswain::sim
