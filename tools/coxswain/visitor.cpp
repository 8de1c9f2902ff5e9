#include "visitor.hpp"

#include "coxswain/wire/codec.hpp"

#include <array>
#include <utility>
#include <variant>

namespace coxswain::tools {
namespace {

// A visitor that hears nothing for so long takes us for dead.
constexpr duration heartbeat_timeout = 30s;

constexpr std::size_t read_bytes = 16 * 1024;

duration timeout_of(core::request const& what) {
  auto const stated = [](auto const& args) {
    if constexpr (requires { args.timeout; }) return args.timeout;
    return patience;
  };
  return std::visit(stated, what);
}

question join_as(connection const& task, core::join_args args) {
  args.self = task.incarnation();
  args.recoverable = task.options().recoverable;
  auto const timeout = args.timeout;
  return {std::move(args), timeout};
}

}  // namespace

visitor::visitor(asio::local::stream_protocol::socket socket, connection_ptr task)
    : socket_{std::move(socket)}, task_{std::move(task)}, decoder_{core::hello_frame_bytes_max} {}

asio::awaitable<void> visitor::serve(std::shared_ptr<visitor> self) {
  std::array<char, read_bytes> room{};
  boost::system::error_code problem;
  while (!self->is_over_) {
    auto const count = co_await self->socket_.async_read_some(
        asio::buffer(room), asio::redirect_error(asio::use_awaitable, problem));
    if (problem) break;
    self->received({room.data(), count});
  }
  self->is_over_ = true;
  for (auto const& [id, where] : std::exchange(self->open_, {})) self->task_->cancel(where);
}

void visitor::part(status why) {
  if (is_over_) return;
  core::answer last;
  last.value = core::goodbye{std::move(why), false};
  send(request_id{}, last);
  is_over_ = true;
  boost::system::error_code ignored;
  socket_.shutdown(asio::socket_base::shutdown_receive, ignored);  // ends the reading
}

// --- What it says ----------------------------------------------------------------------------

void visitor::received(std::string_view bytes) {
  decoder_.feed(bytes);
  while (!is_over_) {
    auto const frame = decoder_.next();
    if (!frame) return part(frame.error());
    if (!*frame) return;
    auto message = wire::decode_client(**frame);
    if (!message) return part(message.error());
    if (has_greeted_) {
      said(*std::move(message));
    } else {
      greeted(*message);
    }
  }
}

void visitor::greeted(core::client_message const& message) {
  auto const* const hello = std::get_if<core::hello_args>(&message.what);
  if (hello == nullptr) {
    return part({errc::aborted, "the first message is no Hello; sessions are not resumed here"});
  }
  if (hello->version != core::protocol_version) {
    return part({errc::failed_precondition,
                 "you speak protocol " + std::to_string(hello->version) + " and we speak " +
                     std::to_string(core::protocol_version) + "; use the same coxswain"});
  }
  core::answer welcome;
  auto terms = task_->session().value();
  terms.session = session_id{};
  terms.secret = {};
  terms.heartbeat_period = {};
  terms.heartbeat_timeout = heartbeat_timeout;
  decoder_.limit(terms.frame_bytes_max);
  welcome.value = std::move(terms);
  has_greeted_ = true;
  send(request_id{}, welcome);
}

void visitor::said(core::client_message message) {
  auto& what = message.what;
  if (std::holds_alternative<core::bye_args>(what)) return;  // its end follows
  if (std::holds_alternative<std::monostate>(what)) return send(request_id{}, {});
  if (auto const* const taken_back = std::get_if<core::withdraw_args>(&what)) {
    return withdraw(taken_back->request);
  }
  bool const is_request = !std::holds_alternative<core::hello_args>(what) &&
                          !std::holds_alternative<core::resume_args>(what) &&
                          message.id != request_id{};
  if (!is_request || open_.contains(message.id)) {
    return part({errc::invalid_argument, "a second Hello, or a request without an id of its own"});
  }
  asked(message.id, std::move(what));
}

void visitor::asked(request_id id, core::request what) {
  if (auto* const join = std::get_if<core::join_args>(&what)) {
    return pass_on(id, join_as(*task_, std::move(*join)), sequel::reply);
  }
  if (auto* const reset = std::get_if<core::reset_args>(&what)) {
    reset->self = task_->incarnation();
    return pass_on(id, question{*reset, patience}, sequel::join);
  }
  auto const* const frozen = std::get_if<core::frozen_args>(&what);
  if (frozen != nullptr && frozen->agreement == 0) {
    return pass_on(id, question{frozen->step}, sequel::reply);
  }
  bool const leaves = std::holds_alternative<core::leave_args>(what);
  auto const timeout = timeout_of(what);
  question q{std::move(what), timeout};
  q.on_progress = [to = weak_from_this(), id](core::barrier_progress progress) {
    auto const self = to.lock();
    if (!self || self->is_writing_) return;  // one that reads slowly misses some
    progress.request = id;
    core::answer news;
    news.value = std::move(progress);
    self->send(request_id{}, news);
  };
  pass_on(id, std::move(q), leaves ? sequel::no_member : sequel::reply);
}

// --- Requests --------------------------------------------------------------------------------

void visitor::pass_on(request_id id, question q, sequel next) {
  auto take = [self = shared_from_this(), id, next](boost::system::error_code problem,
                                                    core::answer what) {
    if (!problem) self->answered(id, std::move(what), next);
  };
  auto who = std::make_unique<waiting_handler<decltype(take)>>(std::move(take), task_->executor());
  open_.insert_or_assign(id, task_->ask(std::move(q), std::move(who)));
}

void visitor::answered(request_id id, core::answer what, sequel next) {
  // Whatever came of it, the task need not leave at our end.
  if (next == sequel::no_member) task_->may_be_member(false);
  if (open_.erase(id) == 0) return;  // it has gone meanwhile
  if (next == sequel::join && what.outcome.ok()) {
    return pass_on(id, join_as(*task_, {}), sequel::reply);
  }
  send(id, what);
}

void visitor::withdraw(request_id id) {
  auto const at = open_.find(id);
  if (at == open_.end()) return;
  auto const where = at->second;
  open_.erase(at);
  task_->cancel(where);
}

// --- Writing ---------------------------------------------------------------------------------

void visitor::send(request_id id, core::answer const& what) {
  if (is_over_) return;
  auto const encoded = wire::encode(what);
  wire::append_server_head(unsent_, id, encoded.size());
  unsent_.append(encoded.head).append(encoded.tail.view());
  if (std::exchange(is_writing_, true)) return;
  asio::co_spawn(task_->executor(), write(shared_from_this()), asio::detached);
}

asio::awaitable<void> visitor::write(std::shared_ptr<visitor> self) {
  boost::system::error_code problem;
  while (!self->unsent_.empty() && !problem) {
    auto const bytes = std::exchange(self->unsent_, {});
    co_await asio::async_write(self->socket_, asio::buffer(bytes),
                               asio::redirect_error(asio::use_awaitable, problem));
  }
  self->is_writing_ = false;
}

}  // namespace coxswain::tools
