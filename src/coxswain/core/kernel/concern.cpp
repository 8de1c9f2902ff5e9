#include "coxswain/core/kernel/concern.hpp"

#include "coxswain/core/concerns.hpp"

namespace coxswain::core {

concern::concern(concerns& all)
    : concerns_{all},
      calls_{all.calls},
      kernel_{all.kernel},
      options_{kernel_.options},
      memory_{*kernel_.memory},
      deadlines_{kernel_.deadlines},
      sessions_{kernel_.sessions},
      roster_{kernel_.roster},
      error_{kernel_.error} {}

waiting_concern::waiting_concern(concerns& all, wait_traits traits)
    : concern{all}, traits_{traits}, index_{all.calls.add(*this)} {}

void waiting_concern::put_back(std::vector<undelivered>) {}

}  // namespace coxswain::core
