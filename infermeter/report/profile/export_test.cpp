#include "infermeter/report/profile/export.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "infermeter/report/profile/summaries.hpp"
#include "infermeter/report/test_records.hpp"

namespace infermeter::profile_export_test {
namespace {

using testing::HasSubstr;
using testing::Not;

Samples profile_trial(int subject, int process, int position) {
  Samples trial = test::trial_of(subject, process, position, 0.01);
  trial.purpose = Purpose::profile;
  return trial;
}

OperatorProfile profile_at(int position, const std::string& name = "conv1") {
  OperatorProfile profile;
  profile.position = position;
  profile.operators.resize(2);
  profile.operators[0].name = name;
  profile.operators[0].kind = "Conv";
  profile.operators[0].kernel = "NchwcConv";
  profile.operators[0].precision = "float32";
  profile.operators[0].shapes = "(1, 3, 224, 224) -> (1, 64, 112, 112)";
  profile.operators[0].nodes = {name, "relu1"};
  profile.operators[0].rule = OriginRule::tensor;
  profile.operators[0].flops = 0.6e9;
  profile.operators[0].activation_bytes = 602'112;
  profile.operators[0].parameter_bytes = 37'632;
  profile.operators[0].output_bytes = 3'211'264;
  profile.operators[1].name = "fc";
  profile.operators[1].kind = "Gemm";
  profile.operators[1].output_bytes = 8'000'000;
  for (std::uint32_t i = 0; i < 2; ++i) {
    for (std::uint32_t op = 0; op < 2; ++op) {
      profile.iteration.push_back(i);
      profile.op.push_back(op);
      profile.thread.push_back(0);
      profile.begin_s.push_back(op == 0 ? 0.0005 : 0.0065);
      profile.duration_s.push_back(op == 0 ? 0.006 : 0.003);
    }
  }
  return profile;
}

RunRecord profiled_record() {
  RunRecord record = test::comparison_record();
  record.side_trials.push_back(profile_trial(0, 0, 1));
  record.side_trials.push_back(profile_trial(1, 0, 2));
  record.side_trials.push_back(profile_trial(0, 1, 3));
  record.profiles = {profile_at(1), profile_at(2), profile_at(3), profile_at(0)};  // 0: of a pilot
  return record;
}

TrialStacks stacks_at(int position, bool is_python) {
  TrialStacks stacks;
  stacks.position = position;
  stacks.method = is_python ? "py_spy" : "perf_event";
  stacks.is_python = is_python;
  stacks.stacks.frames = {{.symbol = is_python ? "infer" : "gemm", .module = "/opt/lib.so"}};
  stacks.stacks.threads = {"main thread"};
  stacks.stacks.unit = "s";
  stacks.stacks.samples = {{.frames = {0}, .weight = 0.004, .op = 0}, {.frames = {0}, .weight = 0.001}};
  return stacks;
}

RunRecord sampled_record() {
  RunRecord record = profiled_record();
  record.stacks = {stacks_at(1, true), stacks_at(1, false), stacks_at(3, false), stacks_at(99, false)};
  return record;
}

std::map<std::string, std::string> exported(const RunRecord& record) {
  const auto files = export_profiles(record);
  EXPECT_TRUE(files.ok());
  std::map<std::string, std::string> result;
  for (const ProfileExport& file : *files) result[file.name] = file.bytes;
  return result;
}

TEST(ExportProfiles, TakesProfileTrialsByTheirPosition) {
  const RunRecord record = profiled_record();
  const auto subjects = profiled_subjects(record);
  ASSERT_EQ(subjects.size(), 2U);
  EXPECT_EQ(subjects[0].label, "resnet50@onnxruntime");
  ASSERT_EQ(subjects[0].trials.size(), 2U);
  EXPECT_EQ(subjects[0].trials[1].profile, &record.profiles[2]);
  EXPECT_EQ(subjects[0].trials[1].samples, &record.side_trials[3]);
  ASSERT_EQ(subjects[0].timed.size(), 1U);
  EXPECT_EQ(subjects[0].timed[0], &record.trials[0]);
}

// Of a record whose subjects ran on a processor: the memory summary has another name where one ran on CUDA.
std::vector<std::string> names_without_cuda() {
  std::vector<std::string> names = profile_export_names();
  std::erase(names, "cuda_memory_summary.txt");
  return names;
}

TEST(ExportProfiles, WritesEveryFileThatItNames) {
  const auto files = export_profiles(sampled_record());
  std::vector<std::string> names;
  for (const ProfileExport& file : *files) {
    if (!file.name.starts_with("tensorboard/")) names.push_back(file.name);
    EXPECT_FALSE(file.bytes.empty()) << file.name;
  }
  EXPECT_THAT(names, testing::UnorderedElementsAreArray(names_without_cuda()));
}

TEST(ExportProfiles, FilesWithoutDataAreNotWritten) {
  const auto files = exported(profiled_record());
  EXPECT_FALSE(files.contains("stacks.collapsed.txt"));
  EXPECT_FALSE(files.contains("python.collapsed.txt"));
  EXPECT_THAT(files.at("profiling_summary.txt"), Not(HasSubstr("stacks.collapsed.txt")));
  EXPECT_THAT(files.at("profiling_summary.txt"), HasSubstr("| `detailed_breakdown.txt` |"));
}

TEST(ExportProfiles, StacksAreCollapsedWithTheirOperators) {
  const auto files = exported(sampled_record());
  EXPECT_EQ(files.at("stacks.collapsed.txt"),
            "resnet50@onnxruntime;main thread;Conv;conv1;gemm 8000\nresnet50@onnxruntime;main thread;gemm 2000\n");
  EXPECT_EQ(files.at("python.collapsed.txt"),
            "resnet50@onnxruntime;main thread;Conv;conv1;infer 4000\nresnet50@onnxruntime;main thread;infer 1000\n");
  const auto profiles = nlohmann::json::parse(files.at("profile.speedscope.json")).at("profiles");
  EXPECT_EQ(std::ranges::count_if(profiles, [](const auto& profile) { return profile.at("type") == "sampled"; }), 2);
}

TEST(ExportProfiles, StacksAloneAreWritten) {
  RunRecord record = sampled_record();
  record.profiles.clear();
  record.trials.clear();
  const auto files = exported(record);
  EXPECT_EQ(files.size(), 3U);
  EXPECT_THAT(files.at("stacks.collapsed.txt"), HasSubstr("resnet50@onnxruntime;main thread;gemm 10000\n"));
  EXPECT_FALSE(files.contains("trace.json"));
}

TEST(ExportProfiles, TheReadMeTellsOfEveryFile) {
  const auto files = exported(sampled_record());
  for (const std::string& name : names_without_cuda()) {
    if (name != "profiling_summary.txt") {
      EXPECT_THAT(files.at("profiling_summary.txt"), HasSubstr("`" + name + "`"));
    }
  }
  EXPECT_THAT(files.at("profiling_summary.txt"), Not(HasSubstr("sums only")));
}

TEST(ExportProfiles, TracesHoldEveryProcess) {
  const auto files = exported(profiled_record());
  const auto events = nlohmann::json::parse(files.at("trace.json")).at("traceEvents");
  EXPECT_EQ(std::ranges::count_if(events, [](const auto& event) { return event.at("name") == "conv1"; }), 6);
  EXPECT_THAT(files.at("profile.collapsed.txt"), HasSubstr("resnet50@onnxruntime;iteration;Conv;conv1 24000\n"));
  EXPECT_THAT(files.at("profile.collapsed.txt"), HasSubstr("resnet50@openvino;iteration;Conv;conv1 12000\n"));
  EXPECT_THAT(files.at("profile.collapsed.txt"), HasSubstr("resnet50@openvino;iteration 2000\n"));
}

TEST(ExportProfiles, KeepsTheTraceThatARuntimeWroteItself) {
  // gzip -9n of {"traceEvents": []}
  const std::string own(
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\xab\x56\x2a\x29\x4a\x4c\x4e\x75\x2d"
      "\x4b\xcd\x2b\x29\x56\xb2\x52\x88\x8e\xad\x05\x00\xd7\xde\x51\xaf\x13\x00\x00\x00",
      39);
  RunRecord record = profiled_record();
  record.profiles[0].own_trace = own;
  auto files = exported(record);
  EXPECT_EQ(files.at("tensorboard/resnet50@onnxruntime/process_1.pt.trace.json.gz"), own);
  EXPECT_TRUE(files.contains("tensorboard/resnet50@onnxruntime/process_2.pt.trace.json"));
  EXPECT_THAT(files.at("trace.json"), HasSubstr("ProfilerStep#0"));  // of all processes
  record.side_trials.erase(record.side_trials.begin() + 2, record.side_trials.end());
  EXPECT_EQ(exported(record).at("trace.json"), "{\"traceEvents\": []}");
  record.profiles[0].own_trace = own.substr(0, 12) + "no gzip";
  EXPECT_THAT(exported(record).at("trace.json"), HasSubstr("ProfilerStep#0"));
}

TEST(ExportProfiles, SaysWhatAMeanIs) {
  RunRecord record = profiled_record();
  record.profiles.resize(1);
  OperatorProfile& profile = record.profiles[0];
  profile.mean_s = {0.006, 0.003};
  profile.mean_calls = {1, 1};
  for (auto* column : {&profile.iteration, &profile.op, &profile.thread}) column->clear();
  profile.begin_s.clear();
  profile.duration_s.clear();
  EXPECT_THAT(exported(record).at("profiling_summary.txt"), HasSubstr("Of 1 process the runtime reported sums only"));
}

TEST(ExportProfiles, MeasuredProcessesStandBelowTheProfiledOnesOfTheirSubject) {
  const RunRecord record = profiled_record();
  const auto trace = nlohmann::json::parse(exported(record).at("trace.json"));
  std::vector<std::string> processes;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("name") == "process_name") processes.push_back(event.at("args").at("name"));
  }
  const auto measured = [](const std::string& name) { return name.find(", measured process ") != std::string::npos; };
  EXPECT_EQ(std::ranges::count_if(processes, measured), std::ssize(record.trials));
  ASSERT_GT(processes.size(), 2U);
  EXPECT_FALSE(measured(processes[0]));
  EXPECT_TRUE(measured(processes[2])) << processes[2];
  EXPECT_THAT(exported(record).at("profile.collapsed.txt"), Not(HasSubstr("measured")));
}

TEST(ExportProfiles, ARunWithoutProfilesHasTracesOfItsIterations) {
  const auto files = exported(test::example_record());
  EXPECT_EQ(files.size(), 3U);
  EXPECT_THAT(files.at("trace.json"), HasSubstr("measured process 1"));
}

TEST(ExportProfiles, ARunWithoutProfilesAndIterationsIsRefused) {
  RunRecord record = test::example_record();
  record.trials.clear();
  const auto files = export_profiles(record);
  ASSERT_FALSE(files.ok());
  EXPECT_THAT(files.error().message, HasSubstr("--profile"));
}

TEST(SummaryByTime, OperatorsAndRestAddUp) {
  const RunRecord record = profiled_record();
  const std::string text = summary_by_time(profiled_subjects(record));
  EXPECT_THAT(text, HasSubstr("resnet50@onnxruntime\n2 operators of 2 processes, 10.0 ms per inference\n"));
  EXPECT_THAT(text, testing::ContainsRegex("conv1 +Conv +60.0 % +6.00 ms"));
  EXPECT_THAT(text, testing::ContainsRegex("fc +Gemm +30.0 % +3.00 ms"));
  EXPECT_THAT(text, testing::ContainsRegex("\\(rest\\) +between operators +10.0 % +1.00 ms"));
  EXPECT_LT(text.find("conv1"), text.find("fc ")) << "slowest first";
}

TEST(SummaryByMemory, LargestFirstAndTheProcess) {
  const RunRecord record = profiled_record();
  const std::string text = summary_by_memory(profiled_subjects(record));
  EXPECT_LT(text.find("fc "), text.find("conv1")) << "largest first";
  EXPECT_THAT(text, testing::ContainsRegex("conv1 +Conv +3.85 MB +602 kB +37.6 kB +3.21 MB"));
  EXPECT_THAT(text, HasSubstr("highest while running"));
  RunRecord silent = profiled_record();
  for (OperatorProfile& profile : silent.profiles) {
    for (ProfiledOperator& op : profile.operators) {
      op.activation_bytes = op.parameter_bytes = op.output_bytes = std::nullopt;
    }
  }
  EXPECT_THAT(summary_by_memory(profiled_subjects(silent)), HasSubstr("reports no memory of single operators"));
}

TEST(ProfileBreakdown, TellsEverythingInExecutionOrder) {
  const RunRecord record = profiled_record();
  const std::string text = profile_breakdown(profiled_subjects(record));
  EXPECT_THAT(text, testing::ContainsRegex("Kind +Operators +Calls +Own time +Own %"));
  EXPECT_THAT(text, HasSubstr("   1  conv1 (Conv)\n    own time    6.00 ms (60.0 %)"));
  EXPECT_THAT(text, HasSubstr("    work        0.600 GFLOP, 100 GFLOP/s\n"));
  EXPECT_THAT(text, HasSubstr("    nodes       conv1, relu1 (tensor)\n"));
  EXPECT_THAT(text, Not(HasSubstr("Layout"))) << "nothing is reported about it";
}

TEST(ProfileSummaries, NamesCannotSteer) {
  for (const std::string& name : test::hostile_names()) {
    RunRecord record = profiled_record();
    record.plan.subjects[0].label = record.id = name;
    record.profiles = {profile_at(1, name)};
    for (const auto& [file, bytes] : exported(record)) {
      const bool is_text = file != "profile.perfetto-trace" && file.find(".tfevents.") == std::string::npos;
      if (is_text) {
        EXPECT_EQ(bytes.find('\x1b'), std::string::npos) << file;
      }
      EXPECT_LT(bytes.size(), 100'000U) << file;
    }
  }
}

}  // namespace
}  // namespace infermeter::profile_export_test
