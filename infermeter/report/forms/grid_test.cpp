#include "infermeter/report/forms/grid.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infermeter::grid_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Grid grid_of(const std::vector<std::string>& names) {
  Grid grid{.columns = {{"Setting"}, {"Standing"}, {"Throughput"}, {"Memory"}, {"Left out", Align::left, true}},
            .rows = {}};
  for (const std::string& name : names) {
    grid.rows.push_back({{name}, {"worse"}, {"94.7/s [94.0, 95.3]"}, {"156 MB"}, {"a cell of thirty columns width"}});
  }
  return grid;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

TEST(Grid, ShowsNamesThatFit) {
  const std::string text = grid_text(grid_of({"one", "two"}), {.width = 70, .rule = 10});
  EXPECT_EQ(lines_of(text).at(2), "one      worse     94.7/s [94.0, 95.3]  156 MB");
  EXPECT_THAT(text, Not(HasSubstr("Left out")));
}

TEST(Grid, CutsNamesWhereTheyStayApart) {
  const std::string text =
      grid_text(grid_of({"mlp@onnxruntime,backend_library=old.so", "mlp@onnxruntime,backend_library=new.so"}),
                {.width = 60, .rule = 10});
  EXPECT_THAT(text, HasSubstr("mlp@onnxr…ary=old.so"));
  EXPECT_THAT(text, HasSubstr("mlp@onnxr…ary=new.so"));
}

// Settings of a race: no place to cut keeps all four apart, and a number alone tells nobody which is which.
TEST(Grid, NumbersNamesThatCannotBeCutAndShowsThemWholeOnce) {
  const std::vector<std::string> names = {
      "resnet50.int8_nncf.xml@openvino,batch=8,threads=2", "resnet50.int8_nncf.xml@openvino,batch=4,threads=2",
      "resnet50.int8_nncf.xml@openvino,batch=8,threads=1", "resnet50.int8_static.onnx@openvino,batch=8,threads=2"};
  const std::string text = grid_text(grid_of(names), {.width = 70, .rule = 10});
  const auto lines = lines_of(text);
  EXPECT_EQ(lines.at(2), "1 resnet50.int8_nncf.xml@openvino,batch=8,threads=2     worse");
  EXPECT_EQ(lines.at(5), "4 resnet50.int8_static.onnx@openvino,batch=8,threads=2  worse");
  EXPECT_EQ(lines.at(8), "1 resnet50.int8_nncf.x…  94.7/s [94.0, 95.3]  156 MB");
  for (const std::string& line : lines) EXPECT_LE(display_width(line), 70U) << line;
}

TEST(Grid, CutsNumberedNamesThatAreWiderThanTheScreen) {
  const std::string same(100, 'a');
  const std::string text = grid_text(grid_of({same + "1" + same, same + "2" + same}), {.width = 40, .rule = 10});
  EXPECT_THAT(text, HasSubstr("1 aaa"));
  for (const std::string& line : lines_of(text)) EXPECT_LE(display_width(line), 40U) << line;
}

TEST(Grid, TellsWhatItShows) {
  const Grid grid = grid_of({"one"});
  EXPECT_FALSE(is_shown(grid, 4, {.width = 60, .rule = 10}));
  EXPECT_TRUE(is_shown(grid, 4, {.width = 120, .rule = 10}));
}

}  // namespace
}  // namespace infermeter::grid_test
