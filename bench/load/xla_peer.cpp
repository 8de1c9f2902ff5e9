// Requests to the coordinator, or to XLA's own service, in the protocol of that service: its third
// generation, as jaxlib's client has spoken it since 0.10.

#include "bench_error.hpp"
#include "load/grpc.hpp"
#include "load/peer.hpp"

#include "coxswain/core/config.hpp"
#include "coxswain/xla/codec.hpp"

#include <fmt/format.h>
#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::bench {
namespace {

using xla::method;

xla::task_name name_of(task_id task) { return {static_cast<std::int32_t>(task.value)}; }

// The shape of the expected reply.
struct reply_model {
  std::string end;
  std::size_t before{};  // so many bytes may precede it

  [[nodiscard]] bool fits(std::string_view reply) const {
    return reply.ends_with(end) && reply.size() <= end.size() + before;
  }
};

class xla_peer final : public grpc_peer {
 public:
  explicit xla_peer(bool observes) : observes_{observes} {}

  bool has_sessions() const noexcept override { return true; }
  bool has_hello() const noexcept override { return false; }
  bool has_background_calls() const noexcept override { return true; }

  void open(std::size_t connection) override {
    grpc_peer::open(connection);
    if (joined_.size() <= connection) joined_.resize(connection + 1);
    joined_[connection].clear();
  }

  std::size_t introduce(std::string& out, std::size_t connection) override {
    line(connection).append_preface(out);
    if (!observes_ || connection > 0) return 1;
    append_registration(out, connection, task_id{0}, incarnation{1});
    return 2;
  }

  // An error poll, a watch of all tasks, and a get of the key by which preemptions are announced;
  // and a ping, whose answer shows that the server has read them.
  std::size_t append_background_calls(std::string& out, std::size_t connection) override {
    if (joined_[connection].empty()) return 0;
    auto const call = [&](method what, xla::request const& asked) {
      append(out, connection, what, asked, grpc_kind::background);
    };
    for (auto const& self : joined_[connection]) {
      call(method::poll_for_error, self);
      call(method::watch_tasks, {.number = version_});
      call(method::get_key_value, {.name = std::string{xla::preemption_key}});
    }
    line(connection).append_ping(out);
    return 1;
  }

  void expect(std::vector<core::answer> models) override {
    models_.clear();
    for (auto const& m : models) models_.push_back(model_of(m));
  }

  void ask(std::string& out, asking const& how, core::request what) override {
    std::visit([&](auto& args) { say(out, how, args); }, what);
  }

  verdict judge(received_frame const& frame) override {
    auto const item = grpc_item::from(frame);
    switch (item.kind) {
      case grpc_kind::pong: return verdict::answer;
      case grpc_kind::beat: return verdict::beat;
      case grpc_kind::registered: return learn_service(item.content);
      default: break;
    }
    if (std::exchange(asks_version_, false)) {
      version_ = version_in(item.content);
      return verdict::answer;
    }
    auto const fits = [&](reply_model const& m) { return m.fits(item.content); };
    if (std::any_of(models_.begin(), models_.end(), fits)) return verdict::answer;
    throw bench_error{fmt::format("it answered with {} bytes, which are not what was asked for",
                                  item.content.size())};
  }

  duration beat_period() const noexcept override { return core::config{}.heartbeat_timeout / 3; }

 private:
  static reply_model model_of(core::answer const& m) {
    constexpr std::size_t key_bytes_max = 256;
    if (auto const* const value = std::get_if<core::value_answer>(&m.value)) {
      return {std::string{value->value.view()}, key_bytes_max};
    }
    if (auto const* const released = std::get_if<core::barrier_answer>(&m.value)) {
      return {xla::encode_counter(static_cast<std::int64_t>(released->round.value) - 1)};
    }
    return {};
  }

  static std::int64_t version_in(std::string_view states) {
    constexpr std::uint64_t version_number = 2;
    auto const version = take_field(states, version_number);
    return version ? static_cast<std::int64_t>(version->value) : 0;
  }

  template <class Args>
  void say(std::string& /*out*/, asking const& /*how*/, Args const& /*args*/) {
    throw bench_error{"XLA's protocol has nothing for what this workload asks"};
  }
  // The one who observed the job as its only task leaves it.
  void say(std::string& out, asking const& how, core::bye_args const&) {
    if (!observes_) return;
    for (auto const& self : joined_[how.connection]) {
      append(out, how.connection, method::shutdown_task, self, grpc_kind::background);
    }
  }
  // A heartbeat of each task: one of them is answered.
  void say(std::string& out, asking const& how, std::monostate) {
    auto kind = grpc_kind::beat;
    for (auto const& self : joined_[how.connection]) {
      append(out, how.connection, method::heartbeat, self,
             std::exchange(kind, grpc_kind::background));
    }
  }
  void say(std::string& out, asking const& how, core::join_args const& args) {
    append_registration(out, how.connection, how.task.value(), args.self);
  }
  void say(std::string& out, asking const& how, core::leave_args const&) {
    call(out, how, method::shutdown_task, {name_of(how.task.value())});
  }
  void say(std::string& out, asking const& how, core::barrier_args const& args) {
    auto const task = how.task.value();
    if (rounds_.size() <= task.value) rounds_.resize(task.value + 1);
    xla::request arrival{name_of(task)};
    arrival.name = args.name;
    arrival.timeout_ms = std::chrono::floor<std::chrono::milliseconds>(args.timeout).count();
    arrival.counter = rounds_[task.value]++;
    call(out, how, method::barrier, arrival);
  }
  void say(std::string& out, asking const& how, core::put_args const& args) {
    call(out, how, method::insert_key_value,
         {.name = args.key, .value = args.value, .overwrite = args.overwrite});
  }
  void say(std::string& out, asking const& how, core::get_args const& args) {
    call(out, how, method::get_key_value, {.name = args.key});
  }
  void say(std::string& out, asking const& how, core::remove_args const& args) {
    call(out, how, method::delete_key_value, {.name = args.key});
  }
  void say(std::string& out, asking const& how, core::remove_tree_args const& args) {
    call(out, how, method::delete_key_value, {.name = args.directory});
  }
  // Asked to know that the server has read what was sent before.
  void say(std::string& out, asking const& how, core::count_keys_args const&) {
    line(how.connection).append_ping(out);
  }
  void say(std::string& out, asking const& how, core::watch_tasks_args const&) {
    asks_version_ = true;
    call(out, how, method::watch_tasks, {.number = -1});
  }

  void call(std::string& out, asking const& how, method what, xla::request const& asked) {
    check_window(how, asked.name.size() + asked.value.size());
    append(out, how.connection, what, asked, grpc_kind::answer);
  }

  void append_registration(std::string& out, std::size_t connection, task_id task,
                           incarnation self) {
    auto const& asked = joined_[connection].emplace_back(xla::request{name_of(task), self});
    append(out, connection, method::register_task, asked, grpc_kind::registered);
  }

  // All later requests state it.
  verdict learn_service(std::string_view reply) {
    constexpr std::uint64_t service_number = 1;
    auto const service = take_field(reply, service_number);
    if (!service || service->content.size() != sizeof(std::uint64_t)) {
      throw bench_error{"it registered a task without its own incarnation"};
    }
    auto const* const content = reinterpret_cast<unsigned char const*>(service->content.data());
    service_ = incarnation{boost::endian::load_little_u64(content)};
    return verdict::answer;
  }

  void append(std::string& out, std::size_t connection, method what, xla::request asked,
              grpc_kind kind) {
    xla::method_path const path{what, xla::generation::third};
    asked.service = service_;
    line(connection).append_call(out, xla::path_of(path), xla::encode_request(path, asked), kind);
  }

  bool observes_;
  incarnation service_{};
  std::vector<std::vector<xla::request>> joined_;  // by connection: its tasks, with incarnations
  std::vector<std::int64_t> rounds_;               // by task: of the barrier
  std::int64_t version_{};                         // of the tasks' states
  bool asks_version_{};
  std::vector<reply_model> models_;
};

}  // namespace

std::unique_ptr<peer> make_xla_peer(bool observes) { return std::make_unique<xla_peer>(observes); }

}  // namespace coxswain::bench
