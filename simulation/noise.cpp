#include "simulation/noise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <string_view>
#include <utility>

#include "infermeter/stats/summary/moments.hpp"
#include "infermeter/stats/summary/quantile.hpp"

namespace infermeter::study {
namespace {

constexpr std::size_t stretch = 20;  // processes

// First-order autoregressive, started in its stationary distribution.
Times autocorrelated(SplitMix& random, double level) {
  constexpr double keep = iteration_autocorrelation;
  const double fresh = std::sqrt(1 - keep * keep);
  Times times;
  double state = random.normal();
  for (int i = 0; i < iterations_per_process; ++i) {
    times.push_back(level + iteration_deviation * state);
    state = keep * state + fresh * random.normal();
  }
  return times;
}

Family synthetic(std::string name, std::string description, const std::function<double(SplitMix&)>& one) {
  Family family{.name = std::move(name), .description = std::move(description), .levels = {}, .iterations = {}};
  family.levels = [one](SplitMix& random, int processes) {
    Times levels(static_cast<std::size_t>(processes));
    for (double& level : levels) level = one(random);
    return levels;
  };
  family.iterations = [one](SplitMix& random, int processes) {
    std::vector<Times> all;
    for (int i = 0; i < processes; ++i) all.push_back(autocorrelated(random, one(random)));
    return all;
  };
  return family;
}

std::size_t below(SplitMix& random, std::size_t bound) {
  return static_cast<std::size_t>(random.uniform() * static_cast<double>(bound));
}

// Which processes of a recording of `size` follow each other in a run.
std::vector<std::size_t> stretches(SplitMix& random, std::size_t size, int processes) {
  std::vector<std::size_t> chosen;
  std::size_t next = 0;
  while (chosen.size() < static_cast<std::size_t>(processes)) {
    next = chosen.size() % stretch == 0 ? below(random, size) : (next + 1) % size;
    chosen.push_back(next);
  }
  return chosen;
}

template <typename T>
auto drawn_from(std::vector<T> recording) {
  return [recording = std::move(recording)](SplitMix& random, int processes) {
    std::vector<T> drawn;
    for (const std::size_t i : stretches(random, recording.size(), processes)) drawn.push_back(recording[i]);
    return drawn;
  };
}

Result<Times> logs_of_line(std::string_view line, const std::string& file) {
  Times logs;
  while (!line.empty()) {
    const std::string_view field = line.substr(0, line.find(','));
    double time = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), time);
    if (error != std::errc{} || end != field.data() + field.size() || !(time > 0)) {
      return io_error(fmt::format("'{}' has '{}' where a duration is expected", file, field));
    }
    logs.push_back(std::log(time));
    line.remove_prefix(std::min(line.size(), field.size() + 1));
  }
  return logs;
}

struct Recording {
  std::string command;  // between the back quotes of its first line
  std::vector<Times> processes;
};

Result<Recording> read_recording(const std::string& file) {
  std::ifstream in(file);
  Recording recording;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) {
      const std::size_t open = line.find('`');
      if (open != std::string::npos) recording.command = line.substr(open, line.rfind('`') + 1 - open);
      continue;
    }
    INFERMETER_TRY(auto logs, logs_of_line(line, file));
    recording.processes.push_back(std::move(logs));
  }
  if (recording.processes.size() < stretch) return io_error(fmt::format("'{}' is not a recording of processes", file));
  return recording;
}

// How much neighbours differ.
double pair_deviation(const Times& levels) {
  Times differences;
  for (std::size_t i = 1; i < levels.size(); i += 2) differences.push_back(levels[i] - levels[i - 1]);
  return std::sqrt(moments_of(differences).variance);
}

}  // namespace

double level_of(const Times& process) {
  Times durations(process.size());
  std::ranges::transform(process, durations.begin(), [](double log) { return std::exp(log); });
  std::ranges::sort(durations);
  return std::log(quantile(durations, 0.5));
}

Family normal_family(double deviation) {
  return synthetic("normal", fmt::format("normal, standard deviation {:g} %", 100 * deviation),
                   [deviation](SplitMix& random) { return deviation * random.normal(); });
}

Family t3_family(double deviation) {
  return synthetic("t3",
                   fmt::format("Student's t with 3 degrees of freedom, standard deviation {:g} %", 100 * deviation),
                   [deviation](SplitMix& random) { return deviation / std::sqrt(3) * random.t3(); });
}

Family bimodal_family(double slower, double deviation) {
  return synthetic("bimodal",
                   fmt::format("normal, standard deviation {:g} %, and 15 % of the processes slower by {:g} %",
                               100 * deviation, 100 * slower),
                   [slower, deviation](SplitMix& random) {
                     const bool slow = random.uniform() < 0.15;
                     return (slow ? std::log1p(slower) : 0) + deviation * random.normal();
                   });
}

Result<Family> replay(const std::string& name, const std::string& file) {
  INFERMETER_TRY(Recording recording, read_recording(file));
  Times levels;
  for (const Times& process : recording.processes) levels.push_back(level_of(process));
  Family family{.name = name, .description = {}, .recorded = true, .levels = {}, .iterations = {}};
  family.description = fmt::format(
      "{} processes of one program recorded with other work on the machine ({}), drawn in stretches of {}; standard "
      "deviation of a process {:.1f} %, of a pair of neighbours {:.1f} %",
      levels.size(), recording.command, stretch, 100 * std::sqrt(moments_of(levels).variance),
      100 * pair_deviation(levels));
  family.levels = drawn_from(std::move(levels));
  family.iterations = drawn_from(std::move(recording.processes));
  return family;
}

Result<std::vector<Family>> five_families(const std::string& folder) {
  std::vector<Family> families = {normal_family(), t3_family(), bimodal_family()};
  for (const char* name : {"resnet50", "mlp"}) {
    INFERMETER_TRY(Family family, replay(fmt::format("replay of {}", name), fmt::format("{}/{}.csv", folder, name)));
    families.push_back(std::move(family));
  }
  return families;
}

}  // namespace infermeter::study
