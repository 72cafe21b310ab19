// infermeter doctor: what of this machine disturbs a measurement, what of infermeter is missing, each with its remedy.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/doctor_self.hpp"
#include "cli/flags/list_format.hpp"
#include "cli/flags/plan_flags.hpp"
#include "cli/installation.hpp"
#include "cli/output/backend_json.hpp"
#include "cli/output/doctor_peaks.hpp"
#include "cli/output/help.hpp"
#include "cli/verbs/verb.hpp"
#include "infermeter/diagnostics/interrupt.hpp"
#include "infermeter/machine/machine.hpp"
#include "infermeter/report/report.hpp"
#include "infermeter/samples/samples_json.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

using Json = nlohmann::ordered_json;

struct DoctorOptions {
  SomeFlags flags;
  SelfComparison self;
  bool peaks = false;
  ListFormat format;
};

// What was found, in one list.
struct Examination {
  Environment environment;
  std::vector<Diagnostic> machine;
  Installation installation;
  Enforcement sandbox;
};

bool is_fit(std::span<const Diagnostic> findings) {
  return std::ranges::none_of(findings, [](const Diagnostic& d) { return info(d.id).severity != Severity::info; });
}

std::string machine_line(const Environment& e) {
  const auto memory = static_cast<double>(e.memory_total_bytes);
  return fmt::format("{}: {} processors usable{}, kernel {}{}", e.processor.empty() ? e.architecture : e.processor,
                     e.processors_usable, memory > 0 ? fmt::format(", {} memory", format_bytes(memory)) : "", e.kernel,
                     e.virtualization.empty() ? "" : ", " + e.virtualization);
}

std::string findings_text(std::span<const Diagnostic> findings) {
  std::string text;
  for (const Diagnostic& finding : findings) {
    text += fmt::format("  {} [{}] {}\n", to_string(info(finding.id).severity), to_string(finding.id),
                        printable(finding.message));
    text += fmt::format("      {}\n", info(finding.id).remedy);
  }
  return text.empty() ? "  nothing\n" : text;
}

std::string missing_text(const Installation& installation) {
  std::string text;
  for (const BackendInfo& b : installation.backends) {
    if (b.error.empty()) text += fmt::format("  ok: back end {}, {} {}\n", b.name, b.runtime_name, b.runtime_version);
  }
  for (const Shortcoming& missing : installation.missing) {
    text += fmt::format("  missing: {}\n      {}\n", printable(missing.what), printable(missing.remedy));
  }
  return text;
}

// The sandbox of workers (docs/sandbox.md).
std::string sandbox_text(const Enforcement& sandbox) {
  std::string text;
  const auto line = [&](bool good, const std::string& what, std::string_view without) {
    text += good ? fmt::format("  ok: {}\n", what) : fmt::format("  missing: {}\n      {}\n", what, without);
  };
  const bool has_landlock = sandbox.landlock_abi > 0;
  line(has_landlock, has_landlock ? fmt::format("Landlock (ABI {}): files", sandbox.landlock_abi) : "Landlock: files",
       "A worker may read what you may; --sandbox strict refuses to run.");
  line(sandbox.system_calls, "seccomp: sockets and system calls", "--sandbox strict refuses to run.");
  line(sandbox.supervisor, "a supervisor that decides on calls that name another process",
       "Calls that name another process or thread are refused altogether.");
  line(sandbox.mounts, "a mount namespace: everything read-only, a private /dev/shm",
       "Landlock and seccomp alone keep files as they are; /dev/shm is closed.");
  return text;
}

Json as_json(const Enforcement& sandbox) {
  return {{"landlock_abi", sandbox.landlock_abi > 0 ? Json(sandbox.landlock_abi) : Json(nullptr)},
          {"seccomp", sandbox.system_calls},
          {"supervisor", sandbox.supervisor},
          {"mount_namespace", sandbox.mounts}};
}

std::string verdict_text(const Examination& e) {
  if (!e.installation.can_measure) return "infermeter cannot measure here yet: see what is missing.\n";
  if (is_fit(e.machine)) return "This machine is fit to measure.\n";
  return "This machine can measure, but see the warnings above: expect wider intervals.\n";
}

std::string as_text(const Examination& e) {
  return fmt::format(
      "{}\n\nWhat disturbs a measurement here:\n{}\nWhat infermeter needs:\n{}\n"
      "Sandbox of workers (--sandbox):\n{}\n{}",
      printable(machine_line(e.environment)), findings_text(e.machine), missing_text(e.installation),
      sandbox_text(e.sandbox), verdict_text(e));
}

Json as_json(const Examination& e) {
  Json findings = Json::array();
  for (const Diagnostic& finding : e.machine) {
    findings.push_back({{"id", to_string(finding.id)},
                        {"severity", to_string(info(finding.id).severity)},
                        {"message", finding.message},
                        {"remedy", info(finding.id).remedy}});
  }
  Json missing = Json::array();
  for (const Shortcoming& shortcoming : e.installation.missing) {
    missing.push_back({{"what", shortcoming.what}, {"remedy", shortcoming.remedy}});
  }
  return {{"fit_to_measure", e.installation.can_measure && is_fit(e.machine)},
          {"can_measure", e.installation.can_measure},
          {"environment", Json::parse(environment_to_json(e.environment), nullptr, false)},
          {"findings", std::move(findings)},
          {"missing", std::move(missing)},
          {"sandbox", as_json(e.sandbox)},
          {"backends", as_json(e.installation.backends)}};
}

// What the machine's own noise is, where that was asked for.
Result<std::optional<SelfNoise>> own_noise(Surroundings& world, const DoctorOptions& options, const PlanDraft& draft) {
  if (options.self.pairs == 0) return std::optional<SelfNoise>();
  INFERMETER_TRY(SelfNoise noise, compare_with_itself(world, options.self, draft));
  return std::optional(std::move(noise));
}

Result<int> doctor_action(Surroundings& world, const DoctorOptions& options) {
  INFERMETER_TRY(const bool json, options.format.is_json());
  INFERMETER_TRY(PlanDraft draft, ambient_draft(world));
  INFERMETER_TRY_DONE(options.flags.apply(draft));
  Examination e{.environment = read_environment(), .machine = {}, .installation = {}, .sandbox = {}};
  e.sandbox = what_can_be_enforced();
  e.machine = examine(e.environment);
  INFERMETER_TRY(const auto noise, own_noise(world, options, draft));
  e.installation = examine_installation(draft.plan.backend_path, draft.plan.output_dir, world.interrupt);
  std::vector<MachinePeaks> peaks;
  // What was found until then is shown.
  const bool had_stopped = look_at_interrupts(world.interrupt) != 0;
  if (had_stopped && !noise) return worker_error("interrupted");
  if (options.peaks && !had_stopped) peaks = measure_all_peaks(e.environment, world.interrupt);
  if (!had_stopped && look_at_interrupts(world.interrupt) != 0)
    return worker_error("interrupted: the machine's best was not measured to its end");
  if (json) {
    Json whole = as_json(e);
    whole["self_comparison"] = noise ? as_json(*noise) : Json(nullptr);
    whole["peaks"] = options.peaks ? as_json(peaks) : Json(nullptr);
    world.out << json_text(whole);
  } else {
    world.out << as_text(e) << (noise ? "\n" + as_text(*noise) : "") << (options.peaks ? "\n" + as_text(peaks) : "");
  }
  return noise ? noise->exit_code : 0;
}

}  // namespace

Action declare_doctor(CLI::App& app) {
  auto options = std::make_shared<DoctorOptions>();
  set_help(app, {.usage = "infermeter doctor [flags]",
                 .about = "Reports what disturbs measurements on this machine (governor, turbo, SMT, load, few cores, "
                          "missing permissions, …) and which parts of infermeter are missing, each with a remedy. "
                          "Changes nothing; the exit code does not depend on what is found. With --aa a program is "
                          "compared with itself, which shows the smallest difference that can be detected on this "
                          "machine; later comparisons quote it. With --peaks the peak performance of processor and "
                          "memory is measured.",
                 .examples = {{"infermeter doctor", "Before measuring."},
                              {"infermeter doctor --aa 20", "The noise of this machine, in about ten seconds."},
                              {"infermeter doctor --peaks", "Peak rates of float32, bfloat16, int8 and of each cache."},
                              {"infermeter doctor --format json | jq .fit_to_measure", "In a script."}},
                 .notes = {}});
  options->flags.declare(app, {"output_dir", "store", "backend_path"});
  options->format.declare(app);
  options->self.declare(app);
  app.add_flag("--peaks", options->peaks,
               "Measure peak operations and bytes per second, with one thread and with all processors: 5 s.")
      ->group("Peaks");
  return [options](Surroundings& world) { return doctor_action(world, *options); };
}

}  // namespace infermeter
