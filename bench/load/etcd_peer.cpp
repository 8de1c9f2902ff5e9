// Requests to etcd. A barrier is a key whose version counts the arrivals, and another one that all
// watch; keys are keys; a wait for a value is a watch.

#include "bench_error.hpp"
#include "load/http2.hpp"
#include "load/peer.hpp"

#include "coxswain/base/text_numbers.hpp"
#include "coxswain/wire/field_reader.hpp"

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

// The flow-control window of a client; and the size of a call without its value.
constexpr std::size_t window_bytes = 65'535;
constexpr std::size_t call_bytes = 64;

// So that no request exceeds HTTP/2's initial window.
constexpr std::size_t value_bytes_max = 8 * 1024;

// The stream of a connection's watch: it is opened first.
constexpr std::uint32_t watch_stream = 1;

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

void append_text(std::string& out, std::uint32_t number, std::string_view text) {
  coxswain::append_number(out, number << 3 | 2);
  coxswain::append_number(out, text.size());
  out += text;
}

void append_true(std::string& out, std::uint32_t number) {
  coxswain::append_number(out, number << 3);
  coxswain::append_number(out, 1);
}

// A field of a message: a number, or bytes.
struct found_field {
  std::uint64_t number{};
  std::string_view text;
};

// The first field of this number, if there is one. What comes after it is left in `message`.
std::optional<found_field> take(wire::field_reader& message, std::uint32_t wanted) {
  while (auto const tag = message.next_tag()) {
    found_field found;
    if ((tag & 7) == 2)
      found.text = message.take_content();
    else
      found.number = (tag & 7) == 0 ? message.take_number() : message.fail();
    if (message.succeeded() && tag >> 3 == wanted) return found;
  }
  if (!message.succeeded()) throw bench_error{"it sent nonsense, or fields etcd does not use"};
  return std::nullopt;
}

std::optional<found_field> find(std::string_view message, std::uint32_t wanted) {
  wire::field_reader fields{message};
  return take(fields, wanted);
}

class etcd_peer final : public peer {
 public:
  explicit etcd_peer(rival_plan plan) : plan_{plan} {}

  bool has_keys() const noexcept override { return true; }
  frame_source_maker reader() const noexcept override {
    return []() -> std::unique_ptr<frame_source> { return std::make_unique<http2_reader>(); };
  }

  void open(std::size_t connection) override {
    if (lines_.size() <= connection) lines_.resize(connection + 1);
    lines_[connection] = {};
  }

  std::size_t introduce(std::string& out, std::size_t connection) override {
    http2_writer::append_preface(out);
    std::size_t answers = 0;
    if (connection < plan_.subscribers) {
      std::string create;
      std::string what;
      append_text(what, field::key, watched_key);
      append_text(create, field::watch_create, what);
      lines_[connection].append_call(out, watch_path, create, true);
      ++answers;
    } else if (plan_.subscribers > 0) {
      lines_[connection].skip_stream();
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
    auto const item = http2_item::from(frame);
    if (!item.is_message) {
      reply_ = item.content;
      return verdict::respond;
    }
    if (plan_.subscribers > 0 && item.stream == watch_stream) return judge_watch(item.content);
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
  // Immediate messages: for the connection itself, or that a round is complete.
  void say(std::string& out, asking const& how, std::monostate) {
    if (reply_.empty())
      put(out, how.connection, watched_key, std::to_string(arrivals_), false);
    else
      out += std::exchange(reply_, {});
  }
  void say(std::string& out, asking const& how, core::barrier_args const& args) {
    ++arrivals_;
    put(out, how.connection, args.name, "", true);
  }
  void say(std::string& out, asking const& how, core::put_args const& args) {
    check_window(how, args.value.size());
    if (args.value.size() > value_bytes_max) {
      throw bench_error{fmt::format("values of more than {} bytes are not for --vs etcd: its "
                                    "client here knows no flow control",
                                    value_bytes_max),
                        exit_code::usage};
    }
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

  static void check_window(asking const& how, std::size_t value_bytes) {
    if ((how.unanswered + 1) * (call_bytes + value_bytes) <= window_bytes) return;
    throw bench_error{
        "--vs etcd: so many requests --outstanding pass what HTTP/2 lets a client send, "
        "and its client here knows no flow control: take fewer",
        exit_code::usage};
  }

  void put(std::string& out, std::size_t connection, std::string_view key, std::string_view value,
           bool is_counted) {
    std::string message;
    append_text(message, field::key, key);
    append_text(message, field::put_value, value);
    if (is_counted) append_true(message, field::put_prev_kv);
    lines_[connection].append_call(out, put_path, message);
  }

  void get(std::string& out, std::size_t connection, std::string_view key,
           std::string_view end = {}) {
    std::string message;
    append_text(message, field::key, key);
    if (!end.empty()) append_text(message, field::range_end, end);
    append_true(message, field::range_serializable);
    lines_[connection].append_call(out, range_path, message);
  }

  verdict judge_watch(std::string_view message) const {
    if (find(message, field::watch_canceled)) throw bench_error{"it has ended a watch"};
    if (find(message, field::watch_created)) return verdict::answer;
    auto const event = find(message, field::watch_event);
    auto const kv = event ? find(event->text, field::event_kv) : std::nullopt;
    if (!kv) return verdict::push;
    auto const value = find(kv->text, field::kv_value);
    if (plan_.tasks == 0 || (value && value->text == std::to_string(arrivals_))) {
      return verdict::answer;
    }
    throw bench_error{"it released a round that is not complete"};
  }

  // The version before it counts the puts; the first one was not an arrival.
  verdict judge_arrival(std::string_view message) {
    auto const before = find(message, field::answer_kv);
    if (!before) return std::exchange(is_introduced_, true) ? verdict::push : verdict::answer;
    auto const version = find(before->text, field::kv_version);
    bool const is_last = version && version->number % plan_.tasks == 0;
    return is_last ? verdict::respond : verdict::push;
  }

  verdict judge_key(std::string_view message) {
    auto const kv = find(message, field::answer_kv);
    if (!kv) {
      --without_value_;
      return verdict::answer;
    }
    auto const value = find(kv->text, field::kv_value);
    auto const size = value ? value->text.size() : 0;
    bool const is_expected =
        plan_.subscribers > 0 ||
        std::find(value_sizes_.begin(), value_sizes_.end(), size) != value_sizes_.end();
    if (is_expected) return verdict::answer;
    throw bench_error{fmt::format("it answered with a value of {} bytes, as no key has", size)};
  }

  verdict judge_listing(std::string_view message) const {
    wire::field_reader fields{message};
    std::size_t keys = 0;
    while (auto const kv = take(fields, field::answer_kv)) {
      auto const value = find(kv->text, field::kv_value);
      if (keys < listed_ && value_sizes_[keys] != (value ? value->text.size() : 0)) break;
      ++keys;
    }
    if (keys == listed_) return verdict::answer;
    throw bench_error{fmt::format("its listing has {} of {} keys", keys, listed_)};
  }

  rival_plan plan_;
  std::vector<http2_writer> lines_;  // by connection
  std::string reply_;                // that a connection needs
  std::uint64_t arrivals_{};
  bool is_introduced_{};
  std::int64_t without_value_{};  // puts, less the answers that have no value
  std::vector<std::size_t> value_sizes_;
  std::size_t listed_{};  // keys of a directory
};

}  // namespace

std::unique_ptr<peer> make_etcd_peer(rival_plan plan) { return std::make_unique<etcd_peer>(plan); }

}  // namespace coxswain::bench
