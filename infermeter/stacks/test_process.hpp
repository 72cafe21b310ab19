// For tests: this program as a process that was sampled.
#pragma once

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include "infermeter/samples/raw_stacks.hpp"

namespace infermeter::test {

// Its executable memory, from /proc/self/maps.
inline std::vector<MappedCode> own_code() {
  std::vector<MappedCode> found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields(line);
    std::string range, rights, device;
    MappedCode code;
    fields >> range >> rights >> std::hex >> code.file_offset >> device >> std::dec >> code.inode >> code.path;
    if (rights.size() < 3 || rights[2] != 'x') continue;
    code.begin = std::stoull(range, nullptr, 16);
    code.end = std::stoull(range.substr(range.find('-') + 1), nullptr, 16);
    code.device_major = static_cast<std::uint32_t>(std::stoul(device, nullptr, 16));
    code.device_minor = static_cast<std::uint32_t>(std::stoul(device.substr(device.find(':') + 1), nullptr, 16));
    found.push_back(std::move(code));
  }
  return found;
}

inline RawStacks of_this_process() {
  RawStacks stacks;
  stacks.method = "perf_event";
  stacks.process = static_cast<std::uint32_t>(getpid());
  stacks.code = own_code();
  stacks.threads = {{stacks.process, "tests"}};
  return stacks;
}

}  // namespace infermeter::test
