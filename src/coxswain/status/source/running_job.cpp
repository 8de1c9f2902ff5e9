#include "coxswain/net/endpoint.hpp"
#include "coxswain/server/options.hpp"
#include "coxswain/status/source/job_source.hpp"

#include <algorithm>
#include <string>

namespace coxswain::status_page {

std::string running_job::address() const {
  auto const& all = job_.addresses();
  auto const is_tcp = [](std::string const& one) { return !one.starts_with("unix:"); };
  auto const found = std::find_if(all.begin(), all.end(), is_tcp);
  if (found == all.end()) return all.empty() ? std::string{} : all.front();
  auto const at = net::endpoint::parse(*found);
  bool const is_everywhere = at && (at->host() == "0.0.0.0" || at->host() == "::");
  return is_everywhere ? server::host_name() + ":" + std::to_string(at->port()) : *found;
}

}  // namespace coxswain::status_page
