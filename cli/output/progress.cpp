#include "cli/output/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/output/verbose_text.hpp"
#include "infermeter/report/load/load_now_text.hpp"
#include "infermeter/report/numbers/effect_text.hpp"
#include "infermeter/report/report.hpp"
#include "infermeter/stats/summary/summary.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/terminal.hpp"

namespace infermeter {
namespace {

constexpr std::string_view kEraseLine = "\r\x1b[K";

std::string place(const Progress& progress, std::size_t label_width = 100) {
  const std::string total = std::to_string(progress.trials);
  if (progress.purpose == Purpose::pilot) {
    // Pilots that are too short to see a steady state are followed by others.
    return fmt::format("[pilot {}/{}] {}", progress.trial + 1, std::max(progress.trials, progress.trial + 1),
                       progress.subject == nullptr ? "" : printable(progress.subject->label, label_width));
  }
  if (progress.purpose != Purpose::timed) {
    return fmt::format("[{}] {}", to_string(progress.purpose),
                       progress.subject == nullptr ? "" : printable(progress.subject->label, label_width));
  }
  return fmt::format("[{:>{}}/{}] {}", progress.trial + 1, total.size(), total,
                     progress.subject == nullptr ? "" : printable(progress.subject->label, label_width));
}

std::string_view words(Phase phase) {
  switch (phase) {
    case Phase::start: return "starting";
    case Phase::load: return "loading";
    case Phase::compile: return "compiling";
    case Phase::inputs: return "making inputs";
    case Phase::first_inference: return "first inference";
    case Phase::warmup: return "warming up";
    case Phase::timed: return "measuring";
    case Phase::outputs: return "taking outputs";
    case Phase::done: return "done";
  }
  return "";
}

std::string took(const Samples& trial) {
  return trial.wall_s < 10 ? format_time(trial.wall_s) : format_duration(trial.wall_s);
}

// "p50 11.2 ms, ", or the mean where there are too few iterations for a median.
std::string centre(const Samples& trial) {
  const Summary summary = summarise(std::span(&trial, 1), {});
  for (const auto& [name, label] : {std::pair{"latency_p50", "p50"}, std::pair{"latency_mean", "mean"}}) {
    const Metric* metric = summary.metric(name);
    if (metric != nullptr && metric->estimate.value) {
      return fmt::format("{} {}, ", label, format_time(*metric->estimate.value));
    }
  }
  return "";
}

// Of a comparison: it may end at any look.
std::string left(const Progress& progress) {
  constexpr double soon = 0.05;  // what would be written as "0.0 s"
  return progress.seconds_left.value_or(0) >= soon
             ? fmt::format(", at most {} left", format_duration(*progress.seconds_left))
             : "";
}

}  // namespace

std::string live_line(const Progress& progress, std::size_t width) {
  if (progress.load && progress.phase == Phase::timed) {
    return load_now_text(place(progress, width / 2) + "  ", *progress.load, progress.seconds_left, width);
  }
  std::string line = fmt::format("{}  {}", place(progress), words(progress.phase));
  if (progress.iterations_done > 0) line += fmt::format(", {} iterations", progress.iterations_done);
  if (progress.seconds_left) {
    line += fmt::format(", {} left{}", format_duration(*progress.seconds_left),
                        progress.purpose == Purpose::pilot ? " of the pilots" : "");
  }
  return fitted(line, width);
}

std::string finished_line(const Progress& progress) {
  const Samples& trial = *progress.finished;
  std::string line = place(progress) + "  ";
  const bool timed = trial.iterations() > 0;
  if (trial.end != TrialEnd::ok) {
    line +=
        fmt::format("{}: {}", to_string(trial.end), trial.message.empty() ? "no message" : printable(trial.message));
    if (timed) line += "; ";
  }
  if (timed) {
    line += fmt::format("{}{} iterations in {}", centre(trial), trial.iterations(), took(trial));
  } else if (trial.end == TrialEnd::ok) {
    line += fmt::format("done in {}", took(trial));
  }
  return line;
}

void ProgressDisplay::erase() {
  if (!live_) return;
  world_.err << kEraseLine << std::flush;
  live_ = false;
}

// What is said besides trials: what pilots showed, what pairs say.
std::string ProgressDisplay::reported(const Progress& progress) const {
  if (!progress.note.empty()) return "  " + printable(progress.note);
  if (progress.comparison == nullptr) return "";
  return fmt::format("  pair {}: {}{}", progress.comparison->pairs, comparison_progress(labels_, *progress.comparison),
                     left(progress));
}

// A phase begins: "[1/4] mlp@onnxruntime  loading".
void ProgressDisplay::enter(const Progress& progress) {
  if (progress.phase == Phase::done) return;  // the line of the whole trial comes next
  const std::string line = fmt::format("{}  {}", place(progress), words(progress.phase));
  if (line != place_) world_.err << line << std::endl;  // NOLINT(performance-avoid-endl): seen at once
  place_ = line;
}

void ProgressDisplay::show(const Progress& progress) {
  if (verbosity_ == Verbosity::quiet) return;
  const std::string line = reported(progress);
  if (!line.empty()) {
    erase();
    world_.err << line << std::endl;  // NOLINT(performance-avoid-endl): seen at once
  } else if (progress.finished != nullptr) {
    erase();
    world_.err << finished_line(progress) << std::endl;  // NOLINT(performance-avoid-endl): seen at once
    if (verbosity_ == Verbosity::verbose) world_.err << phase_lines(*progress.finished) << std::flush;
    place_.clear();
  } else if (verbosity_ == Verbosity::verbose) {
    enter(progress);
  } else if (world_.err_is_terminal) {
    world_.err << kEraseLine << live_line(progress, world_.err_width() - 1) << std::flush;
    live_ = true;
  }
}

}  // namespace infermeter
