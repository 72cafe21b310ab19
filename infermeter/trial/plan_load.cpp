#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "infermeter/plan/server_url.hpp"
#include "infermeter/plan/subject.hpp"
#include "infermeter/text/ascii.hpp"
#include "infermeter/text/nearest.hpp"
#include "infermeter/trial/subject.hpp"

namespace infermeter {
namespace {

std::vector<std::string> list_of(const char* const* names, std::size_t count) {
  return names == nullptr ? std::vector<std::string>{} : std::vector<std::string>(names, names + count);
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string suggestion(const std::string& name, const std::vector<std::string>& candidates) {
  const auto nearest = nearest_name(name, candidates);
  return nearest ? fmt::format(" (did you mean '{}'?)", *nearest) : std::string();
}

Result<std::string> choose_device(const std::string& asked, const imb_runtime_info& info) {
  const std::vector<std::string> devices = list_of(info.devices, info.device_count);
  if (asked == "auto") {
    if (devices.empty()) return usage_error(fmt::format("{} has no device on this machine", info.name));
    return devices.front();
  }
  if (contains(devices, asked)) return asked;
  return usage_error(fmt::format("device '{}' is not there: this machine's {} has {}{}; choose one with --device",
                                 asked, info.name, fmt::join(devices, ", "),
                                 is_kind_of_device(asked) ? "" : suggestion(asked, devices)));
}

Result<Done> check_dtype(const std::string& dtype, const imb_runtime_info& info) {
  const std::vector<std::string> dtypes = list_of(info.dtypes, info.dtype_count);
  if (contains(dtypes, dtype)) return Done{};
  return usage_error(fmt::format("{} cannot execute {} here: it has {}; choose one with --dtype", info.name, dtype,
                                 fmt::join(dtypes, ", ")));
}

Result<Done> check_options(const Pairs& options, const imb_runtime_info& info) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < info.option_count; ++i) keys.emplace_back(info.options[i].key);
  for (const auto& [key, value] : options)
    if (!contains(keys, key))
      return usage_error(fmt::format("back end {} has no option '{}'{}; `infermeter backends` lists them", info.name,
                                     key, suggestion(key, keys)));
  return Done{};
}

std::vector<std::string> formats_of(const imb_runtime_info& info) {
  std::vector<std::string> formats;
  for (std::string_view rest = info.model_formats == nullptr ? "" : info.model_formats; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    formats.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return formats;
}

std::vector<std::string> workloads_of(const std::vector<std::string>& formats) {
  constexpr std::string_view mark = "workload:";
  std::vector<std::string> names;
  for (const std::string& format : formats)
    if (format.starts_with(mark)) names.push_back(format.substr(mark.size()));
  return names;
}

}  // namespace

ModelPlace model_place(const TrialRequest& request) {
  return {.path = request.model_path, .zoo_name = request.zoo_name, .on_server = is_on_server(request.subject)};
}

Result<Done> check_format(const ModelPlace& model, std::string_view backend, const std::vector<std::string>& formats) {
  if (contains(formats, "server") && model.on_server) return Done{};
  if (formats == std::vector<std::string>{"server"})
    return usage_error(
        fmt::format("{} measures a model that a server has: say where that is, url=http://HOST:PORT", backend));
  const std::string& path = model.path;
  const bool is_folder = is_folder_config(path);
  if (contains(formats, "*") || (!model.zoo_name.empty() && !is_folder && contains(formats, "zoo"))) return Done{};
  if (const auto workloads = workloads_of(formats); !workloads.empty()) {
    const std::string name = path.substr(path.find_last_of('/') + 1);
    if (contains(workloads, name)) return Done{};
    return usage_error(fmt::format("{} reads no model, and '{}' was given: name what it runs, {}", backend, path,
                                   fmt::join(workloads, ", ")));
  }
  if (is_factory(path)) {
    if (contains(formats, "python")) return Done{};
    return usage_error(
        fmt::format("{} runs no Python, and '{}' names a Python factory; --backend python does", backend, path));
  }
  const std::string place = is_folder ? path.substr(0, path.find_last_of('/')) : path;
  const std::string name = place.substr(place.find_last_of('/') + 1);
  const std::size_t dot = name.find_last_of('.');
  const std::string ending = is_folder                  ? std::string(kFolderFormat)
                             : dot == std::string::npos ? ""
                                                        : lowered(name.substr(dot + 1));
  if (contains(formats, ending)) return Done{};
  if (is_folder)
    return usage_error(
        fmt::format("{} runs no language models, and '{}' is one: `infermeter backends` shows which back ends read {}",
                    backend, model.zoo_name.empty() ? name : model.zoo_name, kFolderFormat));
  return usage_error(
      fmt::format("{0} cannot load '{2}' (it reads {1} files); choose another --backend or convert the model", backend,
                  fmt::join(formats, ", "), name));
}

Result<LoadPlan> plan_load(const Subject& subject, const ModelPlace& model, const imb_runtime_info& info,
                           int processors) {
  INFERMETER_TRY_DONE(check_format(model, info.name, formats_of(info)));
  INFERMETER_TRY(std::string device, choose_device(subject.device, info));
  const std::string dtype(to_string(subject.dtype));
  INFERMETER_TRY_DONE(check_dtype(dtype, info));
  INFERMETER_TRY_DONE(check_options(subject.options, info));
  return LoadPlan{.model_path = model.path,
                  .zoo_name = model.zoo_name,
                  .device = std::move(device),
                  .dtype = dtype,
                  .threads = subject.threads > 0 ? subject.threads : processors,
                  .batch = subject.batch_size,
                  .dimensions = subject.dimensions,
                  .options = subject.options,
                  .batch_axes = subject.batch_axes};
}

}  // namespace infermeter
