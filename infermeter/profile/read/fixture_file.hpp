// For tests: files that real runtimes wrote.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

#include "infermeter/diagnostics/test_paths.hpp"

namespace infermeter::test {

inline std::string fixture(const std::string& name) {
  std::ifstream file(std::string(source_dir) + "/infermeter/profile/fixtures/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace infermeter::test
