// Where a back end keeps what is costly to make and the same for every process of this machine.
#pragma once

#include <cstddef>

#include "infermeter_backend.h"

namespace infermeter {

// NULL where there is none, or the host is older than this.
inline const char* cache_folder_of(const imb_load& load) {
  constexpr std::size_t needed = offsetof(imb_load, cache_folder) + sizeof load.cache_folder;
  return load.struct_size >= needed ? load.cache_folder : nullptr;
}

// Is this load made so that others find there what they need? Otherwise nothing is written there.
inline bool is_preparing(const imb_load& load) {
  constexpr std::size_t needed = offsetof(imb_load, preparing) + sizeof load.preparing;
  return load.struct_size >= needed && load.preparing != 0;
}

}  // namespace infermeter
