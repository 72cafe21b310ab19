#include "infermeter/diagnostics/diagnostic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "infermeter/diagnostics/test_paths.hpp"

namespace infermeter::diagnostic_test {
namespace {

// The enumerators as the header has them, so that one without a row of the table cannot be forgotten.
std::vector<std::string> enumerators_of_header() {
  std::ifstream file(std::string(test::source_dir) + "/infermeter/diagnostics/diagnostic.hpp");
  std::stringstream text;
  text << file.rdbuf();
  std::string body = text.str();
  const auto begin = body.find('{', body.find("enum class DiagnosticId"));
  body = body.substr(begin + 1, body.find("};", begin) - begin - 1);
  body = std::regex_replace(body, std::regex("//[^\n]*"), "");
  std::vector<std::string> names;
  const std::regex word("[a-z_0-9]+");
  for (std::sregex_iterator it(body.begin(), body.end(), word), end; it != end; ++it) {
    names.push_back(it->str());
  }
  return names;
}

TEST(Diagnostics, EveryEnumeratorHasItsRowInOrder) {
  const auto names = enumerators_of_header();
  ASSERT_EQ(all_diagnostics().size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(all_diagnostics()[i].name, names[i]);
    EXPECT_EQ(static_cast<std::size_t>(all_diagnostics()[i].id), i) << names[i];
  }
}

TEST(Diagnostics, NamesAreUniqueAndComeBack) {
  std::set<std::string_view> names;
  for (const auto& row : all_diagnostics()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(diagnostic_from_string(row.name), row.id);
    EXPECT_EQ(to_string(row.id), row.name);
    EXPECT_EQ(&info(row.id), &row);
  }
  EXPECT_EQ(diagnostic_from_string("no_such_thing"), std::nullopt);
  EXPECT_EQ(diagnostic_from_string(""), std::nullopt);
}

TEST(Diagnostics, RemediesAreSentences) {
  for (const auto& row : all_diagnostics()) {
    ASSERT_FALSE(row.remedy.empty()) << row.name;
    EXPECT_TRUE(row.remedy.front() >= 'A' && row.remedy.front() <= 'Z') << row.name;
    EXPECT_EQ(row.remedy.back(), '.') << row.name;
    EXPECT_EQ(row.remedy.find('\n'), std::string_view::npos) << row.name;
    EXPECT_LT(row.remedy.size(), 200U) << row.name;
  }
}

TEST(Diagnostics, SeveritiesHaveNames) {
  EXPECT_EQ(to_string(Severity::info), "info");
  EXPECT_EQ(to_string(Severity::warning), "warning");
  EXPECT_EQ(to_string(Severity::error), "error");
}

TEST(DiagnosticsDeathTest, AnIdThatIsNoneIsOurBug) {
  EXPECT_DEATH(static_cast<void>(info(static_cast<DiagnosticId>(10000))), "bug: .* is not true");
}

}  // namespace
}  // namespace infermeter::diagnostic_test
