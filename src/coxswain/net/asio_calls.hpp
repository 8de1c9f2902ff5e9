#pragma once
// The part of Asio that the declarations of asynchronous calls need; net/asio.hpp has the rest.

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/associator.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace coxswain {

namespace asio = boost::asio;

}  // namespace coxswain
