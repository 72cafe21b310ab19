// Noise families: what processes of one unchanged program take, as far as they differ.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/stats/test_noise.hpp"

namespace infermeter::study {

using Times = std::vector<double>;  // logarithms of durations

struct Family {
  std::string name;
  std::string description;
  bool recorded = false;
  // Of so many processes in the order in which they run: the logarithm of each one's median …
  std::function<Times(SplitMix&, int)> levels;
  // … and the logarithms of its iterations.
  std::function<std::vector<Times>(SplitMix&, int)> iterations;
};

// 20 iterations of a process vary by 2 % around its level, each taking over 0.3 of the one before.
inline constexpr int iterations_per_process = 20;
inline constexpr double iteration_deviation = 0.02;
inline constexpr double iteration_autocorrelation = 0.3;

// Standard deviation of a process; a pair's difference has √2 of it.
[[nodiscard]] Family normal_family(double deviation = 0.01);
[[nodiscard]] Family t3_family(double deviation = 0.01);
// Normal, and every process with probability 0.15 slower by `slower`.
[[nodiscard]] Family bimodal_family(double slower = 0.04, double deviation = 0.005);
// Processes as they were recorded: stretches of 20 that follow each other, from random places of the recording closed
// to a ring (Politis & Romano 1992), so that what is near in time stays so.
[[nodiscard]] Result<Family> replay(const std::string& name, const std::string& file);

// The five of the study, replays from the files in `folder`.
[[nodiscard]] Result<std::vector<Family>> five_families(const std::string& folder);

// The logarithm of the median of the durations, as the product takes it of a process.
[[nodiscard]] double level_of(const Times& process);

}  // namespace infermeter::study
