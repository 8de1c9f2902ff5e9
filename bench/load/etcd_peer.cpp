// Requests to etcd. A barrier is a key whose version counts the arrivals, and another one that all
// watch; keys are keys; a wait for a value is a watch.

#include "bench_error.hpp"
#include "load/grpc.hpp"
#include "load/peer.hpp"

#include "coxswain/xla/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::bench {
namespace {

constexpr std::string_view range_path = "/etcdserverpb.KV/Range";
constexpr std::string_view put_path = "/etcdserverpb.KV/Put";
constexpr std::string_view watch_path = "/etcdserverpb.Watch/Watch";

constexpr std::string_view watched_key = "release";

// Fields of etcd's messages (rpc.proto, kv.proto).
namespace field {
constexpr std::uint32_t key = 1;
constexpr std::uint32_t range_end = 2;
constexpr std::uint32_t put_value = 2;
constexpr std::uint32_t put_prev_kv = 4;
constexpr std::uint32_t range_serializable = 7;
constexpr std::uint32_t watch_create = 1;
constexpr std::uint32_t answer_kv = 2;  // of a range: what was found; of a put: what was there
constexpr std::uint32_t watch_created = 3;
constexpr std::uint32_t watch_canceled = 4;
constexpr std::uint32_t watch_event = 11;
constexpr std::uint32_t event_kv = 2;
constexpr std::uint32_t kv_version = 4;
constexpr std::uint32_t kv_value = 5;
}  // namespace field

std::optional<wire::field> find(std::string_view message, std::uint64_t number) {
  return take_field(message, number);
}

class etcd_peer final : public grpc_peer {
 public:
  explicit etcd_peer(rival_plan plan) : plan_{plan} {}

  bool has_keys() const noexcept override { return true; }

  std::size_t introduce(std::string& out, std::size_t connection) override {
    line(connection).append_preface(out);
    std::size_t answers = 1;
    if (connection < plan_.subscribers) {
      std::string create;
      std::string what;
      xla::append_content(what, field::key, watched_key);
      xla::append_content(create, field::watch_create, what);
      line(connection).append_call(out, watch_path, create, grpc_kind::watched);
      ++answers;
    }
    if (plan_.tasks > 0 && connection == 0) {
      put(out, connection, "step", "", false);  // from here on there is a version to count
      ++answers;
    }
    return answers;
  }

  void expect(std::vector<core::answer> models) override {
    value_sizes_.clear();
    listed_ = 0;
    for (auto const& m : models) {
      if (auto const* const value = std::get_if<core::value_answer>(&m.value)) {
        value_sizes_.push_back(value->value.view().size());
      } else if (auto const* const listing = std::get_if<core::listing_answer>(&m.value)) {
        listed_ = listing->entries.size();
        for (auto const& one : listing->entries) value_sizes_.push_back(one.value.view().size());
      }
    }
  }

  void ask(std::string& out, asking const& how, core::request what) override {
    std::visit([&](auto& args) { say(out, how, args); }, what);
  }

  verdict judge(received_frame const& frame) override {
    auto const item = grpc_item::from(frame);
    if (item.kind == grpc_kind::pong) return verdict::answer;
    if (item.kind == grpc_kind::watched) return judge_watch(item.content);
    if (listed_ > 0) return judge_listing(item.content);
    return plan_.tasks > 0 ? judge_arrival(item.content) : judge_key(item.content);
  }

  void settle() override {
    if (plan_.subscribers > 0 || without_value_ == 0) return;
    throw bench_error{"it did not have the value of each key that was read"};
  }

 private:
  template <class Args>
  void say(std::string& /*out*/, asking const& /*how*/, Args const& /*args*/) {
    throw bench_error{"there is nothing in etcd for what this workload asks"};
  }
  // That a round is complete.
  void say(std::string& out, asking const& how, std::monostate) {
    put(out, how.connection, watched_key, std::to_string(arrivals_), false);
  }
  void say(std::string& out, asking const& how, core::barrier_args const& args) {
    ++arrivals_;
    put(out, how.connection, args.name, "", true);
  }
  void say(std::string& out, asking const& how, core::put_args const& args) {
    check_window(how, args.value.size());
    ++without_value_;
    put(out, how.connection, plan_.subscribers > 0 ? watched_key : args.key, args.value, false);
  }
  // A connection that watches need not ask.
  void say(std::string& out, asking const& how, core::get_args const& args) {
    check_window(how, 0);
    if (how.connection >= plan_.subscribers) get(out, how.connection, args.key);
  }
  // All keys whose names begin with the directory's and a slash: up to the next character.
  void say(std::string& out, asking const& how, core::list_args const& args) {
    check_window(how, 0);
    get(out, how.connection, args.directory + '/', args.directory + char{'/' + 1});
  }
  void say(std::string& out, asking const& how, core::count_keys_args const&) {
    get(out, how.connection, watched_key);
  }
  // Nothing is removed: all watches would be notified.
  void say(std::string& out, asking const& how, core::remove_args const&) {
    say(out, how, core::count_keys_args{});
  }

  void put(std::string& out, std::size_t connection, std::string_view key, std::string_view value,
           bool is_counted) {
    std::string message;
    xla::append_content(message, field::key, key);
    xla::append_content(message, field::put_value, value);
    if (is_counted) xla::append_number(message, field::put_prev_kv, 1);
    line(connection).append_call(out, put_path, message);
  }

  void get(std::string& out, std::size_t connection, std::string_view key,
           std::string_view end = {}) {
    std::string message;
    xla::append_content(message, field::key, key);
    if (!end.empty()) xla::append_content(message, field::range_end, end);
    xla::append_number(message, field::range_serializable, 1);
    line(connection).append_call(out, range_path, message);
  }

  verdict judge_watch(std::string_view message) const {
    if (find(message, field::watch_canceled)) throw bench_error{"it has ended a watch"};
    if (find(message, field::watch_created)) return verdict::answer;
    auto const event = find(message, field::watch_event);
    auto const kv = event ? find(event->content, field::event_kv) : std::nullopt;
    if (!kv) return verdict::push;
    auto const value = find(kv->content, field::kv_value);
    if (plan_.tasks == 0 || (value && value->content == std::to_string(arrivals_))) {
      return verdict::answer;
    }
    throw bench_error{"it released a round that is not complete"};
  }

  // The version before it counts the puts; the first one was not an arrival.
  verdict judge_arrival(std::string_view message) {
    auto const before = find(message, field::answer_kv);
    if (!before) return std::exchange(is_introduced_, true) ? verdict::push : verdict::answer;
    auto const version = find(before->content, field::kv_version);
    bool const is_last = version && version->value % plan_.tasks == 0;
    return is_last ? verdict::respond : verdict::push;
  }

  verdict judge_key(std::string_view message) {
    auto const kv = find(message, field::answer_kv);
    if (!kv) {
      --without_value_;
      return verdict::answer;
    }
    auto const value = find(kv->content, field::kv_value);
    auto const size = value ? value->content.size() : 0;
    bool const is_expected =
        plan_.subscribers > 0 ||
        std::find(value_sizes_.begin(), value_sizes_.end(), size) != value_sizes_.end();
    if (is_expected) return verdict::answer;
    throw bench_error{fmt::format("it answered with a value of {} bytes, as no key has", size)};
  }

  verdict judge_listing(std::string_view message) const {
    std::size_t keys = 0;
    while (auto const kv = take_field(message, field::answer_kv)) {
      auto const value = find(kv->content, field::kv_value);
      if (keys < listed_ && value_sizes_[keys] != (value ? value->content.size() : 0)) break;
      ++keys;
    }
    if (keys == listed_) return verdict::answer;
    throw bench_error{fmt::format("its listing has {} of {} keys", keys, listed_)};
  }

  rival_plan plan_;
  std::uint64_t arrivals_{};
  bool is_introduced_{};
  std::int64_t without_value_{};  // puts, less the answers that have no value
  std::vector<std::size_t> value_sizes_;
  std::size_t listed_{};  // keys of a directory
};

}  // namespace

std::unique_ptr<peer> make_etcd_peer(rival_plan plan) { return std::make_unique<etcd_peer>(plan); }

}  // namespace coxswain::bench
