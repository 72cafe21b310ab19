#include "infermeter/run.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "infermeter/data/value_block.hpp"

namespace infermeter::run_test {
namespace {

namespace fs = std::filesystem;

class RunOfOwnSubjects : public testing::Test {
 protected:
  RunOfOwnSubjects() {
    context.models["one"].name = "one";
    context.models["other"].name = "other";
    context.trial = [this](const Launcher&, const TrialJob& job, const TrialHooks& hooks) { return trial(job, hooks); };
    for (const char* const model : {"one", "other"}) {
      plan.subjects.push_back({.label = model, .model = model, .backend = "live"});
    }
    plan.processes = 2;
    plan.stopping = {.warmup = 1, .iterations = 10, .duration_s = {}};
    plan.output_dir = folder;
  }
  ~RunOfOwnSubjects() override { fs::remove_all(folder); }

  // What an embedding program would measure: ten iterations of a millisecond, and `outputs` for what came in.
  TrialResult trial(const TrialJob& job, const TrialHooks& hooks) {
    jobs.push_back(job);
    const Port port{.name = "x", .dtype = DType::float32, .shape = {1, 4}};
    const auto data = hooks.data(std::span(&port, 1));
    EXPECT_TRUE(data.ok());
    TrialResult result;
    for (int i = 0; i < 10; ++i) {
      result.samples.begin_s.push_back(i);
      result.samples.end_s.push_back(i + 0.001);
    }
    result.samples.phase = Phase::done;
    result.samples.executed = {{"dtype", "float32"}};
    result.samples.outputs = {{.name = "y", .dtype = "float32", .shape = {2}}};
    if (has_truth) result.samples.outputs.push_back({.name = "truth", .dtype = "float32", .shape = {2}});
    if (!job.keep_outputs) return result;
    const float second = job.subject.model == "other" ? other_output : 2.0F;
    const Value value{.tensor = make_tensor<float>(DType::float32, {2}, std::vector<float>{1.0F, second})};
    result.output_values = {{value}};
    if (has_truth)
      result.output_values.front().push_back(
          {.tensor = make_tensor<float>(DType::float32, {2}, std::vector<float>{1.0F, 4.0F})});
    result.output_block.resize(block_size(result.output_values));
    write_block(result.output_values, result.output_block);
    return result;
  }

  fs::path folder = fs::temp_directory_path() / ("infermeter_run_test_" + std::to_string(getpid()));
  RunContext context;
  Plan plan;
  std::vector<TrialJob> jobs;
  float other_output = 2.0F;
  bool has_truth = false;
};

TEST_F(RunOfOwnSubjects, NeedsNoWorkerAndNoFile) {
  const auto record = run(plan, context);
  ASSERT_TRUE(record.ok()) << record.error().message;
  EXPECT_TRUE(record->finished);
  EXPECT_EQ(record->trials.size(), 4U);
  EXPECT_EQ(jobs.size(), 4U);
  EXPECT_EQ(record->models[1].name, "other");
  ASSERT_EQ(record->outputs.size(), 1U);
  EXPECT_TRUE(record->outputs[0].comparison.agree);
  EXPECT_EQ(judge(*record).exit_code, 0);
}

TEST_F(RunOfOwnSubjects, TellsInEachTrialHowRightItWas) {
  has_truth = true;
  other_output = 3.0F;
  const auto record = run(plan, context);
  ASSERT_TRUE(record.ok()) << record.error().message;
  ASSERT_EQ(record->trials.size(), 4U);
  for (const Samples& trial : record->trials) {
    const auto mse = std::ranges::find(trial.counters, "truth_mse", &Counter::name);
    ASSERT_NE(mse, trial.counters.end());
    EXPECT_DOUBLE_EQ(mse->value, trial.subject == 1 ? 0.5 : 2.0);
  }
  EXPECT_EQ(judge(*record).subjects[0].summary.counters.size(), 3U) << "PSNR, MSE, correlation; no picture";
}

TEST_F(RunOfOwnSubjects, HasItsOutputsComparedAndItsRecordStored) {
  other_output = 3.0F;
  const auto record = run(plan, context);
  ASSERT_TRUE(record.ok()) << record.error().message;
  EXPECT_EQ(judge(*record).exit_code, 1);
  auto store = Store::open(folder / "infermeter.db", Store::Mode::read);
  ASSERT_TRUE(store.ok()) << store.error().message;
  const auto stored = store->load_run(record->id);
  ASSERT_TRUE(stored.ok()) << stored.error().message;
  EXPECT_EQ(stored->trials.size(), 4U);
  EXPECT_EQ(stored->trials[3].end_s, record->trials[3].end_s);
  ASSERT_EQ(stored->outputs.size(), 1U);
  EXPECT_FALSE(stored->outputs[0].comparison.agree);
}

TEST_F(RunOfOwnSubjects, MayNameAModelOnlyThatTheProgramHas) {
  context.models.erase("other");
  const auto record = run(plan, context);
  ASSERT_FALSE(record.ok());
  EXPECT_NE(record.error().message.find("other"), std::string::npos) << record.error().message;
  EXPECT_TRUE(jobs.empty());
}

}  // namespace
}  // namespace infermeter::run_test
