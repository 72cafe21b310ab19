#include "infermeter/report/study/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "infermeter/report/forms/document.hpp"
#include "infermeter/report/forms/page.hpp"
#include "infermeter/report/options.hpp"
#include "infermeter/report/test_records.hpp"
#include "infermeter/verdict/gate/parse_expectation.hpp"

namespace infermeter::study_report_test {
namespace {

using testing::HasSubstr;
using testing::Not;

Prediction prediction_of(double first, double count) {
  return {.first = 0,
          .subject = 1,
          .counter = "fft_count",
          .metric = "latency_mean",
          .first_count = first,
          .count = count,
          .predicted = first / count,
          .measured = 1.81,
          .interval = Interval{1.74, 1.88},
          .why = ""};
}

StudyRecord example() {
  StudiedPart part{.name = "comparison", .title = "Baseline against optimised"};
  part.record = test::example_record();
  part.earlier = {"20261121-114100-0001"};
  part.predictions = {prediction_of(4021, 2122)};
  auto expectation = parse_expectation({.that = {.text = "speedup >= 3", .file = "s.toml", .line = 1, .column = 1}});
  part.gate = {.name = "Baseline against optimised", .expectations = {*expectation}, .fail_inconclusive = false};
  ExpectationVerdict failed;
  failed.subject = 1;
  failed.outcome = Outcome::fail;
  failed.value = 1.81;
  failed.interval = Interval{1.74, 1.88};
  failed.reason = "the whole interval violates the bound";
  part.verdict.verdicts = {failed};
  part.verdict.failed = 1;
  part.verdict.exit_code = 1;
  return {.name = "imaging", .preset = "small", .title = "What caches are worth", .about = "", .parts = {part}};
}

const std::vector<StudyFileLine> files = {{"reports/summary.txt", "this summary"}};

TEST(StudyReport, TellsWhatWasPredictedMeasuredAndExpected) {
  const std::string text = render_study(example(), files, Format::table, {.width = 1000});
  EXPECT_THAT(text, HasSubstr("What caches are worth (study imaging, preset small)\nexpectations: 1 FAILED\n"));
  EXPECT_THAT(text, HasSubstr("comparison: run 20261121-114200-3f9a, 20261121-114100-0001\n"));
  EXPECT_THAT(text, HasSubstr("fft_count 4021 against 2122 predicts 1.89x; measured"));
  EXPECT_THAT(text, HasSubstr("✗ FAIL speedup >= 3, resnet50@openvino: 1.81x [1.74, 1.88]"));
  EXPECT_THAT(text, HasSubstr("reports/summary.txt: this summary"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  const std::string markdown = render_study(example(), files, Format::markdown, {});
  EXPECT_THAT(markdown, HasSubstr("### Baseline against optimised\n"));
  EXPECT_THAT(markdown, HasSubstr("- [ ] ✗ FAIL speedup"));
}

TEST(StudyReport, SaysWhyNothingIsPredicted) {
  StudyRecord study = example();
  study.parts[0].predictions[0].first_count.reset();
  EXPECT_THAT(render_study(study, {}, Format::markdown, {}), HasSubstr("was not counted by"));
  study = example();
  study.parts[0].predictions[0].predicted.reset();
  EXPECT_THAT(render_study(study, {}, Format::markdown, {}), HasSubstr("predicts nothing: both must be positive"));
}

TEST(StudyReport, IsJsonForPrograms) {
  const auto json = nlohmann::json::parse(render_study(example(), files, Format::json, {}));
  EXPECT_EQ(json["outcome"], "fail");
  EXPECT_EQ(json["parts"][0]["predictions"][0]["fit"], "less than predicted");
  EXPECT_EQ(json["parts"][0]["gate"]["failed"], 1);
  EXPECT_EQ(json["parts"][0]["runs"].size(), 2U);
  const auto part = nlohmann::json::parse(render_study_part(example().parts[0], Format::json, {}));
  EXPECT_EQ(part["run"]["id"], "20261121-114200-3f9a");
}

TEST(StudyReport, TextFromOutsideIsHarmless) {
  StudyRecord study = example();
  study.title = "a\x1b[2J";
  study.parts[0].title = "b\x1b[2J\n";
  study.parts[0].predictions[0].counter = "c\x1b[2J";
  const std::string text = render_study(study, {{"d\x1b[2J", "e\n"}}, Format::table, {});
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("c\\x1b[2J"));
}

TEST(StudyReport, APartOfThePageBeginsWithItsChecklist) {
  const ReportPart part = study_part_of_page(example().parts[0], {.samples = false});
  EXPECT_EQ(part.title, "Baseline against optimised");
  const auto json = nlohmann::json::parse(part.json);
  EXPECT_EQ(json["kind"], "gate");
  EXPECT_EQ(json["answers"][0]["verdict"], "fail");
  EXPECT_EQ(json["checks"][0]["name"], "speedup >= 3");
  EXPECT_THAT(json["answers"].back()["text"], HasSubstr("predicts 1.89x"));
}

}  // namespace
}  // namespace infermeter::study_report_test
