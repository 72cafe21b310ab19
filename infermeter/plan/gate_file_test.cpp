#include "infermeter/plan/gate_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infermeter::gate_file_test {
namespace {

using testing::HasSubstr;

GateFile read(std::string_view text) {
  PlanDraft draft;
  auto file = gate_file_from_toml(text, "gate.toml", draft);
  EXPECT_TRUE(file) << (file ? "" : file.error().message);
  return file ? std::move(*file) : GateFile{};
}

std::string error_of(std::string_view text) {
  PlanDraft draft;
  const auto file = gate_file_from_toml(text, "gate.toml", draft);
  return file ? "no error" : file.error().message;
}

TEST(GateFile, ReadsEverythingThatCanBeSaid) {
  const GateFile file = read(R"(
plan = "plans/nightly.toml"
baseline = "nightly"
fail_inconclusive = true
expect = ["speedup >= 3", "outputs agree"]
[[expectation]]
that = "latency_p50_ms <= 12"
subject = "resnet50@openvino"
)");
  EXPECT_EQ(file.plan_file, "plans/nightly.toml");
  EXPECT_TRUE(file.is_fresh());
  EXPECT_EQ(file.baseline, "nightly");
  EXPECT_TRUE(file.fail_inconclusive);
  ASSERT_EQ(file.expectations.size(), 3U);
  EXPECT_EQ(file.expectations[1].that.text, "outputs agree");
  EXPECT_EQ(file.expectations[1].subject, std::nullopt);
  EXPECT_EQ(file.expectations[2].subject->text, "resnet50@openvino");
}

TEST(GateFile, ExpectsOneSentenceOrMany) {
  EXPECT_EQ(read("expect = 'outputs agree'").expectations.size(), 1U);
  EXPECT_FALSE(read("run = 'latest'\nexpect = 'outputs agree'").is_fresh());
}

TEST(GateFile, PutsAPlanOfItsOwnIntoTheDraft) {
  PlanDraft draft;
  const auto file = gate_file_from_toml(
      "expect = 'no leak'\n[plan]\nsubjects = ['mlp@fake']\nprocesses = 5\n[[plan.subject]]\nmodel = 'mlp'\n"
      "backend = 'onnxruntime'\n",
      "gate.toml", draft);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(file->is_fresh());
  EXPECT_EQ(draft.plan.processes, 5);
  EXPECT_EQ(draft.subjects.size(), 2U);
}

TEST(GateFile, NamesLineAndColumnOfWhatItCannotRead) {
  EXPECT_THAT(error_of("expct = []"), HasSubstr("gate.toml:1:1: unknown key 'expct' (did you mean 'expect'?)"));
  EXPECT_EQ(error_of("expect = [3]"), "gate.toml:1:11: 'expect' needs strings, got a whole number");
  EXPECT_EQ(error_of("expect = 'no leak'\nplan = 3"),
            "gate.toml:2:8: 'plan' needs a file's name or a table, got a whole number");
  EXPECT_EQ(error_of("expect = 'no leak'\nrun = 3"), "gate.toml:2:7: 'run' needs a string, got a whole number");
  EXPECT_EQ(error_of("run = ''"), "gate.toml:1:7: 'run' is empty");
  EXPECT_EQ(error_of("fail_inconclusive = 1"),
            "gate.toml:1:21: 'fail_inconclusive' needs true or false, got a whole number");
  EXPECT_THAT(error_of("[expectation]\nthat = 'no leak'"), HasSubstr("write [[expectation]] before"));
  EXPECT_EQ(error_of("[[expectation]]\nsubject = 'a'"), "gate.toml:1:1: this [[expectation]] has no 'that'");
  EXPECT_EQ(error_of("[[expectation]]\nthat = 'no leak'\nsubjct = 'a'"),
            "gate.toml:3:1: unknown key 'subjct' (did you mean 'subject'?)");
  EXPECT_THAT(error_of("expect = 'no leak'\n[plan]\nprocsses = 3"),
              HasSubstr("gate.toml:3:1: unknown key 'procsses' (did you mean 'processes'?)"));
  EXPECT_THAT(error_of("expect = ["), HasSubstr("gate.toml:1:"));
}

TEST(GateFile, ExpectingNothingIsAnError) {
  for (const char* text : {"", "run = 'latest'", "expect = []"}) {
    EXPECT_THAT(error_of(text), HasSubstr("gate.toml: it expects nothing")) << text;
  }
}

TEST(GateFile, AStoredRunAndAPlanExcludeEachOther) {
  EXPECT_THAT(error_of("expect = 'no leak'\nrun = 'latest'\nplan = 'p.toml'"), HasSubstr("gate.toml:2:7: 'run'"));
}

TEST(GateFile, PointsIntoAStringAsFarAsItsCharactersStandThere) {
  const auto where = [](std::string_view toml, std::size_t offset) {
    return read(toml).expectations.back().that.error(offset, "here").message;
  };
  EXPECT_EQ(where("expect = ['abc']", 0), "gate.toml:1:12: here");
  EXPECT_EQ(where("expect = [\n  \"abc\",\n  \"def\",\n]", 2), "gate.toml:3:6: here");
  // Columns are characters, not bytes, before the string and in it.
  EXPECT_EQ(where("expect = ['\u00b5\u00b5', 'a \u2264 b']", 6), "gate.toml:1:22: here");
  // An escape takes more characters than it means, and so do three quotes: then the string itself is meant.
  EXPECT_EQ(where("expect = [\"a\\tbc\"]", 2), "gate.toml:1:11: here");
  EXPECT_EQ(where("expect = ['''abc''']", 2), "gate.toml:1:11: here");
  EXPECT_EQ(where("expect = '\\u0041'", 0), "gate.toml:1:11: here");
}

}  // namespace
}  // namespace infermeter::gate_file_test
