#include "infermeter/run/run.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "infermeter/data/value_block.hpp"
#include "infermeter/models/resolve.hpp"

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
    std::vector<std::byte> block(block_size(result.output_values));
    write_block(result.output_values, block);
    result.output_block = Bytes::copy_of(block);
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

// What ends the program after the n-th acknowledged trial, whichever that is.
struct Ended {};

// Once a trial is acknowledged, what its outputs say is too: a run that ends there is resumed to the same verdict.
TEST_F(RunOfOwnSubjects, IsResumedToTheVerdictOfTheUnbrokenRun) {
  other_output = 3.0F;
  plan.seed = 3;
  for (int ends_after = 1; ends_after <= 4; ++ends_after) {
    int acknowledged = 0;
    context.on_progress = [&](const Progress& now) {
      if (now.finished != nullptr && ++acknowledged == ends_after) throw Ended();
    };
    EXPECT_THROW(static_cast<void>(run(plan, context).ok()), Ended);
    context.on_progress = {};
    const auto resumed = run(plan, context, "latest");
    ASSERT_TRUE(resumed.ok()) << resumed.error().message;
    EXPECT_TRUE(resumed->finished);
    EXPECT_EQ(resumed->trials.size(), 4U);
    ASSERT_EQ(resumed->outputs.size(), 1U) << "ended after trial " << ends_after;
    EXPECT_EQ(judge(*resumed).exit_code, 1);
  }
}

TEST_F(RunOfOwnSubjects, IsNotResumedWhileItIsBeingMeasured) {
  std::string complaint;
  context.on_progress = [&](const Progress& now) {
    if (now.finished == nullptr || !complaint.empty()) return;
    const auto again = run(plan, context, "latest");
    complaint = again.ok() ? "it was resumed" : again.error().message;
  };
  const auto record = run(plan, context);
  ASSERT_TRUE(record.ok()) << record.error().message;
  EXPECT_NE(complaint.find("is being measured by another infermeter"), std::string::npos) << complaint;
}

// What has to be there before a run counts as finished is made again when it could not be made.
TEST_F(RunOfOwnSubjects, IsNotFinishedBeforeItsFilesAreThere) {
  context.before_finish = [](const RunRecord&) -> Result<Done> { return io_error("the disk is full"); };
  EXPECT_EQ(run(plan, context).error().message, "the disk is full");
  int called = 0;
  context.before_finish = [&](const RunRecord& record) -> Result<Done> {
    EXPECT_EQ(record.trials.size(), 4U);
    ++called;
    return Done{};
  };
  ASSERT_TRUE(run(plan, context, "latest").ok());
  EXPECT_EQ(called, 1);
  EXPECT_EQ(jobs.size(), 4U) << "nothing is measured twice";
}

TEST_F(RunOfOwnSubjects, MayNameAModelOnlyThatTheProgramHas) {
  context.models.erase("other");
  const auto record = run(plan, context);
  ASSERT_FALSE(record.ok());
  EXPECT_NE(record.error().message.find("other"), std::string::npos) << record.error().message;
  EXPECT_TRUE(jobs.empty());
}

class RunOfAFile : public RunOfOwnSubjects {
 protected:
  // "one" is a file, which `change` looks at before each trial's end.
  RunOfAFile() {
    fs::create_directories(folder);
    write("first contents");
    ModelFacts facts;
    facts.name = "one";
    facts.path = file.string();
    facts.format = "tflite";
    facts.sha256 = sha256_of_file(file).value();
    facts.files = identities_of(facts).value();
    context.models["one"] = facts;
    plan.subjects.resize(1);
    plan.processes = 4;
    context.trial = [this](const Launcher&, const TrialJob& job, const TrialHooks& hooks) {
      TrialResult result = trial(job, hooks);
      if (jobs.size() == 3) change();
      return result;
    };
  }
  void write(const std::string& text) const { std::ofstream(file) << text; }

  fs::path file = folder / "one.tflite";
  std::function<void()> change = [] {};
};

TEST_F(RunOfAFile, EndsWhereTheFileIsAnotherOne) {
  change = [this] { write("other contents"); };
  const auto record = run(plan, context);
  ASSERT_FALSE(record.ok());
  EXPECT_NE(record.error().message.find("the file of model 'one' changed during the run (SHA-256 "), std::string::npos)
      << record.error().message;
  EXPECT_EQ(record.error().kind, ErrorKind::io);
  auto store = Store::open(folder / "infermeter.db", Store::Mode::read);
  const auto stored = store->load_run("latest");
  ASSERT_TRUE(stored.ok()) << stored.error().message;
  EXPECT_EQ(stored->trials.size(), 2U) << "the third may have run either";
  EXPECT_FALSE(stored->finished);
}

TEST_F(RunOfAFile, GoesOnWhereTheContentsAreTheSame) {
  change = [this] {
    fs::rename(file, folder / "away");
    write("first contents");
  };
  const auto record = run(plan, context);
  ASSERT_TRUE(record.ok()) << record.error().message;
  EXPECT_EQ(record->trials.size(), 4U);
}

TEST_F(RunOfAFile, EndsWhereTheFileIsGone) {
  change = [this] { fs::remove(file); };
  const auto record = run(plan, context);
  ASSERT_FALSE(record.ok());
  EXPECT_NE(record.error().message.find("is not there any more"), std::string::npos) << record.error().message;
}

TEST_F(RunOfOwnSubjects, IsNotKeptWhereWhatIsAskedForCannotBe) {
  context.trial = [this](const Launcher&, const TrialJob& job, const TrialHooks& hooks) {
    TrialResult result = trial(job, hooks);
    result.samples.end = TrialEnd::load_failed;
    result.samples.usage = true;
    result.samples.message = job.subject.model + " has no size";
    return result;
  };
  const auto record = run(plan, context);
  ASSERT_FALSE(record.ok());
  EXPECT_EQ(record.error().kind, ErrorKind::usage);
  EXPECT_EQ(jobs.size(), 2U) << "each subject once";
  EXPECT_NE(record.error().message.find("2 problems, nothing was measured:\n- "), std::string::npos);
  EXPECT_NE(record.error().message.find("other: other has no size"), std::string::npos) << record.error().message;
  auto store = Store::open(folder / "infermeter.db", Store::Mode::read);
  EXPECT_TRUE(store->list_runs()->empty());

  context.keeps_refusals = true;
  const auto kept = run(plan, context);
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  EXPECT_EQ(kept->trials.size(), 4U);
}

}  // namespace
}  // namespace infermeter::run_test
