#include "cli/flags/cluster_flags.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <climits>

#include "infermeter/plan/quantity.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr const char* kClusterGroup = "On a cluster";
constexpr std::int64_t kMostNodes = 10'000;

CLI::Option* declare_text(CLI::App& app, const char* flag, std::string& value, const char* type, const char* help) {
  return app.add_option(flag, value, help)
      ->type_name(type)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->group(kClusterGroup);
}

Result<std::int64_t> whole(std::string_view flag, const std::string& text, std::int64_t most) {
  auto number = integer_from_string(text, 1, most);
  if (number.ok()) return number;
  return usage_error(fmt::format("{}: {}", flag, number.error().message));
}

std::string name_of_this_node(const Surroundings& world) {
  for (const char* variable : {"SLURMD_NODENAME", "NODE_NAME"})
    if (const auto name = world.variable(variable)) return *name;
  std::array<char, HOST_NAME_MAX + 1> name{};
  return ::gethostname(name.data(), HOST_NAME_MAX) == 0 ? name.data() : "";
}

}  // namespace

void ClusterFlags::declare(CLI::App& app) {
  declare_text(
      app, "--on", on_, "CLUSTER",
      "slurm, or kubernetes (with --write-job). Measures on nodes, one task alone on each; a block (a process of "
      "every subject) stays on one node.");
  declare_text(app, "--nodes", nodes_, "N", "Number of tasks, each on a node of its own. Default: 4.");
  declare_text(app, "--partition", partition_, "NAME", "Slurm's partition.");
  declare_text(app, "--constraint", constraint_, "FEATURES",
               "Nodes with these features; with --on kubernetes those with a label, KEY=VALUE.");
  declare_text(app, "--time", time_, "TIME", "A task's time limit.");
  app.add_option("--sbatch", sbatch_, "A further option of sbatch: --sbatch=--account=lab. May be repeated.")
      ->type_name("OPTION")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(kClusterGroup);
  app.add_flag("--wait", wait_, "Wait for the tasks, and report. Ctrl-C ends them.")->group(kClusterGroup);
  declare_text(app, "--write-job", job_file_, "FILE", "Write the job (a batch script, a manifest) and submit nothing.");
  declare_text(app, "--image", image_, "IMAGE", "Of --on kubernetes: the image that has infermeter and the back ends.");
  declare_text(app, "--volume", volume_, "CLAIM:/FOLDER",
               "Of --on kubernetes: the claim that all tasks share, and where it is mounted, here as there.");
  declare_text(app, "--task-processors", processors_, "N", "Of --on kubernetes: a task's processors. Default: 4.");
  declare_text(app, "--task-memory", memory_, "SIZE", "Of --on kubernetes: a task's memory. Default: 8 GiB.");
}

void ClusterFlags::declare_shard(CLI::App& app) {
  declare_text(app, "--shard", shard_, "K/N",
               "With --resume: measure the blocks of task K of N, and no others. Jobs call it.");
}

Result<std::optional<ClusterRequest>> ClusterFlags::request() const {
  if (on_.empty()) {
    const std::pair<const char*, bool> others[] = {{"--nodes", !nodes_.empty()},
                                                   {"--partition", !partition_.empty()},
                                                   {"--constraint", !constraint_.empty()},
                                                   {"--time", !time_.empty()},
                                                   {"--sbatch", !sbatch_.empty()},
                                                   {"--write-job", !job_file_.empty()},
                                                   {"--image", !image_.empty()},
                                                   {"--volume", !volume_.empty()},
                                                   {"--task-processors", !processors_.empty()},
                                                   {"--task-memory", !memory_.empty()}};
    for (const auto& [flag, given] : others)
      if (given) return usage_error(fmt::format("{} is for runs on a cluster: give --on slurm, or leave it out", flag));
    return std::optional<ClusterRequest>();
  }
  ClusterRequest request{
      .partition = partition_, .constraint = constraint_, .time_limit_s = {}, .options = sbatch_, .image = image_};
  INFERMETER_TRY(request.cluster, cluster_from_string(on_));
  if (!nodes_.empty()) {
    INFERMETER_TRY(const auto nodes, whole("--nodes", nodes_, kMostNodes));
    request.nodes = static_cast<int>(nodes);
  }
  if (!time_.empty()) {
    const auto seconds = seconds_from_string(time_);
    if (!seconds.ok()) return usage_error(fmt::format("--time: {}", seconds.error().message));
    request.time_limit_s = *seconds;
  }
  if (!processors_.empty()) {
    INFERMETER_TRY(const auto processors, whole("--task-processors", processors_, kMostNodes));
    request.processors = static_cast<int>(processors);
  }
  if (!memory_.empty()) {
    const auto bytes = bytes_from_string(memory_);
    if (!bytes.ok()) return usage_error(fmt::format("--task-memory: {}", bytes.error().message));
    request.memory_bytes = *bytes;
  }
  const std::size_t colon = volume_.find(':');
  request.volume = volume_.substr(0, colon);
  if (colon != std::string::npos) request.volume_path = volume_.substr(colon + 1);
  const bool kubernetes = request.cluster == Cluster::kubernetes;
  if (kubernetes && job_file_.empty())
    return usage_error("--on kubernetes submits nothing: --write-job FILE writes the manifest, for kubectl apply");
  if (kubernetes && (!partition_.empty() || !sbatch_.empty()))
    return usage_error("--partition and --sbatch are Slurm's: leave them out with --on kubernetes");
  if (wait_ && !job_file_.empty())
    return usage_error("--write-job submits nothing that --wait could wait for: leave one out");
  return std::optional(std::move(request));
}

Result<std::optional<Shard>> ClusterFlags::shard(const Surroundings& world) const {
  if (shard_.empty()) return std::optional<Shard>();
  const std::size_t slash = shard_.find('/');
  const auto count = integer_from_string(slash == std::string::npos ? "" : shard_.substr(slash + 1), 1, kMostNodes);
  const auto number = count.ok() ? integer_from_string(shard_.substr(0, slash), 1, *count) : count;
  if (!number.ok()) return usage_error(fmt::format("--shard: {} is not K/N, such as 2/4", in_quotes(shard_)));
  return std::optional(
      Shard{.number = static_cast<int>(*number), .count = static_cast<int>(*count), .node = name_of_this_node(world)});
}

}  // namespace infermeter
