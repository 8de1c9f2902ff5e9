// Functions of glibc 2.35 and 2.36 that GCC's static libraries call: what is linked with these here
// needs only glibc 2.34 (COXSWAIN_SELF_CONTAINED). Other libraries of the process use glibc's.

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

// Fills in the result if it is about the object with the address in dlfo_map_start.
int find_in(dl_phdr_info* object, std::size_t, void* of) {
  auto& result = *static_cast<dl_find_object*>(of);
  auto const at = reinterpret_cast<std::uintptr_t>(result.dlfo_map_start);
  bool is_inside = false;
  void* eh_frame = nullptr;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    auto const& segment = object->dlpi_phdr[i];
    auto const start = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && at - start < segment.p_memsz) is_inside = true;
    if (segment.p_type == PT_GNU_EH_FRAME) eh_frame = reinterpret_cast<void*>(start);
  }
  if (is_inside) result.dlfo_eh_frame = eh_frame;
  return is_inside ? 1 : 0;
}

}  // namespace

// For libstdc++'s std::random_device.
extern "C" [[gnu::visibility("hidden")]] std::uint32_t arc4random() noexcept {
  std::uint32_t value{};
  if (::getentropy(&value, sizeof value) != 0) std::abort();
  return value;
}

// For libgcc, which reads only dlfo_eh_frame of the result when an exception is thrown.
extern "C" [[gnu::visibility("hidden")]] int _dl_find_object(void* address,
                                                             dl_find_object* result) noexcept {
  *result = {};
  result->dlfo_map_start = address;
  return ::dl_iterate_phdr(find_in, result) != 0 && result->dlfo_eh_frame != nullptr ? 0 : -1;
}
