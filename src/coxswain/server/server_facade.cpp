// The public functions of server. Each forwards to server::impl.

#include "coxswain/server/server_impl.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::server {

server::server(asio::io_context& io, options o, shared_job job)
    : impl_{std::make_shared<impl>(io, std::move(o), std::move(job))} {}

server::~server() { impl_->close(); }

std::vector<std::string> const& server::addresses() const { return impl_->addresses(); }

// Not coroutines themselves: those would use the server when they begin, and it may be gone.
asio::awaitable<void> server::run() { return impl::serve(impl_); }

void server::run_context() {
  auto const self = impl_;
  self->run_context();
}

asio::awaitable<void> server::job_done() { return impl::wait_done(impl_); }

asio::awaitable<status> server::durable(duration at_most) {
  return impl::wait_durable(impl_, deadline_after(clock_now(), at_most));
}

void server::stop(std::string reason) { impl_->stop(std::move(reason)); }

status server::suspend(std::string reason) { return impl_->suspend(std::move(reason)); }

status server::put_in(core::owner_input what) { return impl_->put_in(std::move(what)); }

void server::report(core::severity level, std::string text) { impl_->report(level, text); }

void server::reload_certificates() { impl_->reload_certificates(); }

status server::journal_health() const { return impl_->journal_health(); }

bool server::is_draining() const { return impl_->logic().is_draining(); }

bool server::is_serving() const { return impl_->is_serving(); }

core::job_state server::state() const { return impl_->logic().state(clock_now()); }

core::snapshot server::look() const { return impl_->look(); }

coxswain::server::statistics server::statistics() const { return impl_->counted(); }

core::why_answer server::why() const { return impl_->logic().why(clock_now()); }

void server::ask_missing() { impl_->ask_missing(); }

core::stacks_answer server::stacks() const { return impl_->logic().stacks(clock_now()); }

core::events_answer server::events(std::optional<std::uint64_t> after, core::severity at_least,
                                   std::size_t last_of_each) const {
  return impl_->logic().events(after, at_least, last_of_each);
}

std::uint64_t server::last_event() const { return impl_->logic().last_event(); }

core::listing_answer server::keys(std::string const& prefix, std::string const& after,
                                  std::size_t most) const {
  return impl_->logic().keys(prefix, after, most);
}

result<core::value_answer> server::value(std::string_view key) const {
  return impl_->logic().value(key);
}

bool server::is_deserted() const { return impl_->logic().is_deserted(); }

std::optional<task_id> server::task_of_member(std::string const& name) const {
  return impl_->logic().task_of_member(name);
}

core::barrier_history server::history(std::string_view barrier) const {
  return impl_->logic().history(clock_now(), barrier);
}

std::optional<job_error> server::error() const { return impl_->error(); }

std::string server::recording() const { return impl_->recording(); }

}  // namespace coxswain::server
