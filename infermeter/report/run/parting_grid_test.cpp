#include "infermeter/report/run/parting_grid.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infermeter::parting_grid_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> texts_of(const std::vector<Cell>& row) {
  std::vector<std::string> texts;
  for (const Cell& cell : row) texts.push_back(cell.text);
  return texts;
}

Grid grid_of(std::vector<Parting> partings) {
  OutputDifference output;
  output.partings = std::move(partings);
  return parting_grid({output}, [](std::size_t item) { return fmt::format("item {}", item); });
}

TEST(PartingGrid, ShowsTextsAsOneLine) {
  const Parting parting{.item = 2,
                        .position = 12,
                        .length = 64,
                        .before_text = "the cat sat on the \x1b[31mmärz mat",
                        .reference_text = "one\ntwo",
                        .candidate_text = std::string(90, 'x')};
  const Grid grid = grid_of({parting});
  ASSERT_THAT(grid.rows, SizeIs(1));
  EXPECT_THAT(texts_of(grid.rows[0]), ElementsAre("item 2", "12 of 64 tokens", "…\"at on the \\x1b[31mmärz mat\"",
                                                  "\"one\\x0atwo\"", "\"" + std::string(40, 'x') + "…\""));
}

TEST(PartingGrid, ShowsTokensByTheirNumbersWhereNoTokenizerCouldBeUsed) {
  OutputDifference output;
  output.partings = {{.item = 1,
                      .position = 9,
                      .length = 64,
                      .before = {1, 2, 3, 4, 5, 6, 7, 8},
                      .reference = {31000},
                      .candidate = {1, 2, 3, 4, 5, 6, 7}},
                     {.item = 2, .position = 1, .length = 2, .before = {5}, .reference = {7}, .candidate = {8}}};
  const auto name = [](std::size_t item) { return fmt::format("item {}", item); };
  EXPECT_THAT(parting_grid({output}, name).rows, IsEmpty()) << "integers, but no tokens";
  output.name = "tokens";
  const Grid grid = parting_grid({output}, name);
  ASSERT_THAT(grid.rows, SizeIs(2));
  EXPECT_THAT(texts_of(grid.rows[0]),
              ElementsAre("item 1", "9 of 64 tokens", "… 3 4 5 6 7 8", "31000", "1 2 3 4 5 6 …"));
  EXPECT_THAT(texts_of(grid.rows[1]), ElementsAre("item 2", "1 of 2 tokens", "5", "7", "8"));
}

TEST(PartingGrid, ShowsThree) {
  Parting parting{.item = 0, .position = 0, .length = 4};
  parting.before_text = "", parting.candidate_text = "b";
  const Grid grid = grid_of(std::vector(5, parting));
  ASSERT_THAT(grid.rows, SizeIs(3));
  EXPECT_THAT(texts_of(grid.rows[0]), ElementsAre("item 0", "0 of 4 tokens", "\"\"", "–", "\"b\""));
}

}  // namespace infermeter::parting_grid_test
