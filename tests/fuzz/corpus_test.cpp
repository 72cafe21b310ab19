// Every file of the corpus, and each cut short and with bytes changed, in the build with sanitizers.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "infermeter/diagnostics/test_paths.hpp"
#include "infermeter/text/whole_file.hpp"
#include "tests/fuzz/targets.hpp"

namespace infermeter::fuzz {
namespace {

class Corpus : public testing::TestWithParam<Target> {};

TEST_P(Corpus, IsReadWithoutAFinding) {
  const auto folder = std::filesystem::path(test::source_dir) / "tests/fuzz/corpus" / GetParam().name;
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().string());
    const std::string whole = whole_file(entry.path());
    const auto read = [&](const std::string& bytes) { GetParam().read(std::as_bytes(std::span(bytes))); };
    read(whole);
    constexpr std::size_t places = 16;
    for (std::size_t i = 0; i < places && !whole.empty(); ++i) {
      read(whole.substr(0, whole.size() * i / places));
      std::string changed = whole;
      changed[whole.size() * i / places] ^= '\x55';
      read(changed);
    }
    ++files;
  }
  EXPECT_GT(files, 0U) << "the corpus is gone";
}

INSTANTIATE_TEST_SUITE_P(Every, Corpus, testing::ValuesIn(targets),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace infermeter::fuzz
