#include "infermeter/verdict/load/load_validity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infermeter/stats/test_queue.hpp"

namespace infermeter::load_validity_test {
namespace {

using testing::HasSubstr;

const Pairs server = {{"scenario", "server"}, {"rate", "100"}};

Samples trial_with(LoadRecord load) {
  Samples trial;
  trial.load = std::move(load);
  return trial;
}

LoadRecord good_load(std::uint64_t seed = 1) { return record_of(poisson_queue(100, 0.005, 2000, seed)); }

LoadValidity judged(const LoadRecord& load, const Pairs& pairs = server) {
  const Samples trial = trial_with(load);
  return *judge_load(pairs, std::span(&trial, 1));
}

TEST(LoadValidity, AQueueAtHalfItsLoadIsValid) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const LoadValidity validity = judged(good_load(seed));
    EXPECT_TRUE(validity.valid()) << seed << ": " << (validity.valid() ? "" : validity.findings.front().message);
  }
}

TEST(LoadValidity, WithoutALoadThereIsNone) {
  const Samples trial;
  EXPECT_FALSE(judge_load({}, std::span(&trial, 1)));
  EXPECT_FALSE(judge_load({}, {}));
}

TEST(LoadValidity, MoreThanItCanTakeIsSaid) {
  const LoadValidity validity = judged(record_of(poisson_queue(100, 0.013, 2000, 3)));
  const LoadFinding* growth = validity.finding(LoadRule::stationary);
  ASSERT_NE(growth, nullptr);
  EXPECT_GT(growth->value, 0.1);
  EXPECT_THAT(growth->message, HasSubstr("more requests than the subject can serve"));
  // Arrivals that are meant to rise are.
  EXPECT_EQ(judged(record_of(poisson_queue(100, 0.013, 2000, 3)), {{"arrivals", "ramp:10:100:20s"}})
                .finding(LoadRule::stationary),
            nullptr);
}

TEST(LoadValidity, OneProcessOfFourThatSeemsToGrowIsNoProof) {
  std::vector<Samples> trials;
  trials.push_back(trial_with(record_of(poisson_queue(100, 0.013, 2000, 3))));
  for (std::uint64_t seed = 1; seed <= 3; ++seed) trials.push_back(trial_with(good_load(seed)));
  EXPECT_EQ(judge_load(server, trials)->finding(LoadRule::stationary), nullptr);
  trials.push_back(trials.front());
  trials.push_back(trials.front());
  const auto validity = judge_load(server, trials);
  ASSERT_NE(validity->finding(LoadRule::stationary), nullptr);
  EXPECT_THAT(validity->finding(LoadRule::stationary)->message, HasSubstr("so in 3 of 6 processes"));
}

TEST(LoadValidity, ARateThatIsNotKeptIsSaid) {
  LoadRecord load = good_load();
  load.completed -= 40;
  const LoadFinding* rate = judged(load).findings.empty() ? nullptr : &judged(load).findings.front();
  ASSERT_NE(rate, nullptr);
  EXPECT_THAT(judged(load).findings.front().message, HasSubstr("2 % fewer (at most 0.5 %)"));
  // The last requests may take as long as the others do.
  LoadRecord slow = good_load();
  slow.completed -= 0;
  slow.response.counts = {{LogHistogram::bucket_of(1'000'000'000), 2000}};
  slow.duration_s = slow.arrivals_s + 1;
  EXPECT_EQ(judged(slow).finding(LoadRule::rate), nullptr);
  slow.duration_s = slow.arrivals_s + 2;
  EXPECT_NE(judged(slow).finding(LoadRule::rate), nullptr);
}

TEST(LoadValidity, AGeneratorThatIsLateIsTheBottleneck) {
  LoadRecord load = good_load();
  load.late.counts = {{0, 1900}, {LogHistogram::bucket_of(2'000'000), 100}};
  const LoadValidity validity = judged(load);
  ASSERT_NE(validity.finding(LoadRule::late), nullptr);
  EXPECT_THAT(validity.finding(LoadRule::late)->message, HasSubstr("up to 2 ms late (p99)"));
  EXPECT_EQ(judged(load, {{"scenario", "offline"}}).finding(LoadRule::late), nullptr);
}

TEST(LoadValidity, EveryErrorIsCounted) {
  LoadRecord load = good_load();
  load.completed -= 3;
  load.failed = 3;
  load.errors = {{"refused", 2}, {"bad\x1b[2J", 1}};
  const LoadValidity validity = judged(load);
  ASSERT_EQ(validity.findings.size(), 1U);
  EXPECT_THAT(validity.findings[0].message, HasSubstr("3 of 2000 requests failed: refused (2), bad"));
  EXPECT_EQ(validity.findings[0].message.find('\x1b'), std::string::npos);
}

TEST(LoadValidity, AnswersThatAreNotThoseOfOneRequestAloneAreSaid) {
  LoadRecord load = good_load();
  load.checked = 8, load.mismatched = 2;
  const LoadValidity validity = judged(load);
  ASSERT_EQ(validity.findings.size(), 1U);
  EXPECT_EQ(validity.findings[0].rule, LoadRule::outputs);
  EXPECT_THAT(validity.findings[0].message, HasSubstr("2 of 8 answers that were compared"));
  load.mismatched = 0, load.largest_difference = 0.009;
  EXPECT_TRUE(judged(load).valid());
  load.largest_difference = 0.02;
  EXPECT_THAT(judged(load).finding(LoadRule::outputs)->message,
              HasSubstr("differs by 2 % of the output's largest value"));
}

TEST(LoadValidity, EachScenarioNeedsRequestsForItsPercentile) {
  const LoadRecord load = record_of(poisson_queue(100, 0.001, 300, 1));
  EXPECT_TRUE(judged(load, {{"scenario", "single-stream"}}).valid());
  EXPECT_TRUE(judged(load, {{"scenario", "offline"}}).valid());
  const LoadValidity validity = judged(load);
  ASSERT_EQ(validity.findings.size(), 1U);
  EXPECT_EQ(validity.findings[0].message, "300 requests for p99 of the response time, which needs 662");
  EXPECT_EQ(validity.findings[0].bound, 662);
}

LoadValidity with_requests(std::uint64_t requests, bool is_offline = false) {
  return {.findings = {}, .requests = requests, .is_offline = is_offline};
}

// As many as MLPerf's LoadGen asks for; of every percentile that is one of the times of requests.
TEST(LoadValidity, APercentileIsDeterminedByEnoughRequests) {
  for (const char* const name : {"response_p99", "service_p99", "lag_p99", "late_p99", "ttft_p99", "tpot_p99"}) {
    EXPECT_EQ(with_requests(661).state_of(name), LoadFigureState::too_few) << name;
    EXPECT_EQ(with_requests(661).why_no_figure(name), "needs 662 requests in each process") << name;
    EXPECT_EQ(with_requests(662).state_of(name), LoadFigureState::determined) << name;
    EXPECT_EQ(with_requests(662).why_no_figure(name), "") << name;
  }
  EXPECT_EQ(with_requests(63).state_of("response_p90"), LoadFigureState::too_few);
  EXPECT_EQ(with_requests(64).state_of("response_p90"), LoadFigureState::determined);
  EXPECT_EQ(with_requests(6635).state_of("response_p99_9"), LoadFigureState::too_few);
  EXPECT_EQ(with_requests(6636).state_of("response_p99_9"), LoadFigureState::determined);
}

TEST(LoadValidity, WhatIsNoPercentileNeedsNoNumberOfRequests) {
  for (const char* const name : {"achieved_rate", "max_rate", "response_mean", "response_max", "in_flight_mean",
                                 "failed_share", "output_tokens_rate", "no figure of a load", ""}) {
    EXPECT_EQ(with_requests(1).state_of(name), LoadFigureState::determined) << name;
  }
}

// What counts from the arrival is about the length of the run, however many requests there were.
TEST(LoadValidity, OfRequestsThatCameAtOnceNoTimeCountsFromTheArrival) {
  for (const char* const name : {"response_p50", "response_mean", "response_max", "lag_p50", "lag_p99", "ttft_p50"}) {
    for (const std::uint64_t requests : {10U, 100'000U}) {
      EXPECT_EQ(with_requests(requests, true).state_of(name), LoadFigureState::at_once) << name;
      EXPECT_EQ(with_requests(requests, true).why_no_figure(name), "all requests came at once") << name;
    }
    EXPECT_EQ(with_requests(100'000).state_of(name), LoadFigureState::determined) << name;
  }
  for (const char* const name : {"service_p50", "achieved_rate", "tpot_p50", "itl_p99"})
    EXPECT_EQ(with_requests(100'000, true).state_of(name), LoadFigureState::determined) << name;
  EXPECT_EQ(with_requests(10, true).state_of("service_p99"), LoadFigureState::too_few);
}

TEST(LoadValidity, KnowsWhetherAllCameAtOnceByTheScenario) {
  EXPECT_TRUE(judged(good_load(), {{"scenario", "offline"}}).is_offline);
  EXPECT_FALSE(judged(good_load()).is_offline);
  EXPECT_FALSE(judged(good_load(), {}).is_offline);
}

TEST(LoadValidity, WhatWasGivenUpIsSaid) {
  LoadRecord load = good_load();
  load.gave_up = true;
  load.completed -= 500;
  const LoadValidity validity = judged(load);
  ASSERT_NE(validity.finding(LoadRule::gave_up), nullptr);
  EXPECT_EQ(validity.finding(LoadRule::gave_up)->value, 500);
}

TEST(LoadValidity, AClosedLoopHasNoRateToKeep) {
  LoadRecord load = good_load();
  load.open_loop = false;
  load.duration_s = 2 * load.arrivals_s;
  EXPECT_TRUE(judged(load, {{"concurrency", "4"}}).valid());
}

TEST(LoadValidity, BecomesDiagnosticsWithTheirRemedies) {
  LoadRecord load = good_load();
  load.failed = 3;
  const auto diagnostics = load_diagnostics(judged(load), "a@b");
  ASSERT_EQ(diagnostics.size(), 1U);
  EXPECT_EQ(diagnostics[0].id, DiagnosticId::load_errors);
  EXPECT_EQ(diagnostics[0].about, "a@b");
  EXPECT_TRUE(load_diagnostics(std::nullopt, "a@b").empty());
  for (const LoadRule rule :
       {LoadRule::rate, LoadRule::late, LoadRule::errors, LoadRule::enough, LoadRule::stationary, LoadRule::gave_up}) {
    EXPECT_EQ(info(diagnostic_of(rule)).severity, Severity::error);
  }
}

}  // namespace
}  // namespace infermeter::load_validity_test
