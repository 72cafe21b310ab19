#include "infermeter/worker/make_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "infermeter/plan/subject.hpp"
#include "infermeter/worker/wall/private_folder.hpp"
#include "infermeter/worker/worker_answer.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

void add_python_files(std::vector<fs::path>& files, const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".py") found.push_back(entry->path());
  std::sort(found.begin(), found.end());
  files.insert(files.end(), found.begin(), found.end());
}

WorkerJob job_of(const ModelMaking& making, const fs::path& file, Sandbox sandbox) {
  WorkerJob job;
  job.plugin = fs::absolute(making.maker).string();
  job.trial.subject.device = "cpu";
  job.trial.subject.options = making.options;
  // MODULE:FACTORY is no path.
  const bool is_path = making.model.has_parent_path() || !is_factory(making.model.string());
  job.trial.model_path = is_path ? fs::absolute(making.model).string() : making.model.string();
  std::error_code error;
  job.trial.folder = fs::current_path(error).string();
  job.trial.zoo_name = making.name;
  job.sandbox = sandbox;
  job.make.file = file.string();
  job.make.data = making.data;
  return job;
}

Result<Done> ask_maker(const Launcher& launcher, const WorkerJob& job, const MakingLimits& limits) {
  INFERMETER_TRY(const BackendInfo answer, ask_worker(launcher, job,
                                                      {.timeout_s = limits.timeout_s,
                                                       .memory_limit_bytes = limits.memory_limit_bytes,
                                                       .interrupt = limits.interrupt}));
  if (!answer.error.empty()) return model_error(answer.error);
  std::error_code error;
  if (fs::is_regular_file(job.make.file, error)) return Done{};
  return worker_error("it ended well but made no file");
}

}  // namespace

fs::path find_maker(const Launcher& launcher, std::string_view name) {
  if (name.empty() || name.find('/') != std::string_view::npos) return {};
  std::error_code error;
  for (const fs::path& folder : launcher.plugin_folders) {
    fs::path file = folder / fmt::format("infermeter_make_{}.py", name);
    if (fs::exists(file, error)) return file;
  }
  fs::path file = launcher.python_package / "infermeter/making" / fmt::format("{}.py", name);
  return fs::exists(file, error) ? file : fs::path();
}

std::vector<fs::path> code_of_maker(const Launcher& launcher, const fs::path& maker) {
  std::vector<fs::path> files = {maker};
  for (const char* const folder : {"infermeter/making", "infermeter/zoo"})
    add_python_files(files, launcher.python_package / folder);
  return files;
}

Result<Done> make_model(const Launcher& launcher, const ModelMaking& making, const MakingLimits& limits) {
  const fs::path folder = fs::absolute(making.file).parent_path();
  const fs::path parent = folder.parent_path();
  const auto cannot_write = [&](const std::string& why) {
    return io_error(fmt::format("cannot write to the cache folder '{}': {}; name another one with INFERMETER_CACHE",
                                parent.string(), why));
  };
  std::error_code error;
  fs::create_directories(parent, error);
  if (error) return cannot_write(error.message());
  const auto workplace = PrivateFolder::create_in(parent);
  if (!workplace.ok()) return cannot_write(workplace.error().message);
  const fs::path part = workplace.value().path() / folder.filename();
  fs::create_directory(part, error);
  if (error) return cannot_write(error.message());
  INFERMETER_TRY_DONE(ask_maker(launcher, job_of(making, part / making.file.filename(), limits.sandbox), limits));
  fs::rename(part, folder, error);
  std::error_code ignored;
  if (error && !fs::is_regular_file(making.file, ignored)) return io_error(error.message());
  return Done{};
}

}  // namespace infermeter
