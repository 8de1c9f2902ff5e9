#pragma once
// Asio's TLS, for code that uses Asio's own sockets.

#include "coxswain/net/asio.hpp"

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
