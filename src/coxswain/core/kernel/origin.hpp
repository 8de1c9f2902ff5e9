#pragma once
// The label of a session and the address of its connection, stored once for all of its tasks.

#include <boost/smart_ptr/local_shared_ptr.hpp>
#include <boost/smart_ptr/make_local_shared.hpp>

#include <string>
#include <utility>

namespace coxswain::core {

class origin {
 public:
  origin() = default;
  origin(std::string label, std::string peer)
      : texts_{boost::make_local_shared<texts const>(texts{std::move(label), std::move(peer)})} {}

  // "b12:3391", as the client states it; empty if it states none.
  [[nodiscard]] std::string const& label() const noexcept { return get().label; }
  // The address of its connection.
  [[nodiscard]] std::string const& peer() const noexcept { return get().peer; }

  static void fields(auto& a, auto& s) { a(1, s.texts_); }

 private:
  struct texts {
    std::string label;
    std::string peer;

    static void fields(auto& a, auto& s) { a.members(s.label, s.peer); }
  };

  [[nodiscard]] texts const& get() const noexcept {
    static texts const none;
    return texts_ ? *texts_ : none;
  }

  boost::local_shared_ptr<texts const> texts_;
};

}  // namespace coxswain::core
