#pragma once
// Asio's TLS, for those who read and write with Asio's own sockets.

#include "coxswain/net/asio.hpp"

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
