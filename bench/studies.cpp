#include "study.hpp"

namespace coxswain::bench {

std::vector<std::unique_ptr<study>> all_studies() {
  std::vector<std::unique_ptr<study>> all;
  all.push_back(make_growth());
  all.push_back(make_history());
  return all;
}

}  // namespace coxswain::bench
