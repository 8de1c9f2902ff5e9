#include "bench_error.hpp"
#include "floor.hpp"
#include "peer.hpp"

#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/frame.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace coxswain::bench {
namespace {

class floor_peer final : public peer {
 public:
  floor_peer() : model_{make_coxswain_peer(0)} {}

  bool has_sessions() const noexcept override { return false; }

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
    if (how.is_silent) return append(out, request_bytes, floor_answer_never);
    auto const body_bytes = answer_bytes_.at(how.model);
    scratch_.clear();
    wire::append_server_head(scratch_, id, body_bytes);
    auto const answer_bytes = scratch_.size() - wire::length_bytes + body_bytes;
    bytes_to_come_ += answer_bytes;
    append(out, request_bytes, answer_bytes | (how.is_alone ? floor_answer_at_once : 0));
  }

  verdict judge(received_frame const& frame) override {
    bytes_to_come_ -= frame.bytes;
    return verdict::answer;
  }

  void settle() override {
    if (bytes_to_come_ == 0) return;
    throw bench_error{"the floor sent other sizes than it was asked for"};
  }

  duration beat_period() const noexcept override { return {}; }

 private:
  static void append(std::string& out, std::size_t request_bytes, std::size_t answer) {
    auto const size = std::max(request_bytes, floor_request_bytes_min);
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

std::unique_ptr<peer> make_floor_peer() { return std::make_unique<floor_peer>(); }

}  // namespace coxswain::bench
