#pragma once
// The state shared by the connections of a page.

#include "coxswain/net/asio.hpp"
#include "coxswain/server/admission/host_pace.hpp"
#include "coxswain/server/admission/rejections.hpp"
#include "coxswain/status/authenticator.hpp"
#include "coxswain/status/job_picture.hpp"
#include "coxswain/status/live_feed.hpp"
#include "coxswain/status/options.hpp"
#include "coxswain/status/routes.hpp"
#include "coxswain/status/source/job_source.hpp"
#include "coxswain/status/text_pool.hpp"

#include <string>
#include <utility>
#include <vector>

namespace coxswain::status_page {

struct page_context {
  page_context(job_source& of, options o, authenticator::access access)
      : job{of},
        given{std::move(o)},
        texts{given.text_bytes_max},
        gate{given.credentials, access},
        picture{of, texts, given.picture_age_max},
        paths{of, gate, picture, texts},
        feed{texts,
             [&of](std::optional<std::uint64_t> after, std::size_t of_each) {
               return of.events(after, core::severity::info, of_each);
             },
             of.address(), of.recorded()} {}

  // A request was refused.
  void refused(std::string const& peer, status const& why) {
    if (is_closed || job.running() == nullptr) return;
    job.running()->report(core::severity::warning, peer + " was not let in by HTTP: " + why.text());
  }

  // Until the journal has all inputs so far.
  [[nodiscard]] asio::awaitable<status> durable() {
    auto* const running = job.running();
    if (running == nullptr) co_return status{};
    co_return co_await running->durable(given.answer_timeout);
  }

  // For a client of the coordinator that has connected to the wrong port.
  [[nodiscard]] std::string wrong_port() const {
    auto const* const running = job.running();
    return server::speaks_http_only(running ? running->addresses() : std::vector<std::string>{});
  }

  job_source& job;
  options given;
  text_pool texts;
  authenticator gate;
  job_picture picture;
  routes paths;
  live_feed feed;
  server::host_pace wrong_tokens{server::wrong_tokens_per_second_max};
  bool is_closed{};  // the job may be gone: do not use it
};

// Woken when the feed has an update.
class watcher {
 public:
  virtual void wake() noexcept = 0;
  // It has been sent the feed's last update.
  [[nodiscard]] virtual bool is_current() const = 0;

 protected:
  ~watcher() = default;
};

// Watchers register here. The feed examines the job only while there is one.
class watch_registry {
 public:
  virtual void enter(watcher& who) = 0;
  virtual void leave(watcher& who) noexcept = 0;

 protected:
  ~watch_registry() = default;
};

}  // namespace coxswain::status_page
