#include "infermeter/report/profile/stack_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "infermeter/report/options.hpp"
#include "infermeter/report/report.hpp"
#include "infermeter/report/test_records.hpp"

namespace infermeter::stack_text_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

void sample(StackProfile& stacks, std::vector<std::uint32_t> frames, double weight,
            std::optional<std::uint32_t> op = {}) {
  stacks.samples.push_back({.frames = std::move(frames), .weight = weight, .op = op});
}

// Two profile trials of the first subject: 8 of 10 ms in a kernel that two convolutions call.
RunRecord sampled_record() {
  RunRecord record = test::comparison_record();
  for (int process = 0; process < 2; ++process) {
    Samples trial = test::trial_of(0, process, process + 10, 0.010);
    trial.purpose = Purpose::profile;
    const auto iterations = static_cast<double>(trial.iterations());
    record.side_trials.push_back(trial);
    OperatorProfile profile;
    profile.position = process + 10;
    profile.operators.resize(2);
    for (std::uint32_t op = 0; op < 2; ++op) {
      profile.operators[op].name = op == 0 ? "conv1" : "conv2";
      profile.operators[op].kind = "Conv";
      profile.iteration.push_back(0);
      profile.op.push_back(op);
      profile.thread.push_back(0);
      profile.begin_s.push_back(0.001 + 0.004 * op);
      profile.duration_s.push_back(0.004);
    }
    record.profiles.push_back(profile);
    TrialStacks& stacks = record.stacks.emplace_back();
    stacks.position = process + 10;
    stacks.method = "perf_event";
    stacks.detail = "499 samples a second\x1b[31m";
    stacks.stacks.unit = "s";
    stacks.stacks.threads = {"main thread"};
    stacks.stacks.frames = {{.symbol = "gemm|kernel", .module = "/opt/lib/libort.so"},
                            {.symbol = "", .module = "/opt/lib/libort.so", .offset = 0x40}};
    sample(stacks.stacks, {0}, 0.006 * iterations, 0);
    sample(stacks.stacks, {0}, 0.002 * iterations, 1);
    sample(stacks.stacks, {1}, 0.001 * iterations);
  }
  return record;
}

TEST(StackTexts, TellTheHottestFunctionsWithTheirOperators) {
  const RunRecord record = sampled_record();
  const Verdict verdict = judge(record);
  const auto texts = stack_texts(record, *verdict.profile, 10);
  ASSERT_THAT(texts, SizeIs(1));
  EXPECT_THAT(texts[0].title, HasSubstr("call stacks (perf_event), 6 samples of 2 processes"));
  ASSERT_THAT(texts[0].grid.rows, SizeIs(2));
  const auto& first = texts[0].grid.rows[0];
  EXPECT_EQ(first[0].text, "gemm|kernel");
  EXPECT_EQ(first[1].text, "80.0 %");
  EXPECT_EQ(first[3].text, "libort.so");
  EXPECT_EQ(first[4].text, "Conv (2)");
  EXPECT_EQ(texts[0].grid.rows[1][0].text, "[libort.so+0x40]");
  EXPECT_EQ(texts[0].grid.rows[1][4].text, "(outside operators)");
  EXPECT_THAT(texts[0].lines[0], HasSubstr("samples: 88.9 % are in an operator, 11.1 % in code without a name"));
  EXPECT_THAT(texts[0].lines[1], Not(HasSubstr("\x1b")));
  EXPECT_THAT(stack_texts(record, *verdict.profile, 1)[0].grid.rows, SizeIs(1));
}

TEST(StackTexts, AreInTheTableAndInMarkdown) {
  const RunRecord record = sampled_record();
  const Verdict verdict = judge(record);
  EXPECT_THAT(render(record, verdict, Format::table, RenderOptions{}), HasSubstr("gemm|kernel"));
  EXPECT_THAT(render(record, verdict, Format::markdown, RenderOptions{}), HasSubstr("| gemm\\|kernel | 80.0 % |"));
}

TEST(StackTexts, JsonHasFunctionsAndTheTree) {
  const RunRecord record = sampled_record();
  const auto json = nlohmann::json::parse(render(record, judge(record), Format::json, RenderOptions{}));
  const auto& stacks = json.at("profile").at("subjects").at(0).at("stacks").at(0);
  EXPECT_EQ(stacks.at("method"), "perf_event");
  EXPECT_EQ(stacks.at("functions").at(1).at("offset"), "0x40");
  EXPECT_EQ(stacks.at("tree").at(0).at("level"), "whole");
  EXPECT_TRUE(stacks.at("tree").at(0).at("parent").is_null());
  double sum = 0;
  for (const auto& node : stacks.at("tree")) {
    if (node.at("parent") == 0) sum += node.at("mean_s").get<double>();
  }
  EXPECT_NEAR(sum, stacks.at("wall_s").get<double>(), 1e-12);
  EXPECT_TRUE(json.at("profile").at("subjects").at(1).at("stacks").empty());
}

TEST(StackTexts, ASlowedSubjectHasSharesOnly) {
  RunRecord record = sampled_record();
  for (Samples& trial : record.trials) {
    for (std::size_t i = 0; i < trial.end_s.size(); ++i) trial.end_s[i] = trial.begin_s[i] + 0.001;
  }
  const auto texts = stack_texts(record, *judge(record).profile, 10);
  EXPECT_EQ(texts[0].grid.rows[0][2].text, "–");
  EXPECT_THAT(texts[0].lines, testing::Contains(HasSubstr("read shares and not times")));
}

}  // namespace
}  // namespace infermeter::stack_text_test
