// The keys of torch's stores, as coxswain.Store in Python names them.

#include "coxswain/tcp_store/keys.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>

namespace coxswain::tcp_store {
namespace {

BOOST_AUTO_TEST_SUITE(tcp_store_keys)

BOOST_AUTO_TEST_CASE(keys_have_paths_of_one_segment_and_return_from_them) {
  std::pair<std::string, std::string> const all[]{
      {"/a", "torch/a"},
      {"/default_pg/0//cpu//0/0", "torch/default_pg%2F0%2F%2Fcpu%2F%2F0%2F0"},
      {"/50%", "torch/50%25"},
      {"/%2F", "torch/%252F"},
      {"/", "torch/%"},
      {"/%", "torch/%25"},
      {"init/", "torch/%:init%2F"},
      {"", "torch/%:"},
      {"/%:init/", "torch/%25:init%2F"},
  };
  for (auto const& [key, path] : all) {
    BOOST_TEST(path_of(key) == path);
    BOOST_TEST(key_of(path) == key);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::tcp_store
