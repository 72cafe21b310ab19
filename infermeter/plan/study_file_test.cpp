#include "infermeter/plan/study_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infermeter::study_file_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kStudy = R"(
title = "What a cache is worth"
summary = { text = "all.txt" }
[plan]
processes = 5
iterations = 20
options = { size = 1 }
[[part]]
name = "first"
title = "The first"
predict = { counter = "ffts", metric = "p99" }
expect = ["speedup >= 3"]
[[part.expectation]]
that = "hit_rate >= 0.8"
subject = "b"
[part.plan]
iterations = 30
subjects = ["a=mlp@fake", "b=mlp@fake"]
[[part]]
name = "second"
predict = "ffts"
[part.plan]
subjects = ["c=mlp@fake"]
[[file]]
part = "first"
subject = "a"
json = "a.json"
[preset.small]
about = "quick"
plan = { iterations = 3, options = { size = 2 } }
parts = ["second"]
)";

Result<StudyFile> read(std::string_view text, std::string_view preset = "") {
  return study_file_from_toml(text, "study.toml", preset, {});
}

std::string error_of(const std::string& text) {
  const auto study = read(text);
  return study ? "no error" : study.error().message;
}

TEST(StudyFile, ReadsEverythingThatCanBeSaid) {
  const auto study = read(kStudy);
  ASSERT_TRUE(study) << study.error().message;
  EXPECT_EQ(study->title, "What a cache is worth");
  EXPECT_THAT(study->file_names(), ElementsAre("all.txt", "summary.json", "report.html", "a.json"));
  ASSERT_EQ(study->parts.size(), 2U);
  const StudyPart& first = study->parts[0];
  EXPECT_EQ(first.title, "The first");
  EXPECT_EQ(first.prediction->counter, "ffts");
  EXPECT_EQ(first.prediction->metric, "p99");
  ASSERT_EQ(first.expectations.size(), 2U);
  EXPECT_EQ(first.expectations[1].subject->text, "b");
  EXPECT_EQ(study->parts[1].title, "second");
  EXPECT_EQ(study->parts[1].prediction->metric, "mean");
  EXPECT_EQ(study->outputs.at(0).subject->text, "a");
  EXPECT_EQ(study->presets.at(0).about, "quick");
}

TEST(StudyFile, APartsPlanBeatsTheStudysAndThePresetsBoth) {
  const auto study = read(kStudy);
  ASSERT_TRUE(study);
  EXPECT_EQ(study->parts[0].draft.plan.processes, 5);
  EXPECT_EQ(study->parts[0].draft.plan.stopping.iterations, 30);
  EXPECT_EQ(study->parts[1].draft.plan.stopping.iterations, 20);
  EXPECT_EQ(study->parts[0].draft.subjects.size(), 2U);
  const auto small = read(kStudy, "small");
  ASSERT_TRUE(small) << small.error().message;
  ASSERT_EQ(small->parts.size(), 1U);
  EXPECT_EQ(small->parts[0].name, "second");
  EXPECT_EQ(small->parts[0].draft.plan.stopping.iterations, 3);
  EXPECT_EQ(small->parts[0].draft.defaults.options, (Pairs{{"size", "2"}}));
  EXPECT_TRUE(small->outputs.empty());  // of a part that is left out
}

TEST(StudyFile, NamesLineAndColumnOfWhatItCannotRead) {
  const std::string part = "[[part]]\nname = 'a'\n";
  EXPECT_THAT(error_of(""), HasSubstr("study.toml: it measures nothing"));
  EXPECT_THAT(error_of("titel = ''"), HasSubstr("study.toml:1:1: unknown key 'titel' (did you mean 'title'?)"));
  EXPECT_THAT(error_of("[[part]]\ntitle = 'a'"), HasSubstr("study.toml:1:1: this [[part]] has no 'name'"));
  EXPECT_THAT(error_of(part + part), HasSubstr("study.toml:4:8: there are two parts 'a'"));
  EXPECT_THAT(error_of("[[part]]\nname = '.a'"), HasSubstr("study.toml:2:8: name '.a' is not a plain name"));
  EXPECT_THAT(error_of(part + "plan = 3"), HasSubstr("study.toml:3:8: 'plan' needs a table, got a whole number"));
  EXPECT_THAT(error_of(part + "predict = ''"), HasSubstr("'predict' names no counter"));
  EXPECT_THAT(error_of(part + "expct = []"), HasSubstr("study.toml:3:1: unknown key 'expct' (did you mean 'expect'?)"));
  EXPECT_THAT(error_of(part + "[[file]]\npart = 'a'"), HasSubstr("this [[file]] names no file"));
  EXPECT_THAT(error_of(part + "[[file]]\njson = 'a'"), HasSubstr("this [[file]] has no 'part'"));
  EXPECT_THAT(error_of(part + "[[file]]\npart = 'b'\njson = 'a'"), HasSubstr("there is no part 'b'"));
  EXPECT_THAT(error_of(part + "[[file]]\npart = 'a'\njson = 'a/b'"), HasSubstr("json 'a/b' is not a plain name"));
  EXPECT_THAT(error_of("page = 'x'\nprofiles = 'x'\n" + part), HasSubstr("two of its files are called 'x'"));
  const std::string files = "[[file]]\npart = 'a'\njson = 'x'\n[[file]]\npart = 'b'\njson = 'x'\n";
  EXPECT_THAT(error_of(part + "[[part]]\nname = 'b'\n" + files),
              HasSubstr("study.toml: parts 'a' and 'b' both write 'x'"));
  EXPECT_EQ(error_of(part + "[[part]]\nname = 'b'\non_request = true\n" + files), "no error")
      << "not measured together";
  EXPECT_THAT(error_of(part + "[preset.a]\nplan = { itertions = 3 }"), HasSubstr("unknown key 'itertions'"));
  EXPECT_THAT(error_of("part = 3"), HasSubstr("'part' needs tables: write [[part]] before each one's keys"));
}

TEST(StudyFile, AnUnknownPresetIsToldWithThoseThatThereAre) {
  const auto study = read(kStudy, "smal");
  ASSERT_FALSE(study);
  EXPECT_EQ(study.error().message, "study.toml has no preset 'smal' (did you mean 'small'?); it has small");
}

}  // namespace
}  // namespace infermeter::study_file_test
