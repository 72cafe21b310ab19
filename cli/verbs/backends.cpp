// infermeter backends: what is found, where, which version, with which options.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/flags/list_format.hpp"
#include "cli/flags/plan_flags.hpp"
#include "cli/output/backend_json.hpp"
#include "cli/output/columns.hpp"
#include "cli/output/help.hpp"
#include "cli/verbs/verb.hpp"
#include "infermeter/diagnostics/interrupt.hpp"
#include "infermeter/report/report.hpp"
#include "infermeter/run/check.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {
namespace {

struct BackendsOptions {
  std::string name;
  SomeFlags flags;
  ListFormat format;
};

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string table(std::span<const BackendInfo> backends) {
  std::vector<std::vector<std::string>> rows{{"back end", "runtime", "devices", "dtypes", "state"}};
  for (const BackendInfo& b : backends) {
    rows.push_back({b.name, or_dash(b.runtime_name + (b.runtime_version.empty() ? "" : " " + b.runtime_version)),
                    or_dash(fmt::format("{}", fmt::join(b.devices, ","))),
                    or_dash(fmt::format("{}", fmt::join(b.dtypes, ","))), b.error.empty() ? "usable" : b.error});
  }
  return columns(rows);
}

std::string details(const BackendInfo& b) {
  std::string text = columns({{"back end", b.name},
                              {"runtime", or_dash(b.runtime_name + " " + b.runtime_version)},
                              {"library", or_dash(b.library)},
                              {"plug-in", b.plugin},
                              {"models", or_dash(fmt::format("{}", fmt::join(b.model_formats, ", ")))},
                              {"devices", or_dash(fmt::format("{}", fmt::join(b.devices, ", ")))},
                              {"dtypes", or_dash(fmt::format("{}", fmt::join(b.dtypes, ", ")))},
                              {"state", b.error.empty() ? "usable" : b.error}});
  if (b.options.empty()) return text;
  text += "\nOptions:\n";
  for (const BackendOption& option : b.options) {
    text += fmt::format("  {}={}\n      {}\n", printable(option.key), printable(option.values), printable(option.help));
  }
  return text;
}

Result<int> show_all(Surroundings& world, const Launcher& launcher, bool json) {
  const std::vector<BackendInfo> backends = probe_backends(launcher, {.interrupt = world.interrupt});
  if (look_at_interrupts(world.interrupt) != 0) return worker_error("interrupted: not every back end has answered");
  world.out << (json ? json_text(as_json(backends)) : table(backends));
  return 0;
}

Result<int> show_one(Surroundings& world, const Launcher& launcher, const std::string& name, const std::string& library,
                     bool json) {
  const std::vector<std::string> names = backend_names(launcher);
  if (std::ranges::find(names, name) == names.end()) return unknown_backend(name, names);
  const BackendInfo info = probe_backend(launcher, name, library, {.interrupt = world.interrupt});
  if (look_at_interrupts(world.interrupt) != 0) return worker_error("interrupted: the back end has not answered");
  world.out << (json ? json_text(as_json(info)) : details(info));
  return 0;
}

Result<int> backends_action(Surroundings& world, const BackendsOptions& options) {
  INFERMETER_TRY(const bool json, options.format.is_json());
  INFERMETER_TRY(PlanDraft draft, ambient_draft(world));
  INFERMETER_TRY_DONE(options.flags.apply(draft));
  INFERMETER_TRY(const Launcher launcher, find_launcher(draft.plan.backend_path));
  if (options.name.empty()) return show_all(world, launcher, json);
  return show_one(world, launcher, options.name, draft.defaults.backend_library, json);
}

}  // namespace

Action declare_backends(CLI::App& app) {
  auto options = std::make_shared<BackendsOptions>();
  set_help(app, {.usage = "infermeter backends [NAME] [flags]",
                 .about = "Lists the available back ends: runtime and version, devices, precisions; with a name also "
                          "the library in use and all options. Each back end is loaded in a separate process.",
                 .examples = {{"infermeter backends", "All of them."},
                              {"infermeter backends openvino", "One back end, with its options."},
                              {"infermeter backends onnxruntime --backend-library ./libonnxruntime.so.1.20.1",
                               "The same back end with another version of its runtime."}},
                 .notes = {}});
  app.add_option("NAME", options->name, "One back end.")->type_name("")->group("What");
  options->flags.declare(app, {"backend_library", "backend_path"});
  options->format.declare(app);
  return [options](Surroundings& world) { return backends_action(world, *options); };
}

}  // namespace infermeter
