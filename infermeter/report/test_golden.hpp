// Golden files: what a renderer gives is compared with an approved file.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "infermeter/diagnostics/test_paths.hpp"
#include "infermeter/text/whole_file.hpp"

namespace infermeter::test {

// Compared with a file of the source tree; INFERMETER_APPROVE=1 writes it instead.
inline void expect_file(const std::string& path, const std::string& text) {
  const std::filesystem::path file = std::filesystem::path(source_dir) / path;
  if (std::getenv("INFERMETER_APPROVE") != nullptr) {
    std::ofstream(file, std::ios::binary) << text;
    return;
  }
  const std::string golden = whole_file(file);
  EXPECT_EQ(text, golden) << file << " is not what is rendered; INFERMETER_APPROVE=1 accepts it";
}

// Compared with tests/golden/NAME.
inline void expect_golden(const std::string& name, const std::string& text) {
  expect_file("tests/golden/" + name, text);
}

}  // namespace infermeter::test
