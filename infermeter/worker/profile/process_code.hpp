// What /proc reports about a process whose stacks are sampled: its executable memory and the names of its threads.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/samples/raw_stacks.hpp"

namespace infermeter {

// The executable lines of a /proc/PID/maps, at most 16,384; lines that are none are left out.
[[nodiscard]] std::vector<MappedCode> parse_maps(std::string_view text);

// Nothing where the process has ended. At most 16 MiB of maps and 4,096 threads are read.
[[nodiscard]] std::vector<MappedCode> read_maps(pid_t process);
[[nodiscard]] std::map<std::uint32_t, std::string> read_thread_names(pid_t process);

}  // namespace infermeter
