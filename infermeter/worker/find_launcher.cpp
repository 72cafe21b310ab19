#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "infermeter/worker/launcher.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

void add(std::vector<fs::path>& paths, const fs::path& path) {
  std::error_code error;
  if (path.empty() || !is_there(path)) return;
  const fs::path full = fs::weakly_canonical(path, error);
  if (!error && std::find(paths.begin(), paths.end(), full) == paths.end()) paths.push_back(full);
}

fs::path from_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? fs::path() : fs::path(value);
}

// The file that this function is in: libinfermeter.so, or a program that the layers are linked into.
fs::path own_file() {
  Dl_info info{};
  std::error_code error;
  if (dladdr(reinterpret_cast<void*>(&own_file), &info) == 0 || info.dli_fname == nullptr) return {};
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path library = fs::weakly_canonical(info.dli_fname, error);
  return is_there(library) ? library : program;
}

fs::path worker_in(const fs::path& folder) {
  for (const char* const place : {"libexec/infermeter/infermeter-worker", "infermeter-worker"})
    if (is_there(folder / place)) return folder / place;
  return {};
}

// The folders from the library up to the installation's prefix, which holds the worker: what lies above may be
// anybody's, as /tmp is. With <prefix>/lib/x86_64-linux-gnu/ the prefix is the third.
std::vector<fs::path> folders_of_installation(const fs::path& file) {
  std::vector<fs::path> folders;
  constexpr std::size_t most = 3;
  for (fs::path folder = file.parent_path(); folders.size() < most && folder.has_relative_path();
       folder = folder.parent_path()) {
    folders.push_back(folder);
    if (!worker_in(folder).empty()) break;
  }
  return folders;
}

void add_site_packages(std::vector<fs::path>& paths, const fs::path& environment) {
  std::error_code error;
  if (environment.empty()) return;
  std::vector<fs::path> found;
  for (const char* const lib : {"lib", "lib64"})
    for (fs::directory_iterator entry(environment / lib, error), end; !error && entry != end; entry.increment(error))
      if (entry->path().filename().string().starts_with("python3"))
        for (const char* const packages : {"site-packages", "dist-packages"}) found.push_back(entry->path() / packages);
  std::sort(found.begin(), found.end());
  for (const fs::path& path : found) add(paths, path);
}

// Python environments that the user activated or that the installation belongs to; never the current folder's own.
std::vector<fs::path> find_environments(const std::vector<fs::path>& installation, const fs::path& worker) {
  std::vector<fs::path> environments;
  add(environments, from_environment("VIRTUAL_ENV"));
  add(environments, from_environment("CONDA_PREFIX"));
  // A build folder names the environment that it was configured with, relative to this file.
  std::ifstream named(worker.parent_path() / "environment");
  if (std::string line; std::getline(named, line)) add(environments, worker.parent_path() / line);
  // Where a wheel was installed: <environment>/lib/python3.x/site-packages/infermeter.
  for (const fs::path& folder : installation) {
    const fs::path packages = folder.parent_path();
    if (packages.filename() == "site-packages") add(environments, packages / "../../..");
  }
  return environments;
}

std::vector<fs::path> find_python_folders(const std::vector<fs::path>& environments) {
  std::vector<fs::path> folders;
  for (const fs::path& environment : environments) add_site_packages(folders, environment);
  const fs::path home = from_environment("HOME");
  if (!home.empty()) add_site_packages(folders, home / ".local");
  add_site_packages(folders, "/usr/local");
  add_site_packages(folders, "/usr");
  return folders;
}

fs::path find_worker(const std::vector<fs::path>& installation) {
  if (fs::path named = from_environment("INFERMETER_WORKER"); !named.empty()) return named;
  return installation.empty() ? fs::path() : worker_in(installation.back());
}

// A list as in $PATH.
void add_list(std::vector<fs::path>& paths, std::string_view list) {
  while (!list.empty()) {
    const std::size_t colon = std::min(list.find(':'), list.size());
    add(paths, fs::path(list.substr(0, colon)));
    list.remove_prefix(std::min(colon + 1, list.size()));
  }
}

std::vector<fs::path> find_plugin_folders(const fs::path& extra, const std::vector<fs::path>& installation) {
  std::vector<fs::path> folders;
  add(folders, extra);
  add_list(folders, from_environment("INFERMETER_BACKEND_PATH").native());
  for (const fs::path& folder : installation)
    for (const char* const place : {"infermeter/backends", "lib/infermeter/backends", "lib64/infermeter/backends"})
      add(folders, folder / place);
  return folders;
}

// Without a module of ours there: that one may be for another Python. With one: the folder that holds it.
bool has_module(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder / "infermeter", error), end; !error && entry != end; entry.increment(error))
    if (entry->path().filename().string().starts_with("_worker.")) return true;
  return false;
}

// In a build tree and an installed one a folder of its own; as a wheel installs it, among the site-packages.
fs::path find_python_package(const std::vector<fs::path>& installation) {
  for (const fs::path& folder : installation)
    for (const char* const place :
         {"python", "infermeter/python", "lib/infermeter/python", "lib64/infermeter/python", "."})
      if (has_module(folder / place)) return (folder / place).lexically_normal();
  // A wheel's prefix is the module itself.
  const fs::path prefix = installation.empty() ? fs::path() : installation.back();
  const bool is_module = prefix.filename() == "infermeter" && has_module(prefix.parent_path());
  return is_module ? prefix.parent_path() : fs::path();
}

fs::path find_python(const std::vector<fs::path>& environments) {
  if (fs::path named = from_environment("INFERMETER_PYTHON"); !named.empty()) return named;
  for (const fs::path& environment : environments)
    if (is_there(environment / "bin/python")) return environment / "bin/python";
  const fs::path system = "/usr/bin/python3";
  return is_there(system) ? system : fs::path();
}

}  // namespace

Result<Launcher> find_launcher(const fs::path& extra_plugins) {
  const std::vector<fs::path> installation = folders_of_installation(own_file());
  const fs::path worker = find_worker(installation);
  const std::vector<fs::path> environments = find_environments(installation, worker);
  Launcher launcher{.worker = worker,
                    .plugin_folders = find_plugin_folders(extra_plugins, installation),
                    .python_folders = find_python_folders(environments),
                    .python = find_python(environments),
                    .python_package = find_python_package(installation)};
  if (launcher.worker.empty())
    return usage_error("the program infermeter-worker is not found near the library; name it with INFERMETER_WORKER");
  if (access(launcher.worker.c_str(), X_OK) != 0)
    return usage_error(
        fmt::format("the worker {} cannot be executed; look at INFERMETER_WORKER", launcher.worker.string()));
  if (!extra_plugins.empty() && !is_there(extra_plugins))
    return usage_error(
        fmt::format("the folder of plug-ins '{}' is not there; look at --backend-path", extra_plugins.string()));
  return launcher;
}

}  // namespace infermeter
