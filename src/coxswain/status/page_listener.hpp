#pragma once
// The listener of a status page.

#include "coxswain/net/asio.hpp"
#include "coxswain/status/authenticator.hpp"
#include "coxswain/status/options.hpp"

#include <string>

namespace coxswain::status_page {

// Listens as the options say. Throws coxswain::error as page's constructor.
[[nodiscard]] asio::ip::tcp::acceptor listener_at(asio::io_context& io, options const& o);

// Who may use a page that listens there.
[[nodiscard]] authenticator::access access_of(options const& o, asio::ip::tcp::endpoint const& at);

[[nodiscard]] std::string text_of(asio::ip::tcp::endpoint const& at);

}  // namespace coxswain::status_page
