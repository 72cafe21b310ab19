#include "infermeter/verdict/history.hpp"

#include <gmock/gmock.h>

#include <cstdio>
#include <string>
#include <vector>

namespace infermeter::history_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using What = ContextChange::What;

// Values that vary by a few thousandths, the same in every run of the test.
double wobble(int i) { return 1 + 0.001 * ((i * 7) % 5 - 2); }

Figure figure(int run, double value) {
  Figure figure;
  figure.run = "run-" + std::to_string(run);
  figure.created_at = 1000 + run;
  figure.series = "mlp@fake";
  figure.machine = "m";
  figure.metric = "latency_p50";
  figure.value = value;
  figure.runtime_version = "1";
  figure.model_sha256 = "aa";
  figure.infermeter_version = "0.1.0";
  return figure;
}

// `before` runs at 1, then `after` at `factor`.
std::vector<Figure> step(int before, int after, double factor) {
  std::vector<Figure> figures;
  for (int i = 0; i < before + after; ++i) figures.push_back(figure(i, wobble(i) * (i < before ? 1 : factor)));
  return figures;
}

TEST(History, FindsAStepAndItsSize) {
  const History history = judge_history(step(12, 6, 1.1));
  ASSERT_THAT(history.changes, SizeIs(1));
  EXPECT_EQ(history.changes[0].point.index, 12U);
  EXPECT_NEAR(history.changes[0].point.change, 0.1, 0.005);
  EXPECT_TRUE(history.changes[0].worse);
  EXPECT_EQ(history.alarm(), &history.changes[0]);
  ASSERT_THAT(history.levels, SizeIs(2));
  EXPECT_EQ(history.levels[1].begin, 12U);
  EXPECT_EQ(history.levels[1].end, 18U);
  EXPECT_EQ(history.series, "mlp@fake");
}

TEST(History, RunsThatOtherWorkDisturbedAreLeftOut) {
  auto figures = step(12, 6, 1.1);
  for (std::size_t i = 12; i < 18; ++i) figures[i].processes = 3, figures[i].disturbed = 2;
  EXPECT_THAT(judge_history(figures).changes, IsEmpty());
  EXPECT_EQ(judge_history(figures).disturbed, 6);
  EXPECT_THAT(judge_history(figures).figures, SizeIs(12));
  for (Figure& one : figures) one.metric = "memory_peak";  // which other work does not change
  EXPECT_THAT(judge_history(figures).changes, SizeIs(1));
  for (Figure& one : figures) one.metric = "latency_p50", one.processes = 3, one.disturbed = 3;  // always busy
  EXPECT_THAT(judge_history(figures).changes, SizeIs(1));
  EXPECT_EQ(judge_history(figures).disturbed, 0);
}

TEST(History, AnImprovementIsNoAlarm) {
  const History history = judge_history(step(12, 6, 0.9));
  ASSERT_THAT(history.changes, SizeIs(1));
  EXPECT_FALSE(history.changes[0].worse);
  EXPECT_EQ(history.alarm(), nullptr);
}

TEST(History, KnowsWhereMoreIsBetter) {
  auto figures = step(12, 6, 0.9);
  for (Figure& figure : figures) figure.metric = "throughput";
  EXPECT_TRUE(judge_history(std::move(figures)).changes.at(0).worse);
}

TEST(History, AChangeForTheWorseThatWasMendedIsNoAlarm) {
  auto figures = step(10, 10, 1.1);
  for (int i = 20; i < 30; ++i) figures.push_back(figure(i, wobble(i)));
  const History history = judge_history(std::move(figures));
  ASSERT_THAT(history.changes, SizeIs(2));
  EXPECT_TRUE(history.changes[0].worse);
  EXPECT_EQ(history.alarm(), nullptr);
}

TEST(History, SaysNothingOfTooFewRuns) {
  const History history = judge_history(step(3, 2, 2));
  EXPECT_TRUE(history.too_few);
  EXPECT_THAT(history.figures, SizeIs(5));
  EXPECT_THAT(history.changes, IsEmpty());
  EXPECT_FALSE(judge_history(step(3, 3, 1)).too_few);
  EXPECT_TRUE(judge_history({}).too_few);
}

TEST(History, OrdersByDateAndTakesTheLastSubjectOfARun) {
  Figure candidate = figure(1, 3);
  candidate.subject = 1;
  const History history = judge_history({figure(2, 4), candidate, figure(1, 2), figure(0, 1)});
  std::vector<double> values;
  for (const Figure& figure : history.figures) values.push_back(figure.value);
  EXPECT_THAT(values, ElementsAre(1, 3, 4));
}

TEST(History, KeepsTheOrderOfRunsOfOneSecond) {
  std::vector<Figure> figures = {figure(9, 1), figure(3, 2), figure(5, 3)};
  for (Figure& figure : figures) figure.created_at = 7;
  std::vector<double> values;
  const History history = judge_histories(std::move(figures)).at(0);
  for (const Figure& figure : history.figures) values.push_back(figure.value);
  EXPECT_THAT(values, ElementsAre(1, 2, 3));
}

TEST(History, LeavesOutWhatHasNoLogarithm) {
  auto figures = step(6, 0, 1);
  figures.push_back(figure(6, 0));
  const History history = judge_history(std::move(figures));
  EXPECT_EQ(history.left_out, 1);
  EXPECT_THAT(history.figures, SizeIs(6));
}

TEST(History, TellsWhatElseChangedThere) {
  auto figures = step(12, 6, 1.1);
  for (std::size_t i = 12; i < figures.size(); ++i) figures[i].runtime_version = "2";
  for (std::size_t i = 13; i < figures.size(); ++i) figures[i].model_sha256 = "bb";
  for (std::size_t i = 14; i < figures.size(); ++i) figures[i].infermeter_version = "0.2.0";  // two runs later
  for (std::size_t i = 0; i < figures.size(); ++i) figures[i].git_commit = std::to_string(i);
  const History history = judge_history(std::move(figures));
  ASSERT_THAT(history.changes, SizeIs(1));
  const auto& context = history.changes[0].context;
  ASSERT_THAT(context, SizeIs(3));
  EXPECT_EQ(context[0].what, What::runtime_version);
  EXPECT_EQ(context[0].before + " " + context[0].after, "1 2");
  EXPECT_EQ(context[0].runs_off, 0);
  EXPECT_EQ(context[1].what, What::model);
  EXPECT_EQ(context[1].runs_off, 1);
  EXPECT_EQ(context[2].what, What::git_commit);
  EXPECT_EQ(context[2].before + " " + context[2].after, "11 12");
}

TEST(History, WhatIsNotKnownHasNotChanged) {
  auto figures = step(12, 6, 1.1);
  for (std::size_t i = 0; i < 12; ++i) figures[i].runtime_version.clear();
  EXPECT_THAT(judge_history(std::move(figures)).changes.at(0).context, IsEmpty());
}

TEST(History, PartsSeriesMachinesAndMetrics) {
  auto figures = step(12, 6, 1.1);
  for (const auto& [field, value] : {std::pair{&Figure::series, "other"}, {&Figure::machine, "n"}}) {
    for (Figure more : step(2, 0, 1)) {
      more.*field = value;
      figures.push_back(more);
    }
  }
  const auto histories = judge_histories(std::move(figures));
  ASSERT_THAT(histories, SizeIs(3));
  EXPECT_EQ(histories[0].machine, "m");
  EXPECT_THAT(histories[0].changes, SizeIs(1));
  EXPECT_EQ(histories[1].machine, "n");
  EXPECT_EQ(histories[2].series, "other");
  EXPECT_THAT(histories[2].figures, SizeIs(2));
}

}  // namespace
}  // namespace infermeter::history_test
