#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>

#include "infermeter/worker/convert.hpp"
#include "infermeter/worker/worker_answer.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

constexpr double timeout_s = 300;

// FNV-1a.
void mix_in(std::uint64_t& hash, const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  for (std::istreambuf_iterator<char> byte(stream), end; byte != end; ++byte)
    hash = (hash ^ static_cast<unsigned char>(*byte)) * 0x100'0000'01b3U;
}

// Of the code that makes the file: what another version of it made is not taken.
std::uint64_t hash_of_code(const fs::path& script, const fs::path& package) {
  std::vector<fs::path> files = {script};
  std::error_code error;
  for (fs::directory_iterator entry(package / "infermeter/zoo", error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().extension() == ".py") files.push_back(entry->path());
  std::sort(files.begin() + 1, files.end());
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325U;
  for (const fs::path& file : files) mix_in(hash, file);
  return hash;
}

fs::path find_script(const Launcher& launcher, const std::string& backend) {
  for (const fs::path& folder : launcher.plugin_folders) {
    std::error_code error;
    fs::path file = folder / fmt::format("infermeter_convert_{}.py", backend);
    if (backend.find('/') == std::string::npos && fs::exists(file, error)) return file;
  }
  return {};
}

WorkerJob job_of(const Conversion& wanted, const fs::path& script, const fs::path& file) {
  WorkerJob job;
  job.plugin = script.string();
  job.trial.subject.backend = wanted.backend;
  job.trial.subject.batch_size = wanted.batch_size;
  job.trial.subject.device = "cpu";
  job.trial.model_path = wanted.onnx_file.string();
  job.trial.zoo_name = wanted.zoo_name;
  job.convert_to = file.string();
  return job;
}

Result<Done> run_script(const Launcher& launcher, const WorkerJob& job) {
  INFERMETER_TRY(const BackendInfo answer, ask_worker(launcher, job, timeout_s));
  if (!answer.error.empty()) return usage_error(answer.error);
  return Done{};
}

}  // namespace

Result<std::optional<fs::path>> converted_model(const Launcher& launcher, const Conversion& wanted,
                                                const fs::path& cache) {
  const fs::path script = find_script(launcher, wanted.backend);
  if (script.empty()) return std::optional<fs::path>();
  const fs::path file = fs::absolute(cache) / "zoo" /
                        fmt::format("{}-b{}-{:016x}.{}", wanted.onnx_file.stem().string(), wanted.batch_size,
                                    hash_of_code(script, launcher.python_package), wanted.backend);
  std::error_code error;
  if (fs::is_regular_file(file, error)) return std::optional(file);
  const fs::path folder = file.parent_path() / fmt::format(".making-{}", getpid());
  fs::create_directories(folder, error);
  const Result<Done> made = run_script(launcher, job_of(wanted, fs::absolute(script), folder / file.filename()));
  if (made.ok()) fs::rename(folder / file.filename(), file, error);
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  if (made.ok() && !error) return std::optional(file);
  return Error{made.ok() ? ErrorKind::io : made.error().kind,
               fmt::format("{} could not be made into a file for {}: {}", wanted.zoo_name, wanted.backend,
                           made.ok() ? error.message() : made.error().message)};
}

}  // namespace infermeter
