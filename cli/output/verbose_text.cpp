#include "cli/output/verbose_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "cli/output/dry_run.hpp"
#include "infermeter/report/report.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

std::string path_text(const fs::path& path) { return path.empty() ? "none" : printable(path.string(), 1000); }

std::string list_of(const std::vector<fs::path>& folders) {
  std::vector<std::string> texts;
  for (const fs::path& folder : folders) texts.push_back(path_text(folder));
  return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
}

std::string pairs_text(const Pairs& pairs) {
  std::vector<std::string> texts;
  for (const auto& [key, value] : pairs) texts.push_back(printable(fmt::format("{}={}", key, value), 200));
  return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, " "));
}

std::string subject_line(const Subject& subject) {
  std::string line = fmt::format(
      "subject {}: model {}, back end {}, batch size {}, {}, device {}, threads {}, options {}",
      printable(subject.label, 200), printable(subject.model, 1000), printable(subject.backend, 60), subject.batch_size,
      to_string(subject.dtype), printable(subject.device, 60),
      subject.threads == 0 ? "as many as processors" : std::to_string(subject.threads), pairs_text(subject.options));
  if (!subject.batch_axes.empty()) line += ", batch axes " + pairs_text(subject.batch_axes);
  if (!subject.dimensions.empty()) line += ", dimensions " + pairs_text(subject.dimensions);
  if (!subject.environment.empty()) line += ", environment " + pairs_text(subject.environment);
  if (!subject.backend_library.empty()) line += ", library " + path_text(subject.backend_library);
  return line + '\n';
}

double sum_of(const std::vector<double>& begin_s, const std::vector<double>& end_s) {
  return std::transform_reduce(end_s.begin(), end_s.end(), begin_s.begin(), 0.0, std::plus<>(), std::minus<>());
}

}  // namespace

std::string setting_lines(const Plan& plan, const Launcher& launcher, const fs::path& cache) {
  std::string text = fmt::format("worker: {}\n", path_text(launcher.worker));
  text += fmt::format("back ends in: {}\n", list_of(launcher.plugin_folders));
  text += fmt::format("Python: {}, package in {}\n", path_text(launcher.python), path_text(launcher.python_package));
  text += fmt::format("models of the zoo in: {}\n", path_text(cache));
  text += describe_settings(plan);
  for (const Subject& subject : plan.subjects) text += subject_line(subject);
  return text;
}

std::string phase_lines(const Samples& trial) {
  std::vector<std::string> phases;
  const auto add = [&](const char* what, std::optional<double> seconds) {
    if (seconds) phases.push_back(fmt::format("{} {}", what, format_time(*seconds)));
  };
  const auto add_loop = [&](const char* what, std::int64_t count, const std::vector<double>& begin_s,
                            const std::vector<double>& end_s) {
    if (begin_s.empty() || begin_s.size() != end_s.size()) return;
    const bool all = count == std::ssize(begin_s);
    phases.push_back(fmt::format("{} ({}) {}{}", what, count, all ? "" : fmt::format("the first {}: ", begin_s.size()),
                                 format_time(sum_of(begin_s, end_s))));
  };
  add("opening the runtime", trial.open_s);
  add("loading", trial.load_s);
  add("compiling", trial.compile_s);
  add("first inference", trial.first_inference_s);
  add_loop("warm-up", trial.warmups(), trial.warmup_begin_s, trial.warmup_end_s);
  add_loop("timed", std::ssize(trial.begin_s), trial.begin_s, trial.end_s);
  add("all of it", trial.wall_s);
  std::string text = fmt::format("  phases: {}\n", fmt::join(phases, ", "));
  if (!trial.executed.empty()) text += fmt::format("  executed: {}\n", pairs_text(trial.executed));
  return text;
}

std::string file_lines(const RunRecord& record) {
  std::string text;
  std::set<std::string> reported;
  for (const ModelFacts& model : record.models) {
    if (model.path.empty() || model.sha256.empty() || !reported.insert(model.path).second) continue;
    text += fmt::format("model {}: {}, {}, SHA-256 {}\n", printable(model.name), path_text(model.path),
                        format_bytes(static_cast<double>(model.size_bytes)), printable(model.sha256));
  }
  return text;
}

}  // namespace infermeter
