// How long it takes to evaluate a comparison of two subjects, 40 pairs of 200 iterations, all looks and exploratory
// metrics included. Prints seconds for each of 50 evaluations and the differences of the first, for the peer, as one
// line of JSON.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "infermeter/infermeter.hpp"

namespace {

constexpr int pairs = 40, iterations = 200;

// Any numbers that vary will do; the same on every machine.
class Numbers {
 public:
  double next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state_ >> 11U) * 0x1p-53;
  }

 private:
  std::uint64_t state_ = 1;
};

infermeter::Samples trial_of(int subject, int process, Numbers& numbers) {
  infermeter::Samples trial;
  trial.subject = subject;
  trial.process = process;
  const double level_s = 0.01 * (1 + 0.01 * numbers.next());
  double now_s = 0;
  for (int i = 0; i < iterations; ++i) {
    const double latency_s = level_s * (1 + 0.02 * numbers.next());
    trial.begin_s.push_back(now_s);
    trial.end_s.push_back(now_s + latency_s);
    now_s += latency_s;
  }
  trial.memory.rss_peak_inference = 100'000'000;
  trial.load_s = 0.1 * (1 + numbers.next());
  return trial;
}

infermeter::RunRecord record_of_pairs() {
  infermeter::RunRecord record;
  record.plan.processes = pairs;
  record.plan.question.emplace();
  record.plan.question->margin = 0;  // no look may end it
  record.plan.subjects.resize(2);
  Numbers numbers;
  for (int pair = 0; pair < pairs; ++pair) {
    for (int subject = 0; subject < 2; ++subject) record.trials.push_back(trial_of(subject, pair, numbers));
  }
  return record;
}

}  // namespace

int main() {
  const infermeter::RunRecord record = record_of_pairs();
  std::printf("{\"seconds\": [");
  std::size_t looks = 0;
  for (int i = 0; i < 50; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const auto verdict = infermeter::judge_comparison(record, true);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    looks = verdict->looks.front().size();
    std::printf("%s%.9f", i == 0 ? "" : ", ", taken.count());
  }
  std::printf("], \"looks\": %zu, \"times_s\": [", looks);
  for (std::size_t i = 0; i < record.trials.size(); ++i) {
    std::printf("%s[", i == 0 ? "" : ", ");
    const auto latencies = infermeter::latencies_s(record.trials[i]);
    for (std::size_t k = 0; k < latencies.size(); ++k) std::printf("%s%.9g", k == 0 ? "" : ", ", latencies[k]);
    std::printf("]");
  }
  std::printf("]}\n");
}
