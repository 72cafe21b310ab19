#include "infermeter/fleet/slurm.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>
#include <utility>

#include "infermeter/text/quoted.hpp"
#include "infermeter/worker/ask_program.hpp"

namespace infermeter {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

// "sbatch: error: Batch job submission failed: Invalid partition name specified", less what stands before each of them.
std::string words_of(const std::string& text) {
  std::string words;
  for (std::string line : lines_of(text)) {
    for (const std::string_view before : {"sbatch: ", "squeue: ", "scancel: ", "error: "})
      if (line.starts_with(before)) line.erase(0, before.size());
    if (!words.empty()) words += "; ";
    words += line;
  }
  return words.empty() ? "it says nothing" : printable(words, 500);
}

bool is_job_number(std::string_view text) {
  return !text.empty() && text.size() < 20 && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Result<Done> check_slurm() {
  if (has_program("sbatch") && has_program("squeue") && has_program("scancel")) return Done{};
  return usage_error(
      "--on slurm needs sbatch, squeue and scancel, and they are in no folder of PATH here; --write-job FILE writes "
      "the "
      "job, to be submitted where Slurm is");
}

Result<std::string> submit(const std::filesystem::path& script, const std::vector<int>& tasks,
                           const std::atomic<int>* interrupt) {
  INFERMETER_TRY(
      const ProgramAnswer answer,
      ask_program("sbatch", {"--parsable", fmt::format("--array={}", fmt::join(tasks, ",")), script.string()},
                  interrupt));
  if (answer.exit_code != 0) {
    return usage_error(
        fmt::format("Slurm refuses the job: {} (--partition, --constraint, --time, --sbatch)", words_of(answer.text)));
  }
  // "17", or "17;cluster", after warnings.
  for (const std::string& line : lines_of(answer.text)) {
    const std::string number = line.substr(0, line.find(';'));
    if (is_job_number(number)) return number;
  }
  return internal_error(fmt::format("sbatch does not say the number of the job: {}", words_of(answer.text)));
}

Result<std::map<int, std::string>> tasks_in_queue(const ClusterJob& job, const std::atomic<int>* interrupt) {
  std::map<int, std::string> tasks;
  for (const std::string& id : job.ids) {
    INFERMETER_TRY(const ProgramAnswer answer,
                   ask_program("squeue", {"--noheader", "--array", "--jobs=" + id, "--format=%K %T"}, interrupt));
    if (answer.exit_code != 0) {
      if (answer.text.find("Invalid job id") != std::string::npos) continue;  // it ended long ago
      return internal_error(fmt::format("Slurm does not answer: {}", words_of(answer.text)));
    }
    for (const std::string& line : lines_of(answer.text)) {
      int task = 0;
      const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), task);
      if (error != std::errc() || task < 1 || task > job.tasks) continue;
      tasks[task] = printable(
          std::string_view(end, line.data() + line.size()).substr(end == line.data() + line.size() ? 0 : 1), 40);
    }
  }
  return tasks;
}

Result<Done> cancel(const ClusterJob& job, const std::atomic<int>* interrupt) {
  INFERMETER_TRY(const ProgramAnswer answer, ask_program("scancel", job.ids, interrupt));
  if (answer.exit_code == 0 || answer.text.find("Invalid job id") != std::string::npos) return Done{};
  return internal_error(fmt::format("scancel {} failed: {}", fmt::join(job.ids, " "), words_of(answer.text)));
}

}  // namespace infermeter
