#include "infermeter/report/run/accuracy_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/options.hpp"
#include "infermeter/report/report.hpp"
#include "infermeter/report/run/answers.hpp"
#include "infermeter/report/run/recommendations.hpp"
#include "infermeter/report/test_records.hpp"

namespace infermeter::accuracy_text_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Kind = Recommendation::Kind;

// Two subjects of one group, of 10000 rows.
RunRecord labelled(const PairedRight& paired) {
  RunRecord record;
  record.finished = true;
  for (const char* label : {"base", "small"}) {
    record.plan.subjects.push_back({.label = label, .model = "net", .backend = "fake"});
    record.models.push_back({.name = "net", .size_bytes = record.models.empty() ? 40'000'000U : 10'000'000U});
  }
  SubjectAccuracy first{.subject = 0};
  first.accuracy.output = "scores";
  first.accuracy.labels =
      LabelAccuracy{.rows = paired.both + paired.reference_only + paired.candidate_only + paired.neither,
                    .top1 = paired.both + paired.reference_only,
                    .top5 = {},
                    .classes = {}};
  SubjectAccuracy second = first;
  second.subject = 1;
  second.reference = 0;
  second.accuracy.labels->top1 = paired.both + paired.candidate_only;
  second.paired = paired;
  record.accuracy = {first, second};
  return record;
}

std::vector<std::string> sentences(const RunRecord& record) {
  std::vector<std::string> texts;
  const Verdict verdict = judge(record);
  for (const WordedAnswer& one : worded_answers(record, verdict)) {
    if (one.answer.topic == AnswerTopic::accuracy) texts.push_back(std::string(sign_of(one.tone())) + " " + one.text);
  }
  return texts;
}

TEST(AccuracyText, SaysWhatIsLostAndWhatCannotBeTold) {
  EXPECT_THAT(
      sentences(labelled({.both = 7500, .reference_only = 112, .candidate_only = 12, .neither = 2376})),
      ElementsAre("· base: accuracy 0.7612 [0.7527, 0.7695] of 10000 rows",
                  "⚠ small: accuracy 0.7512, 0.0100 lower than base [0.0078, 0.0122] (p < 0.001) of 10000 rows"));
  EXPECT_THAT(sentences(labelled({.both = 7500, .reference_only = 12, .candidate_only = 112, .neither = 2376}))[1],
              HasSubstr("✓ small: accuracy 0.7612, 0.0100 higher than base [0.0078, 0.0122]"));
  EXPECT_THAT(sentences(labelled({.both = 7500, .reference_only = 40, .candidate_only = 38, .neither = 2422}))[1],
              HasSubstr("? small: accuracy 0.7538, -0.0002 against base: a difference cannot be determined [-0.00"));
}

TEST(AccuracyText, OfRowsWithoutALabelNothingIsKnown) {
  RunRecord record = labelled({});
  EXPECT_THAT(sentences(record)[0], HasSubstr("accuracy not known: no row has a label"));
  EXPECT_EQ(accuracy_cell(judge(record).subjects[0]).text, "–");
}

TEST(AccuracyText, OfMasksThereIsTheOverlap) {
  RunRecord record = labelled({});
  for (SubjectAccuracy& subject : record.accuracy) {
    subject.accuracy.labels.reset();
    subject.paired.reset();
    subject.accuracy.masks =
        MaskAccuracy{.pixels = 100, .right = 80, .classes = {{.label = 0, .both = 60, .truth = 70, .predicted = 70}}};
  }
  record.accuracy[1].accuracy.masks->classes[0].both = 56;
  EXPECT_THAT(sentences(record)[1],
              HasSubstr("small: 0.8000 of the pixels are right, mean IoU 0.6667 (-0.0833), mean Dice"));
  EXPECT_EQ(accuracy_cell(judge(record).subjects[0]).text, "IoU 0.7500");
}

TEST(AccuracyText, IsAColumnOnlyWhereThereIsAny) {
  RunRecord record = labelled({.both = 7500, .reference_only = 112, .candidate_only = 12, .neither = 2376});
  EXPECT_THAT(render(record, judge(record), Format::table, {.width = 160}), HasSubstr("0.7512 (-0.0100)"));
  EXPECT_THAT(render(record, judge(record), Format::markdown, {}), HasSubstr("| p99 | Accuracy | Outputs |"));
  record.accuracy.clear();
  EXPECT_THAT(render(record, judge(record), Format::table, {.width = 160}), Not(HasSubstr("ccuracy")));
  EXPECT_THAT(render(record, judge(record), Format::markdown, {}), Not(HasSubstr("ccuracy")));
}

TEST(AccuracyText, FiguresOfTheImageThatIsLeastLikeItsReference) {
  OutputComparison comparison;
  EXPECT_EQ(image_figures(comparison), "");
  comparison.outputs.resize(2);
  comparison.outputs[0].ssim = 1;
  comparison.outputs[0].psnr_db = std::numeric_limits<double>::infinity();
  EXPECT_EQ(image_figures(comparison), " (PSNR infinite, SSIM 1.0000)");
  comparison.outputs[1].ssim = 0.98765;
  comparison.outputs[1].psnr_db = 41.26;
  EXPECT_EQ(image_figures(comparison), " (PSNR 41.3 dB, SSIM 0.9877)");
}

std::string words(Kind kind, double value, std::optional<std::uint64_t> more_rows = {}) {
  const Sentence sentence = recommendation_sentence(
      {.kind = kind, .value = value, .interval = Interval{-0.004, 0.002}, .more_rows = more_rows});
  return std::string(sign_of(sentence.tone)) + " " + sentence.text;
}

TEST(Recommendations, InWords) {
  EXPECT_EQ(words(Kind::faster, 1.82), "✓ 1.82x faster than baseline");
  EXPECT_EQ(words(Kind::slower, 0.5), "⚠ 2.00x slower than baseline");
  EXPECT_EQ(words(Kind::not_faster, 0.998), "⚠ Not faster than baseline (0.998x)");
  EXPECT_EQ(words(Kind::less_memory, 2.21e9), "✓ 2.21 GB less memory");
  EXPECT_EQ(words(Kind::more_memory, -3.5e6), "⚠ 3.50 MB more memory");
  EXPECT_EQ(words(Kind::smaller_model, 3.98), "✓ 4.0x smaller model");
  EXPECT_EQ(words(Kind::larger_model, 0.25), "⚠ 4.0x larger model");
  EXPECT_EQ(words(Kind::accuracy_maintained, -0.0006), "✓ Accuracy maintained (-0.0006)");
  EXPECT_EQ(words(Kind::accuracy_maintained, -0.00001), "✓ Accuracy maintained (+0.0000)");
  EXPECT_EQ(words(Kind::accuracy_lost, -0.0015), "⚠ Accuracy loss: -0.0015");
  EXPECT_EQ(words(Kind::accuracy_unclear, -0.001, 1200),
            "? Accuracy cannot be determined yet (-0.0010 [-0.0040, +0.0020]); about 1200 more rows would settle it");
  EXPECT_EQ(words(Kind::outputs_agree, 0), "✓ Outputs agree");
  EXPECT_EQ(words(Kind::outputs_differ, 0.123), "⚠ Outputs differ beyond tolerance (max 0.12)");
}

TEST(Recommendations, StandUnderTheirSubject) {
  RunRecord record = labelled({.both = 7500, .reference_only = 112, .candidate_only = 12, .neither = 2376});
  EXPECT_EQ(recommendations_text(record, judge(record)),
            "small:\n  ✓ 4.0x smaller model\n  ⚠ Accuracy loss: -0.0100\n");
  record.plan.subjects.resize(1);
  record.models.resize(1);
  record.accuracy.resize(1);
  EXPECT_THAT(recommendations_text(record, judge(record)), IsEmpty());
}

}  // namespace
}  // namespace infermeter::accuracy_text_test
