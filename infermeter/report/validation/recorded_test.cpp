#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "infermeter/report/validation/report.hpp"

namespace infermeter::recorded_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

OutputDifference output(const std::string& name) {
  OutputDifference made;
  made.name = name;
  made.dtype = "float32";
  made.shape = {2, 3};
  made.within_tolerance = true;
  made.element_count = 6;
  made.max_absolute = 0.25;
  return made;
}

RecordedValidation validation_of(const std::vector<OutputDifference>& outputs, bool agree) {
  RecordedValidation made;
  made.sets.push_back({.folder = "sets/test_data_set_0", .outputs = {}});
  made.sets.back().outputs.agree = agree;
  made.sets.back().outputs.outputs = outputs;
  return made;
}

TEST(Recorded, SaysOfEachOutputWhetherItAgrees) {
  OutputDifference apart = output("scores");
  apart.within_tolerance = false;
  apart.mismatched = 2;
  apart.max_absolute_index = 5;
  apart.reference_at_max = 1;
  apart.candidate_at_max = 1.25;
  OutputDifference other = output("texts");
  other.comparable = false;
  other.reason = "float32 against string";
  const std::string text = render_recorded(validation_of({output("y"), apart, other}, false), Format::table);
  EXPECT_EQ(text,
            "sets/test_data_set_0: DIFFERS\n"
            "  y  float32 [2, 3]  agrees, largest difference 0.25\n"
            "  scores  float32 [2, 3]  differs in 2 of 6, largest difference 0.25 at [1, 2] (recorded 1, got 1.25)\n"
            "  texts  float32 [2, 3]  not comparable: float32 against string\n");
}

TEST(Recorded, AgreesIfEverySetDoes) {
  RecordedValidation both = validation_of({output("y")}, true);
  EXPECT_TRUE(both.agree());
  both.sets.push_back(validation_of({output("y")}, false).sets.front());
  EXPECT_FALSE(both.agree());
  const auto json = nlohmann::json::parse(render_recorded(both, Format::json));
  EXPECT_EQ(json["schema"], "infermeter.recorded/1");
  EXPECT_EQ(json["agree"], false);
  EXPECT_EQ(json["sets"][0]["agree"], true);
  EXPECT_EQ(json["sets"][1]["agree"], false);
  EXPECT_EQ(json["sets"][0]["outputs"][0]["max_absolute"], 0.25);
}

TEST(Recorded, HostileNamesSteerNoTerminal) {
  RecordedValidation hostile = validation_of({output("\x1b[2J\n\xff\xe2\x80\xae")}, true);
  hostile.sets.front().folder = "\x1b]0;x\x07\nsets";
  const std::string text = render_recorded(hostile, Format::table);
  EXPECT_THAT(text, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\x07")), Not(HasSubstr("\xe2\x80\xae"))));
  EXPECT_EQ(std::ranges::count(text, '\n'), 2);
  const std::string json = render_recorded(hostile, Format::json);
  EXPECT_THAT(json, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\xe2\x80\xae"))));
  EXPECT_EQ(nlohmann::json::parse(json)["sets"][0]["data"], "\x1b]0;x\x07\nsets");
}

}  // namespace
}  // namespace infermeter::recorded_test
