// Requests to the coordinator, and to the baseline.

#include "bench_error.hpp"
#include "load/peer.hpp"
#include "servers/baseline.hpp"

#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::bench {
namespace {

// By how much an answer's size may differ from its model's: versions and numbers take what they
// take.
std::size_t size_tolerance(std::size_t bytes) { return 32 + bytes / 16; }

// The id in front of an answer, which is the same for many but for that.
struct head_and_body {
  std::uint64_t id{};
  std::string_view body;
};

class id_field {
 public:
  id_field() {
    std::string head;
    wire::append_server_head(head, request_id{1}, 0);
    tag_ = head.at(wire::length_bytes);
  }
  // None if the payload does not begin with an id: then it is no request's answer.
  [[nodiscard]] std::optional<head_and_body> split(std::string_view payload) const {
    if (payload.empty() || payload.front() != tag_) return std::nullopt;
    head_and_body found;
    for (std::size_t i = 1, shift = 0; i < payload.size() && shift < 64; ++i, shift += 7) {
      auto const byte = static_cast<unsigned char>(payload[i]);
      found.id |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) {
        found.body = payload.substr(i + 1);
        return found;
      }
    }
    return std::nullopt;
  }

 private:
  char tag_{};
};

class coxswain_peer final : public peer {
 public:
  explicit coxswain_peer(std::uint32_t tasks) : tasks_{tasks} {}

  bool has_sessions() const noexcept override { return true; }

  void open(std::size_t connection) override {
    if (asked_.size() <= connection) asked_.resize(connection + 1);
    asked_[connection] = 0;
  }

  void expect(std::vector<core::answer> models) override {
    models_.clear();
    accepted_.clear();
    for (auto const& m : models) models_.push_back(model_of(m));
  }

  void ask(std::string& out, asking const& how, core::request what) override {
    auto& asked = asked_[how.connection];
    core::client_message m;
    m.answered_through = asked - std::min(asked, how.unanswered);
    if (is_numbered(what)) {
      m.id = request_id{++asked};
      ids_to_come_ += m.id.value;
    }
    m.task = how.task;
    m.what = std::move(what);
    wire::append_frame(out, m);
  }

  verdict judge(received_frame const& frame) override {
    auto const parts = ids_.split(frame.beginning);
    if (!parts) return judge_unnumbered(frame.beginning);
    ids_to_come_ -= parts->id;
    if (!frame.is_whole()) {
      check_size(frame.bytes - frame.beginning.size() + parts->body.size());
      return verdict::answer;
    }
    // Most answers are identical: only one of them is checked.
    if (!accepted_.empty() && parts->body == accepted_) return verdict::answer;
    auto const what = decode(frame.beginning).what;
    check_answer(what);
    // A failure names the missing tasks and the time: its length varies.
    if (what.outcome.ok()) check_size(parts->body.size());
    accepted_ = parts->body;
    return verdict::answer;
  }

  void settle() override {
    if (ids_to_come_ == 0) return;
    throw bench_error{"the server answered as often as it was asked, but not the same requests"};
  }

  duration beat_period() const noexcept override { return beat_period_; }

 private:
  struct model {
    errc outcome{};
    std::size_t kind{};  // the index in the variant of answers
    std::size_t bytes{};
  };

  static model model_of(core::answer const& m) {
    return {m.outcome.code(), m.value.index(), wire::encode(m).size()};
  }

  static wire::server_message decode(std::string_view payload) {
    auto message = wire::decode_server(payload);
    if (!message) throw bench_error{"it sent nonsense: " + message.error().text()};
    return *std::move(message);
  }

  verdict judge_unnumbered(std::string_view payload) {
    auto const message = decode(payload);
    auto const& what = message.what;
    if (auto const* bye = std::get_if<core::goodbye>(&what.value)) {
      throw bench_error{"it sent a goodbye: " + bye->why.text()};
    }
    if (auto const* failed = std::get_if<job_error>(&what.value)) {
      throw bench_error{"the job failed: " + failed->cause.why.text()};
    }
    if (auto const* hello = std::get_if<boxed<core::hello_answer>>(&what.value)) {
      check_job(**hello);
      beat_period_ = (*hello)->heartbeat_period;
      return verdict::answer;
    }
    if (std::holds_alternative<core::probe>(what.value)) return verdict::respond;
    bool const is_beat = std::holds_alternative<std::monostate>(what.value) && what.outcome.ok();
    return is_beat ? verdict::beat : verdict::push;
  }

  void check_job(core::hello_answer const& hello) const {
    if (tasks_ == 0 || hello.num_tasks == tasks_) return;
    throw bench_error{
        fmt::format("its job has {} tasks, but this run has {}: start it with that many, or give "
                    "--tasks {}",
                    hello.num_tasks, tasks_, hello.num_tasks)};
  }

  void check_answer(core::answer const& what) const {
    auto const is_such = [&](model const& m) {
      return m.outcome == what.outcome.code() && m.kind == what.value.index();
    };
    if (std::any_of(models_.begin(), models_.end(), is_such)) return;
    if (!what.outcome.ok()) throw bench_error{"it refused: " + what.outcome.text()};
    throw bench_error{"it answered with something else than what was asked for"};
  }

  void check_size(std::size_t body_bytes) const {
    auto const fits = [&](model const& m) {
      auto const tolerance = size_tolerance(m.bytes);
      return body_bytes <= m.bytes + tolerance && m.bytes <= body_bytes + tolerance;
    };
    if (std::any_of(models_.begin(), models_.end(), fits)) return;
    throw bench_error{fmt::format("it answered with {} bytes where about {} were expected",
                                  body_bytes, models_.empty() ? 0 : models_.back().bytes)};
  }

  std::uint32_t tasks_;
  id_field ids_;
  std::vector<std::uint64_t> asked_;  // by connection: how many requests, and so the last one's id
  std::uint64_t ids_to_come_{};       // the sum of the ids that have no answer yet
  std::vector<model> models_;
  std::string accepted_;  // an answer's body that was found good
  duration beat_period_{};
};

class baseline_peer final : public peer {
 public:
  baseline_peer() : model_{make_coxswain_peer(0)} {}

  void open(std::size_t connection) override {
    model_->open(connection);
    if (asked_.size() <= connection) asked_.resize(connection + 1);
    // So that ids and counts are as large as those of a real client, which has joined before.
    std::string ignored;
    model_->ask(ignored, {connection, std::nullopt}, core::join_args{});
    asked_[connection] = 1;
  }

  void expect(std::vector<core::answer> models) override {
    answer_bytes_.clear();
    for (auto const& m : models) answer_bytes_.push_back(wire::encode(m).size());
  }

  void ask(std::string& out, asking const& how, core::request what) override {
    auto const id = is_numbered(what) ? request_id{++asked_[how.connection]} : request_id{};
    scratch_.clear();
    model_->ask(scratch_, how, std::move(what));
    auto const request_bytes = scratch_.size() - wire::length_bytes;
    auto const body_bytes = answer_bytes_.at(how.model);
    scratch_.clear();
    wire::append_server_head(scratch_, id, body_bytes);
    auto const answer_bytes = scratch_.size() - wire::length_bytes + body_bytes;
    bytes_to_come_ += answer_bytes;
    append(out, request_bytes, answer_bytes | (how.is_alone ? baseline_answer_at_once : 0));
  }

  verdict judge(received_frame const& frame) override {
    bytes_to_come_ -= frame.bytes;
    return verdict::answer;
  }

  void settle() override {
    if (bytes_to_come_ == 0) return;
    throw bench_error{"the baseline sent other sizes than it was asked for"};
  }

 private:
  static void append(std::string& out, std::size_t request_bytes, std::size_t answer) {
    auto const size = std::max(request_bytes, baseline_request_bytes_min);
    wire::append_length(out, size);
    wire::append_length(out, answer);
    out.append(size - wire::length_bytes, '\0');
  }

  std::unique_ptr<peer> model_;
  std::vector<std::uint64_t> asked_;       // by connection: how many requests, the join among them
  std::vector<std::size_t> answer_bytes_;  // of the models, without their heads
  std::size_t bytes_to_come_{};            // of all answers' payloads
  std::string scratch_;
};

}  // namespace

std::shared_ptr<frame_source> peer::reader(std::size_t /*connection*/) {
  return std::make_shared<frame_reader>();
}

bool is_numbered(core::request const& what) {
  return !std::holds_alternative<core::hello_args>(what) &&
         !std::holds_alternative<core::bye_args>(what) &&
         !std::holds_alternative<std::monostate>(what);
}

std::unique_ptr<peer> make_coxswain_peer(std::uint32_t tasks) {
  return std::make_unique<coxswain_peer>(tasks);
}

std::unique_ptr<peer> make_baseline_peer() { return std::make_unique<baseline_peer>(); }

}  // namespace coxswain::bench
