#pragma once
// Whether a function that describes fields, for saving and loading alike, is loading.

#include <type_traits>

namespace coxswain::core {

template <class Archive>
inline constexpr bool is_loading = std::remove_reference_t<Archive>::loads;

}  // namespace coxswain::core
