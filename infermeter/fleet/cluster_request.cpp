#include "infermeter/fleet/cluster_request.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "infermeter/text/nearest.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

// A line of a job holds it, in double quotes.
Result<Done> check_line(std::string_view flag, std::string_view value) {
  const auto is_wrong = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127 || c == '"' || c == '\\'; };
  if (std::ranges::none_of(value, is_wrong)) return Done{};
  return usage_error(fmt::format("{}: {} has characters that a job cannot hold (line breaks, quotes, backslashes)",
                                 flag, in_quotes(value)));
}

Result<Done> check_kubernetes(const ClusterRequest& request) {
  if (request.image.empty())
    return usage_error("--on kubernetes needs --image IMAGE, in which infermeter and the back ends are");
  if (request.volume.empty() || !request.volume_path.starts_with('/'))
    return usage_error(
        "--on kubernetes needs --volume CLAIM:/FOLDER, a claim that all tasks can write, mounted where this folder is");
  if (!request.constraint.empty() && request.constraint.find('=') == std::string::npos)
    return usage_error(fmt::format("--constraint: {} is not a label of nodes; with --on kubernetes it is KEY=VALUE",
                                   in_quotes(request.constraint)));
  return Done{};
}

}  // namespace

std::string_view to_string(Cluster cluster) { return cluster == Cluster::slurm ? "slurm" : "kubernetes"; }

Result<Cluster> cluster_from_string(std::string_view name) {
  for (const Cluster cluster : {Cluster::slurm, Cluster::kubernetes})
    if (name == to_string(cluster)) return cluster;
  return usage_error(fmt::format("--on: unknown cluster {}{}; there are slurm, kubernetes", in_quotes(name),
                                 did_you_mean(name, {"slurm", "kubernetes"})));
}

Result<Done> check_request(const ClusterRequest& request, const Plan& plan) {
  INFERMETER_TRY_DONE(check_line("--partition", request.partition));
  INFERMETER_TRY_DONE(check_line("--constraint", request.constraint));
  INFERMETER_TRY_DONE(check_line("--image", request.image));
  INFERMETER_TRY_DONE(check_line("--volume", request.volume + request.volume_path));
  for (const std::string& option : request.options) {
    INFERMETER_TRY_DONE(check_line("--sbatch", option));
    if (!option.starts_with('-'))
      return usage_error(
          fmt::format("--sbatch: {} is not an option of sbatch, such as --sbatch=--account=lab", in_quotes(option)));
  }
  if (request.nodes && *request.nodes < 1) return usage_error("--nodes: at least one node is needed");
  if (plan.tuning && request.nodes.value_or(1) > 1)
    return usage_error(
        "a race chooses its next trials by those before, and is measured on one node as a whole: leave --nodes out");
  if (plan.question && plan.question->until_resolved)
    return usage_error(
        "--until-resolved looks after every pair, and pairs of a cluster come at the same time: give --max-pairs");
  if ((plan.question && plan.question->budget_s) || plan.budget_s)
    return usage_error(
        "--budget ends one machine's work: with --on, give --processes or --max-pairs, and --time for a task");
  return request.cluster == Cluster::kubernetes ? check_kubernetes(request) : Result<Done>(Done{});
}

int tasks_of(const ClusterRequest& request, const Plan& plan) {
  if (plan.tuning) return 1;
  return std::clamp(request.nodes.value_or(kDefaultNodes), 1, std::max(plan.processes, 1));
}

}  // namespace infermeter
