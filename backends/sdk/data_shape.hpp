// imb_load.data_shape, of hosts that know of it.
#pragma once

#include <cstddef>
#include <string_view>

#include "infermeter_backend.h"

namespace infermeter {

// Empty: not known.
inline std::string_view data_shape_of(const imb_load& load) {
  constexpr std::size_t needed = offsetof(imb_load, data_shape) + sizeof(load.data_shape);
  return load.struct_size >= needed && load.data_shape != nullptr ? load.data_shape : "";
}

}  // namespace infermeter
