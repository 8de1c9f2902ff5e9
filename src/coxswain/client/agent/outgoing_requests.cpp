#include "coxswain/client/agent/outgoing_requests.hpp"

#include "coxswain/client/agent/request_limits.hpp"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/frame.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::detail {
namespace {

constexpr request_id first_id{1};

}  // namespace

void outgoing_requests::add(open_call call) {
  queued_bytes_ += call.bytes;
  calls_.add(std::move(call));
}

bool outgoing_requests::send_call(time_point now, request_id id, core::hello_answer const& terms) {
  open_call& call = *calls_.find(id);
  if (!was_sent(id)) queued_bytes_ -= call.bytes;
  if (call.deadline != time_point::max()) {
    set_timeout(call.message.what, std::max(call.deadline - now, duration::zero()));
  }
  if (auto* const join = std::get_if<core::join_args>(&call.message.what)) join->with_hello = false;
  call.message.answered_through = acknowledged();
  auto const before = bytes_.size();
  wire::append_frame(bytes_, call.message);
  auto const payload = std::string_view{bytes_}.substr(before + wire::length_bytes);
  if (status why = over_frame_limit(call, payload, terms); !why.ok()) {
    bytes_.resize(before);
    complete(id, std::move(why));
    calls_.take(id);
    return false;
  }
  sent_through_ = std::max(sent_through_, id);
  return true;
}

void outgoing_requests::send_with_hello() {
  open_call* const first = calls_.find(first_id);
  auto* const join = first ? std::get_if<core::join_args>(&first->message.what) : nullptr;
  if (!join || !join->with_hello) return;
  auto const before = bytes_.size();
  wire::append_frame(bytes_, first->message);
  join->with_hello = false;  // in a later session
  if (bytes_.size() - before > core::hello_frame_bytes_max) return bytes_.resize(before);
  queued_bytes_ -= first->bytes;
  sent_through_ = first_id;
}

void outgoing_requests::forget_handshake(bool has_session) {
  cancelled_.clear();
  if (has_session) return;
  if (auto const* const first = calls_.find(first_id); first && was_sent(first_id)) {
    queued_bytes_ += first->bytes;
  }
  sent_through_ = request_id{};
}

void outgoing_requests::opened(time_point now, core::hello_answer const& terms) {
  for (request_id const id : calls_.ids(request_id{}, last_id_)) {
    auto const& call = *calls_.find(id);
    if (!std::holds_alternative<core::join_args>(call.message.what)) continue;
    calls_.set_deadline(id, deadline_after(now, call.timeout));
  }
  for (request_id const id : cancelled_) send(core::cancel_args{id});
  cancelled_.clear();
  send_queued(now, terms);
}

void outgoing_requests::send_queued(time_point now, core::hello_answer const& terms) {
  for (request_id const id : calls_.ids(sent_through_, last_id_)) {
    auto const& call = *calls_.find(id);
    if (status why = over_limit(call, terms); !why.ok()) {
      queued_bytes_ -= call.bytes;
      complete(id, std::move(why));
      calls_.take(id);
      continue;
    }
    send_call(now, id, terms);
  }
}

void outgoing_requests::send(core::request what) { send(std::move(what), acknowledged()); }

void outgoing_requests::send(core::request what, std::uint64_t answered_through) {
  core::client_message message;
  message.answered_through = answered_through;
  message.what = std::move(what);
  wire::append_frame(bytes_, message);
}

void outgoing_requests::send_resume(core::hello_answer const& terms) {
  core::resume_args resume;
  resume.session = terms.session;
  resume.secret = terms.secret;
  resume.coordinator = terms.coordinator;
  resume.term_seen = terms.term;
  resume.resume_count = ++resumes_;
  resume.open = calls_.ids(request_id{}, sent_through_);
  auto const keep = [&resume](request_id id) {
    resume.open.insert(std::lower_bound(resume.open.begin(), resume.open.end(), id), id);
  };
  for (auto const& [id, _] : crossed_) {
    keep(id);
    cancelled_.push_back(id);
  }
  forget_settled();
  for (auto const& [id, _] : unclaimed_) keep(id);  // their replies come again
  send(resume, answered_through_);                  // replies are numbered from there
  while (bytes_.size() > core::hello_frame_bytes_max) {
    for (auto n = resume.open.size() / 8 + 1; n > 0; --n) {
      request_id const left_out = resume.open.back();
      resume.open.pop_back();
      if (!calls_.take(left_out)) continue;
      complete(left_out, status{errc::unavailable,
                                "outcome unknown: more requests were open when the connection was "
                                "lost than a Resume can name"});
    }
    bytes_.clear();
    send(resume, answered_through_);
  }
}

void outgoing_requests::resumed(time_point now, core::resume_answer const& answer,
                                core::hello_answer const& terms) {
  for (request_id const id : answer.unknown) {
    if (was_sent(id) && calls_.find(id)) send_call(now, id, terms);
    unclaimed_.erase(id);
  }
  for (request_id const id : cancelled_) {
    if (!std::binary_search(answer.unknown.begin(), answer.unknown.end(), id)) {
      send(core::cancel_args{id});
    }
  }
  cancelled_.clear();
  crossed_.clear();
  send_queued(now, terms);
}

std::optional<open_call> outgoing_requests::answered(request_id id) {
  ++answered_through_;
  // All messages before the answered request have arrived.
  std::erase_if(crossed_, [&](auto const& entry) { return entry.second < id; });
  auto call = calls_.take(id);
  if (call && call->claimed_by) {
    unclaimed_.emplace(id, unclaimed_reply{answered_through_, call->claimed_by});
  } else if (auto const again = unclaimed_.find(id); again != unclaimed_.end()) {
    again->second.number = answered_through_;
  } else if (!call) {
    crossed_.emplace(id, last_id_);
  }
  return call;
}

void outgoing_requests::abandon(request_id id) {
  unclaimed_.erase(id);
  crossed_.emplace(id, last_id_);
}

void outgoing_requests::forget_settled() {
  std::erase_if(unclaimed_, [](auto const& entry) { return entry.second.by->is_settled(); });
}

// The number of replies to acknowledge.
std::uint64_t outgoing_requests::acknowledged() {
  forget_settled();
  auto through = answered_through_;
  for (auto const& [_, reply] : unclaimed_) through = std::min(through, reply.number - 1);
  return through;
}

void outgoing_requests::complete_all(errc code, std::string const& text, bool outcome_matters) {
  for (auto const& call : calls_.take_all()) {
    std::string notice = text;
    if (code == errc::unavailable && outcome_matters) {
      notice = was_sent(call.message.id) ? "outcome unknown: " + text
                                         : text + " (this call was never sent)";
    }
    complete(call.message.id, status{code, std::move(notice)});
  }
  queued_bytes_ = 0;
}

}  // namespace coxswain::detail
