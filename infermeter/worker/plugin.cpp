#include "infermeter/worker/plugin.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <system_error>

#include "infermeter/text/nearest.hpp"
#include "infermeter/trial/subject.hpp"

namespace infermeter {
namespace {

std::optional<std::string> name_of(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  for (const std::string_view ending : plugin_endings) {
    const std::size_t around = plugin_prefix.size() + ending.size();
    if (name.size() > around && name.starts_with(plugin_prefix) && name.ends_with(ending))
      return name.substr(plugin_prefix.size(), name.size() - around);
  }
  return std::nullopt;
}

}  // namespace

bool is_python(const std::filesystem::path& plugin) { return plugin.extension() == ".py"; }

std::vector<std::string> plugin_names(const std::vector<std::filesystem::path>& folders) {
  std::set<std::string> names;
  for (const auto& folder : folders) {
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
      if (const auto name = name_of(entry->path())) names.insert(*name);
  }
  return {names.begin(), names.end()};
}

Result<std::filesystem::path> find_plugin(const std::vector<std::filesystem::path>& folders, const std::string& name) {
  for (const auto& folder : folders) {
    for (const std::string_view ending : plugin_endings) {
      std::error_code error;
      std::filesystem::path file = folder / fmt::format("{}{}{}", plugin_prefix, name, ending);
      if (name.find('/') == std::string::npos && std::filesystem::exists(file, error)) return file;
    }
  }
  const std::vector<std::string> names = plugin_names(folders);
  if (names.empty())
    return usage_error(
        fmt::format("back end '{}' is not there, nor is any other; name the folder of the plug-ins with "
                    "--backend-path",
                    name));
  const auto nearest = nearest_name(name, names);
  return usage_error(fmt::format("unknown back end '{}'{}; there are {}", name,
                                 nearest ? fmt::format(" (did you mean '{}'?)", *nearest) : std::string(),
                                 fmt::join(names, ", ")));
}

Result<const imb_backend*> load_plugin(const std::filesystem::path& file) {
  const std::string name = name_of(file).value_or(file.filename().string());
  const auto refuse = [&](std::string_view why) {
    return usage_error(fmt::format("back end '{}' cannot be used: {} ({})", name, why, file.string()));
  };
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return refuse(dlerror());
  const auto version = reinterpret_cast<imb_abi_version_fn>(dlsym(library, "infermeter_backend_abi_version"));
  const auto table = reinterpret_cast<imb_backend_fn>(dlsym(library, "infermeter_backend"));
  if (version == nullptr || table == nullptr) return refuse("it does not export the two symbols of a back end");
  if (version() != IMB_ABI_VERSION)
    return refuse(
        fmt::format("it was built for ABI version {}, this infermeter has {}: rebuild it", version(), IMB_ABI_VERSION));
  const imb_backend* const backend = table();
  INFERMETER_TRY_DONE(check_backend(backend, name));
  return backend;
}

}  // namespace infermeter
