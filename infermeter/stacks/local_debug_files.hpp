// How libdwfl finds files with symbols: on this machine only. Its own standard would ask debuginfod servers.
#pragma once

#include <elfutils/libdwfl.h>

namespace infermeter {

[[nodiscard]] const Dwfl_Callbacks& local_debug_files();

}  // namespace infermeter
