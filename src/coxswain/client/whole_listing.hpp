#pragma once
// A listing of a directory, requested page by page and completed to one snapshot. Not here: pages
// (core), waiting for answers (asking).

#include "coxswain/base/time.hpp"
#include "coxswain/client/keys.hpp"
#include "coxswain/net/asio.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace coxswain::detail {

class connection;

struct whole_listing {
  std::vector<key_value> entries;  // in byte order
  std::uint64_t version{};         // all changes up to it are in them, and no later one
};

// Throws what the requests for the pages throw; each has the timeout. OUT_OF_RANGE: in each of
// eight attempts, keys changed faster than they could be listed.
asio::awaitable<whole_listing> list_whole(std::weak_ptr<connection> at, std::string directory,
                                          duration timeout);

}  // namespace coxswain::detail
