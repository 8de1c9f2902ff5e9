#include "coxswain/net/context_end.hpp"

#include <list>
#include <utility>

namespace coxswain::net {

class context_end::service : public asio::execution_context::service {
 public:
  using key_type = service;
  static inline asio::execution_context::id id;

  explicit service(asio::execution_context& owner) : asio::execution_context::service{owner} {}

  void add(context_end* end) { waiting_.push_back(end); }
  void remove(context_end* end) { waiting_.remove(end); }

 private:
  void shutdown() override {
    while (!waiting_.empty()) {
      auto* const end = waiting_.front();
      waiting_.pop_front();
      end->home_ = nullptr;
      end->callback_();
    }
  }

  std::list<context_end*> waiting_;
};

context_end::context_end(asio::io_context& context, std::function<void()> callback)
    : home_{&asio::use_service<service>(static_cast<asio::execution_context&>(context))},
      callback_{std::move(callback)} {
  home_->add(this);
}

context_end::~context_end() {
  if (home_ != nullptr) home_->remove(this);
}

}  // namespace coxswain::net
