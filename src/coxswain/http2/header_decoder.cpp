#include "coxswain/http2/header_decoder.hpp"

#include "coxswain/http2/counted_memory.hpp"

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <memory>
#include <new>

namespace coxswain::http2 {

struct header_decoder::engine {
  engine() {
    if (nghttp2_hd_inflate_new2(&inflater, &functions) != 0) throw std::bad_alloc{};
  }
  ~engine() {
    if (!memory.is_exhausted()) nghttp2_hd_inflate_del(inflater);
  }
  engine(engine const&) = delete;
  engine& operator=(engine const&) = delete;

  counted_memory memory;
  nghttp2_mem functions{memory.functions()};  // to which nghttp2 keeps a pointer
  nghttp2_hd_inflater* inflater{};
};

header_decoder::header_decoder() : engine_{std::make_unique<engine>()} {}

header_decoder::~header_decoder() = default;

std::size_t header_decoder::memory_bytes() const noexcept {
  return sizeof(engine) + engine_->memory.bytes();
}

std::optional<header_decoder::field> header_decoder::next(std::string_view& block) {
  constexpr int is_whole = 1;
  for (;;) {
    nghttp2_nv found{};
    int flags = 0;
    auto const taken = nghttp2_hd_inflate_hd2(engine_->inflater, &found, &flags,
                                              reinterpret_cast<std::uint8_t const*>(block.data()),
                                              block.size(), is_whole);
    if (engine_->memory.is_exhausted()) throw std::bad_alloc{};
    if (taken < 0) {
      is_damaged_ = true;
      return std::nullopt;
    }
    block.remove_prefix(static_cast<std::size_t>(taken));
    if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
      return field{{reinterpret_cast<char const*>(found.name), found.namelen},
                   {reinterpret_cast<char const*>(found.value), found.valuelen}};
    }
    if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) {
      nghttp2_hd_inflate_end_headers(engine_->inflater);
      return std::nullopt;
    }
  }
}

}  // namespace coxswain::http2
