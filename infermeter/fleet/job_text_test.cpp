#include "infermeter/fleet/job_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infermeter/run/shard.hpp"

namespace infermeter::job_text_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Plan plan_of(int blocks, int subjects) {
  Plan plan;
  plan.processes = blocks;
  for (int i = 0; i < subjects; ++i)
    plan.subjects.push_back({.label = std::string(1, static_cast<char>('a' + i)), .model = "mlp", .backend = "fake"});
  return plan;
}

TEST(Shards, EveryBlockIsInOneAndTheyDifferByOneAtMost) {
  for (int blocks = 1; blocks <= 23; ++blocks) {
    for (int count = 1; count <= blocks; ++count) {
      const Plan plan = plan_of(blocks, 2);
      std::vector<int> sizes(static_cast<std::size_t>(count));
      int before = 1;
      for (int block = 0; block < blocks; ++block) {
        const int shard = shard_of_block(plan, block, count);
        ASSERT_GE(shard, before) << "neighbours are together";
        ASSERT_LE(shard, count);
        before = shard;
        ++sizes[static_cast<std::size_t>(shard - 1)];
      }
      const auto [least, most] = std::ranges::minmax(sizes);
      EXPECT_GE(least, 1);
      EXPECT_LE(most - least, 1);
    }
  }
}

Samples trial_of(int process, int subject, std::string_view node, TrialEnd end = TrialEnd::ok) {
  Samples trial;
  trial.process = process;
  trial.subject = subject;
  trial.position = process * 2 + subject;
  trial.end = end;
  trial.executed.emplace_back(kNodeKey, node);
  return trial;
}

TEST(Shards, OnlyBlocksOfOneNodeAreWhole) {
  RunRecord record;
  record.plan = plan_of(5, 2);
  record.trials = {trial_of(0, 0, "n1"),
                   trial_of(0, 1, "n1"),
                   trial_of(1, 0, "n1"),
                   trial_of(1, 1, "n2"),
                   trial_of(2, 0, "n2"),
                   trial_of(3, 0, "n2"),
                   trial_of(3, 1, "n2", TrialEnd::interrupted),
                   trial_of(4, 0, "n2"),
                   trial_of(4, 1, "n2", TrialEnd::crashed)};
  EXPECT_THAT(whole_blocks(record), ElementsAre(0, 4));
  // On the second node its own halves go on; what the first one left, or both have, is begun again.
  EXPECT_THAT(drop_half_blocks(record, {.number = 1, .count = 1, .node = "n2"}), ElementsAre(2, 3));
  EXPECT_THAT(drop_half_blocks(record, {.number = 1, .count = 1, .node = "n1"}), ElementsAre(4, 6, 7));
}

TEST(Shards, EnvironmentsOfNodesAreEachThereOnce) {
  Environment all;
  all.command = "infermeter run";
  all.processor = "of the login node";
  for (const char* name : {"n1", "n2", "n1"}) {
    Environment node;
    node.hostname = name;
    node.processor = "of a node";
    enter_node(all, node);
  }
  ASSERT_EQ(all.nodes.size(), 2U);
  EXPECT_EQ(all.hostname, "n1");
  EXPECT_EQ(all.command, "infermeter run");
  Environment alone = all;
  alone.nodes.clear();
  EXPECT_EQ(machine_fingerprint(all), machine_fingerprint(alone)) << "equal nodes are one kind of machine";
  all.nodes[1].processor = "another";
  EXPECT_NE(machine_fingerprint(all), machine_fingerprint(alone));
  EXPECT_NE(machine_fingerprint(all), machine_fingerprint(all.nodes[1]));
}

struct Example {
  ClusterRequest request{};
  ClusterJob job{.folder = "/shared/re sults/100%/jobs/r", .run = "r", .tasks = 3};
  RunRecord record{};

  Example() {
    record.id = "r";
    record.plan = plan_of(6, 2);
    record.plan.output_dir = "/shared/re sults/100%";
  }
  [[nodiscard]] Result<std::string> script() const {
    return slurm_script({.request = request,
                         .job = job,
                         .record = record,
                         .program = "/opt/infermeter",
                         .folder = "/shared",
                         .flags = {"--allow-code"}});
  }
};

TEST(JobText, PathsAreQuotedForWhoeverReadsThem) {
  const auto script = Example().script();
  ASSERT_TRUE(script.ok()) << script.error().message;
  EXPECT_THAT(*script, HasSubstr("\n#SBATCH --output=\"/shared/re sults/100%%/jobs/r/%a.log\"\n"));
  EXPECT_THAT(*script, HasSubstr("'/shared/re sults/100%/jobs/r'/\"$SLURM_ARRAY_TASK_ID\" --allow-code\n"));
}

TEST(JobText, AHostileNameMakesNoLineOfItsOwn) {
  Example example;
  ModelFacts& model = example.record.models.emplace_back();
  model.path = "/shared/m\n#SBATCH --uid=0";
  model.sha256 = "00";
  const auto script = example.script();
  ASSERT_TRUE(script.ok()) << script.error().message;
  EXPECT_THAT(*script, Not(HasSubstr("\n#SBATCH --uid")));
  example.job.folder = "/shared/a\nb";
  EXPECT_THAT(example.script().error().message, HasSubstr("a job cannot name the path"));
}

TEST(ClusterRequest, WhatNeedsOneMachineIsRefused) {
  const auto complaint = [](const Plan& plan) { return check_request({}, plan).error().message; };
  Plan race = plan_of(6, 2);
  race.tuning.emplace();
  EXPECT_TRUE(check_request({}, race).ok());
  EXPECT_EQ(tasks_of({}, race), 1);
  EXPECT_THAT(check_request({.nodes = 2}, race).error().message, HasSubstr("a race chooses its next trials by those"));
  Plan patient = plan_of(6, 2);
  patient.question = {.until_resolved = true};
  EXPECT_THAT(complaint(patient), HasSubstr("--until-resolved"));
  Plan hurried = plan_of(6, 2);
  hurried.budget_s = 60;
  EXPECT_THAT(complaint(hurried), HasSubstr("--budget"));
  EXPECT_TRUE(check_request({}, plan_of(6, 2)).ok());
  ClusterRequest wide;
  wide.nodes = 9;
  EXPECT_EQ(tasks_of(wide, plan_of(6, 2)), 6);
}

}  // namespace infermeter::job_text_test
