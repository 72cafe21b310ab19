#include <algorithm>
#include <array>
#include <set>
#include <sstream>

#include "infermeter/machine/machine_parts.hpp"

namespace infermeter {
namespace {

constexpr std::string_view cpu_folder = "/sys/devices/system/cpu";

// The instruction sets that runtimes choose their kernels by; the other flags change with kernel versions.
constexpr std::array<std::string_view, 30> kernel_choosing = {
    "sse4_1",         "sse4_2",      "avx",        "avx2",         "fma",      "f16c",
    "avx512f",        "avx512bw",    "avx512dq",   "avx512vl",     "avx512cd", "avx512_vnni",
    "avx512_bf16",    "avx512_fp16", "avx512vbmi", "avx512_vbmi2", "avx_vnni", "avx_vnni_int8",
    "avx_ne_convert", "amx_tile",    "amx_bf16",   "amx_int8",     "amx_fp16", "asimd",
    "asimdhp",        "asimddp",     "bf16",       "i8mm",         "sve",      "sve2"};

// Arm's own cores by their part numbers (MIDR_EL1 in each one's technical reference manual): the kernel tells no name.
struct ArmCore {
  std::string_view part, name;
};
constexpr std::array<ArmCore, 17> arm_cores = {{{"0xd03", "Cortex-A53"},
                                                {"0xd05", "Cortex-A55"},
                                                {"0xd07", "Cortex-A57"},
                                                {"0xd08", "Cortex-A72"},
                                                {"0xd09", "Cortex-A73"},
                                                {"0xd0a", "Cortex-A75"},
                                                {"0xd0b", "Cortex-A76"},
                                                {"0xd0c", "Neoverse N1"},
                                                {"0xd40", "Neoverse V1"},
                                                {"0xd41", "Cortex-A78"},
                                                {"0xd42", "Cortex-A78AE"},
                                                {"0xd44", "Cortex-X1"},
                                                {"0xd49", "Neoverse N2"},
                                                {"0xd4a", "Neoverse E1"},
                                                {"0xd4f", "Neoverse V2"},
                                                {"0xd84", "Neoverse V3"},
                                                {"0xd8e", "Neoverse N3"}}};

std::vector<std::string> split(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// On Arm the kernel tells numbers: who made it and which part it is.
std::string processor_name(const SystemFolder& system) {
  std::string name = system.field("/proc/cpuinfo", "model name");
  if (!name.empty()) return name;
  const std::string maker = system.field("/proc/cpuinfo", "CPU implementer");
  const std::string part = system.field("/proc/cpuinfo", "CPU part");
  if (maker.empty() || part.empty()) return name;
  const auto* const core = std::ranges::find(arm_cores, part, &ArmCore::part);
  if (maker == "0x41" && core != arm_cores.end()) return "Arm " + std::string(core->name);
  return "Arm, implementer " + maker + ", part " + part;
}

void read_flags(Environment& environment, const SystemFolder& system) {
  auto words = split(system.field("/proc/cpuinfo", "flags"));
  if (words.empty()) words = split(system.field("/proc/cpuinfo", "Features"));  // Arm
  for (const auto flag : kernel_choosing) {
    if (contains(words, flag)) environment.flags.emplace_back(flag);
  }
  environment.invariant_tsc = contains(words, "constant_tsc") && contains(words, "nonstop_tsc");
  if (contains(words, "hypervisor")) environment.virtualization = "virtual machine";
}

void read_topology(Environment& environment, const SystemFolder& system) {
  std::set<std::string> sockets, cores;
  for (const auto& name : system.entries(cpu_folder)) {
    if (!name.starts_with("cpu") || name.find_first_not_of("0123456789", 3) != std::string::npos) continue;
    const std::string topology = std::string(cpu_folder) + "/" + name + "/topology/";
    const std::string socket = system.text(topology + "physical_package_id");
    if (socket.empty()) continue;
    sockets.insert(socket);
    cores.insert(socket + ":" + system.text(topology + "core_id"));
  }
  environment.processors_online = count_of_list(system.text(std::string(cpu_folder) + "/online"));
  environment.sockets = static_cast<int>(sockets.size());
  environment.cores = static_cast<int>(cores.size());
  environment.numa_nodes = count_of_list(system.text("/sys/devices/system/node/online"));
  environment.smt_active = system.number(std::string(cpu_folder) + "/smt/active").value_or(0) == 1;
}

void read_caches(Environment& environment, const SystemFolder& system) {
  const std::string folder = std::string(cpu_folder) + "/cpu0/cache";
  for (const auto& name : system.entries(folder)) {
    if (!name.starts_with("index")) continue;
    const std::string index = folder + "/" + name + "/";
    const std::string type = system.text(index + "type");
    const std::string suffix = type == "Data" ? "d" : type == "Instruction" ? "i" : "";
    environment.caches.push_back({.kind = "L" + system.text(index + "level") + suffix,
                                  .size_bytes = kernel_bytes(system.text(index + "size")),
                                  .shared_by = std::max(1, count_of_list(system.text(index + "shared_cpu_list")))});
  }
}

void read_frequency_policy(Environment& environment, const SystemFolder& system) {
  const std::string folder(cpu_folder);
  if (auto governor = system.text(folder + "/cpu0/cpufreq/scaling_governor"); !governor.empty()) {
    environment.governor = std::move(governor);
  }
  if (const auto no_turbo = system.number(folder + "/intel_pstate/no_turbo")) environment.turbo = *no_turbo == 0;
  if (const auto boost = system.number(folder + "/cpufreq/boost")) environment.turbo = *boost == 1;
}

}  // namespace

void read_processor(Environment& environment, const SystemFolder& system) {
  environment.processor = processor_name(system);
  read_flags(environment, system);
  read_topology(environment, system);
  read_caches(environment, system);
  read_frequency_policy(environment, system);
}

}  // namespace infermeter
