// For tests: files that real runtimes wrote.
#pragma once

#include <string>

#include "infermeter/diagnostics/test_paths.hpp"
#include "infermeter/text/whole_file.hpp"

namespace infermeter::test {

inline std::string fixture(const std::string& name) {
  return whole_file(std::string(source_dir) + "/infermeter/profile/fixtures/" + name);
}

}  // namespace infermeter::test
