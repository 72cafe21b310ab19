// For tests: files that real runtimes wrote.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace infermeter::test {

inline std::string fixture(const std::string& name) {
  std::ifstream file(INFERMETER_SOURCE_DIR "/infermeter/profile/fixtures/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace infermeter::test
