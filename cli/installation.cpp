#include "cli/installation.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "infermeter/models/resolve.hpp"
#include "infermeter/report/report.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kFewBytes = 1'000'000'000;

// The folder itself, or the nearest one above it that is there.
fs::path existing(fs::path folder) {
  std::error_code error;
  folder = fs::absolute(folder, error);
  while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  return folder;
}

bool is_writable_folder(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder, error) && access(folder.c_str(), W_OK | X_OK) == 0;
}

void examine_backends(Installation& installation, const Launcher& launcher, const std::atomic<int>* interrupt) {
  installation.backends = probe_backends(launcher, {.interrupt = interrupt});
  for (const BackendInfo& backend : installation.backends) {
    if (backend.error.empty()) continue;
    installation.missing.push_back(
        {fmt::format("back end {}: {}", backend.name, backend.error),
         fmt::format("activate the Python environment that has its runtime (`source .venv/bin/activate`; "
                     "`scripts/setup` makes one), or name its library with --backend-library; `infermeter backends {}` "
                     "says what was found",
                     backend.name)});
  }
  if (installation.backends.empty()) {
    installation.missing.push_back({"no back end was found", "name their folder with --backend-path"});
  }
}

bool examine_results_folder(Installation& installation, const fs::path& output_dir) {
  const fs::path folder = existing(output_dir);
  if (!is_writable_folder(folder)) {
    installation.missing.push_back({fmt::format("results cannot be written: {} takes no files", folder.string()),
                                    "choose another folder with --output-dir"});
    return false;
  }
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  if (!error && space.available < kFewBytes) {
    installation.missing.push_back({fmt::format("only {} are free where results go ({})",
                                                format_bytes(static_cast<double>(space.available)), folder.string()),
                                    "free some, or choose another folder with --output-dir"});
  }
  return true;
}

void examine_cache(Installation& installation) {
  const fs::path folder = existing(default_cache());
  if (is_writable_folder(folder)) return;
  installation.missing.push_back({fmt::format("the zoo's models cannot be kept: {} takes no files", folder.string()),
                                  "set INFERMETER_CACHE to a folder that does"});
}

}  // namespace

Installation examine_installation(const fs::path& backend_path, const fs::path& output_dir,
                                  const std::atomic<int>* interrupt) {
  Installation installation;
  const auto launcher = find_launcher(backend_path);
  if (launcher) {
    examine_backends(installation, *launcher, interrupt);
  } else {
    installation.missing.push_back({launcher.error().message, "install infermeter whole, or build it (`make demo`)"});
  }
  const bool has_place = examine_results_folder(installation, output_dir);
  examine_cache(installation);
  // The fake back end measures nothing that anybody would want to know.
  const bool has_backend = std::ranges::any_of(
      installation.backends, [](const BackendInfo& b) { return b.error.empty() && b.name != "fake"; });
  if (launcher && !has_backend) {
    installation.missing.push_back(
        {"no runtime to measure with was found: only the test instrument",
         "activate the Python environment that has one (`source .venv/bin/activate`), or `pip install onnxruntime "
         "openvino` into one"});
  }
  installation.can_measure = launcher.ok() && has_place && has_backend;
  return installation;
}

}  // namespace infermeter
