// Whether a session is to be profiled, and where its files go.
#pragma once

#include <cstddef>

#include "infermeter_backend.h"

namespace infermeter {

// NULL where the session is not profiled, or the host is older than profiles.
inline const char* profile_folder_of(const imb_load& load) {
  constexpr std::size_t needed = offsetof(imb_load, profile_folder) + sizeof load.profile_folder;
  return load.struct_size >= needed ? load.profile_folder : nullptr;
}

}  // namespace infermeter
