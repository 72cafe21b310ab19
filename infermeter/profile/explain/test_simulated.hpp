// Simulated profile trials of two subjects, for the tests of this folder: seeded, the same on every machine.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "infermeter/profile/explain/explain.hpp"
#include "infermeter/profile/test_profiles.hpp"
#include "infermeter/stats/distributions/normal.hpp"

namespace infermeter {

class Normal {
 public:
  explicit Normal(std::uint64_t seed) : engine_(seed) {}
  // std::normal_distribution differs between standard libraries.
  double operator()() { return normal_tail_quantile((static_cast<double>(engine_() >> 11) + 0.5) * 0x1p-53); }

 private:
  std::mt19937_64 engine_;
};

// Standard deviations of logarithms.
struct Noise {
  double process = 0.015;             // of all operators of a process
  double operator_in_process = 0.01;  // of one operator in a process: where its data came to lie
  double iteration = 0.02;            // of all operators in an iteration; only upwards, as disturbance is
  double event = 0.02;
};

struct SimulatedOperator {
  ProfiledOperator op;
  double seconds = 0;
};

// One side: its operators, and what came of running them.
struct SimulatedSide {
  std::vector<SimulatedOperator> operators;
  double rest_s = 0.0003;
  std::vector<std::pair<std::string, std::string>> executed{};

  std::deque<Samples> samples{};
  std::deque<OperatorProfile> profiles{};
  std::deque<Samples> timed_samples{};

  [[nodiscard]] std::vector<ProfileTrial> trials() const {
    std::vector<ProfileTrial> all;
    for (std::size_t i = 0; i < samples.size(); ++i) all.push_back({&samples[i], &profiles[i]});
    return all;
  }
  [[nodiscard]] std::vector<const Samples*> timed() const {
    std::vector<const Samples*> all;
    for (const Samples& one : timed_samples) all.push_back(&one);
    return all;
  }

  void run_process(int process, int iterations, const Noise& noise, Normal& normal) {
    OperatorProfile& profile = profiles.emplace_back();
    std::vector<double> factors;
    const double of_process = std::exp(noise.process * normal());
    for (const SimulatedOperator& one : operators) {
      profile.operators.push_back(one.op);
      factors.push_back(of_process * std::exp(noise.operator_in_process * normal()));
    }
    std::vector<double> walls;
    for (int i = 0; i < iterations; ++i) {
      const double of_iteration = std::exp(noise.iteration * std::abs(normal()));
      double now = rest_s / 2;
      for (std::size_t op = 0; op < operators.size(); ++op) {
        const double seconds = operators[op].seconds * factors[op] * of_iteration * std::exp(noise.event * normal());
        add_event(profile, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(op), now, seconds);
        now += seconds;
      }
      walls.push_back(now + rest_s / 2 * std::exp(noise.event * normal()));
    }
    samples.push_back(samples_of(process, walls));
    samples.back().executed = executed;
  }

  // Timed trials: the same walls, from other processes.
  void run_timed(int processes, const Noise& noise, Normal& normal, double extra_s = 0) {
    double wall = rest_s + extra_s;
    for (const SimulatedOperator& one : operators) wall += one.seconds;
    for (int process = 0; process < processes; ++process) {
      const double of_process = std::exp(noise.process * normal());
      std::vector<double> walls;
      for (int i = 0; i < 20; ++i) walls.push_back(wall * of_process * std::exp(noise.iteration * std::abs(normal())));
      timed_samples.push_back(samples_of(process, walls));
      timed_samples.back().purpose = Purpose::timed;
    }
  }
};

// Like a ResNet's: `count` convolutions whose times differ by a factor of up to about 5, `total_s` together.
inline std::vector<SimulatedOperator> convolutions(std::size_t count, double total_s) {
  std::vector<SimulatedOperator> operators(count);
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    operators[i].op.name = "conv" + std::to_string(i);
    operators[i].op.kind = "Conv";
    operators[i].op.nodes = {"conv" + std::to_string(i)};
    operators[i].seconds = 1 + static_cast<double>(i * 7 % count) * 4 / static_cast<double>(count);
    sum += operators[i].seconds;
  }
  for (SimulatedOperator& one : operators) one.seconds *= total_s / sum;
  return operators;
}

// Groups of operators that have nodes of the same name; of those without nodes by kind.
inline std::vector<CommonGroup> groups_by_name(const std::vector<SimulatedOperator>& a,
                                               const std::vector<SimulatedOperator>& b) {
  std::vector<CommonGroup> groups;
  const auto group_of = [&](const ProfiledOperator& op) -> CommonGroup& {
    for (CommonGroup& group : groups) {
      if (op.nodes.empty() ? group.is_helper && group.kind == op.kind : group.nodes == op.nodes) return group;
    }
    groups.push_back({.nodes = op.nodes, .kind = op.kind, .in_a = {}, .in_b = {}, .is_helper = op.nodes.empty()});
    return groups.back();
  };
  for (std::size_t i = 0; i < a.size(); ++i) group_of(a[i].op).in_a.push_back(i);
  for (std::size_t i = 0; i < b.size(); ++i) group_of(b[i].op).in_b.push_back(i);
  return groups;
}

}  // namespace infermeter
