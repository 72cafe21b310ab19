#include "infermeter/fleet/job_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/shell_quote.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

Result<Done> check_path(const fs::path& path) {
  const auto is_wrong = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127 || c == '"' || c == '\\'; };
  if (std::ranges::none_of(path.native(), is_wrong)) return Done{};
  return usage_error(fmt::format("a job cannot name the path {}: it has line breaks, quotes or backslashes",
                                 in_quotes(path.string())));
}

Result<Done> check_paths(const JobText& text) {
  INFERMETER_TRY_DONE(check_path(text.job.folder));
  INFERMETER_TRY_DONE(check_path(text.folder));
  return check_path(text.program);
}

// In double quotes, which sbatch takes off.
std::string slurm_value(std::string_view value) {
  const auto is_plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("_-./,:=+@%").find(c) != std::string_view::npos;
  };
  const bool plain = !value.empty() && std::ranges::all_of(value, is_plain);
  return plain ? std::string(value) : fmt::format("\"{}\"", value);
}

// Slurm takes % for the begin of a pattern.
std::string without_patterns(std::string_view path) {
  std::string text;
  for (const char c : path) text.append(c == '%' ? 2 : 1, c);
  return text;
}

// "the models", so that a reader can see what nodes must find.
std::string model_comments(const RunRecord& record) {
  std::set<std::string> lines;
  for (const ModelFacts& model : record.models)
    if (!model.sha256.empty() && !model.from_zoo)
      lines.insert(fmt::format("#   {}  {}\n", model.sha256, printable(model.path, 1000)));
  if (lines.empty()) return "";
  std::string text = "# Every task refuses to measure unless it finds these files with these SHA-256:\n";
  for (const std::string& line : lines) text += line;
  return text;
}

std::string heading(const JobText& text, std::string_view submit) {
  const RunRecord& record = text.record;
  return fmt::format(
      "# infermeter run {}: {} of {} in {}, {}alone on its node. To submit it:\n"
      "#   {}\n"
      "# A task that ended early continues when it is started again; nothing is measured twice. To take in what is "
      "measured,\n"
      "# and to report when all of it is there:\n"
      "#   infermeter run --resume {} --output-dir {}{}\n{}",
      record.id, record.plan.tuning ? "a race" : counted(record.plan.processes, "block"),
      counted(record.plan.subjects.size(), record.plan.tuning ? "setting" : "subject"), counted(text.job.tasks, "task"),
      text.job.tasks == 1 ? "" : "each ", submit, record.id,
      printable(shell_quoted(fs::absolute(record.plan.output_dir).lexically_normal().string()), 1000),
      record.plan.store.empty() ? "" : " --store " + printable(shell_quoted(record.plan.store), 1000),
      model_comments(record));
}

// The task's own command; `number` and `store` are for the shell.
std::string command_of(const JobText& text, std::string_view number, std::string_view store) {
  std::string command = fmt::format("exec {} run --resume {} --shard \"{}/{}\" --output-dir {}",
                                    shell_quoted(text.program.string()), text.record.id, number, text.job.tasks, store);
  for (const std::string& flag : text.flags) command += " " + shell_quoted(flag);
  return command;
}

std::string yaml(std::string_view text) { return fmt::format("\"{}\"", text); }

}  // namespace

Result<std::string> slurm_script(const JobText& text) {
  INFERMETER_TRY_DONE(check_paths(text));
  const ClusterRequest& request = text.request;
  std::string script =
      "#!/bin/sh\n" + heading(text, "sbatch FILE                 (or some of its tasks: sbatch --array=2,3 FILE)");
  const auto option = [&](std::string_view name, std::string_view value) {
    script += fmt::format("#SBATCH --{}={}\n", name, slurm_value(value));
  };
  script += "\n";
  option("job-name", "infermeter-" + text.record.id);
  option("array", fmt::format("1-{}", text.job.tasks));
  option("nodes", "1");
  script += "#SBATCH --exclusive\n";
  if (!request.partition.empty()) option("partition", request.partition);
  if (!request.constraint.empty()) option("constraint", request.constraint);
  if (request.time_limit_s)
    option("time", fmt::format("{:.0f}", std::ceil(std::max(*request.time_limit_s, 60.0) / 60)));
  for (const std::string& other : request.options) {
    const std::size_t equals = other.find('=');
    script += fmt::format("#SBATCH {}", other.substr(0, equals));
    script += equals == std::string::npos ? "\n" : fmt::format("={}\n", slurm_value(other.substr(equals + 1)));
  }
  // The node that ran it may have gone for good.
  script += "#SBATCH --requeue\n#SBATCH --open-mode=append\n";
  option("chdir", text.folder.string());
  option("output", without_patterns(text.job.folder.string()) + "/%a.log");
  // So that whoever takes the results in knows what is still at work, whoever submitted it.
  script += fmt::format("\necho \"$SLURM_ARRAY_JOB_ID\" >>{}/ids\n", shell_quoted(text.job.folder.string()));
  script +=
      command_of(text, "$SLURM_ARRAY_TASK_ID", shell_quoted(text.job.folder.string()) + "/\"$SLURM_ARRAY_TASK_ID\"") +
      "\n";
  return script;
}

Result<std::string> kubernetes_manifest(const JobText& text) {
  INFERMETER_TRY_DONE(check_paths(text));
  const ClusterRequest& request = text.request;
  const std::string number = "$((JOB_COMPLETION_INDEX + 1))";
  std::string command = command_of(text, number, shell_quoted(text.job.folder.string()) + "/\"" + number + "\"");
  command = fmt::format("{} >>{}/\"{}\".log 2>&1", command, shell_quoted(text.job.folder.string()), number);
  std::string manifest = heading(text, "kubectl apply -f FILE");
  manifest += fmt::format(
      R"(apiVersion: batch/v1
kind: Job
metadata:
  name: {0}
  labels: {{app.kubernetes.io/name: infermeter}}
spec:
  completionMode: Indexed
  completions: {1}
  parallelism: {1}
  backoffLimit: {2}
)",
      yaml("infermeter-" + text.record.id), text.job.tasks, 3 * text.job.tasks);
  manifest += R"(  template:
    metadata:
      labels: {app.kubernetes.io/name: infermeter}
    spec:
      restartPolicy: Never
)";
  // Of a pod, from when it is on its node: a job's own would count while tasks wait for nodes.
  if (request.time_limit_s)
    manifest += fmt::format("      activeDeadlineSeconds: {:.0f}\n", std::ceil(*request.time_limit_s));
  manifest += R"(      affinity:
        podAntiAffinity:  # no two tasks on one node, whichever run they belong to
          requiredDuringSchedulingIgnoredDuringExecution:
          - topologyKey: kubernetes.io/hostname
            namespaceSelector: {}
            labelSelector:
              matchLabels: {app.kubernetes.io/name: infermeter}
)";
  if (!request.constraint.empty()) {
    const std::size_t equals = request.constraint.find('=');
    manifest += fmt::format("      nodeSelector: {{{}: {}}}\n", yaml(request.constraint.substr(0, equals)),
                            yaml(request.constraint.substr(equals + 1)));
  }
  manifest += fmt::format(
      R"(      containers:
      - name: infermeter
        image: {0}
        workingDir: {1}
        command: [/bin/sh, -c]
        args:
        - |
          {2}
        env:
        - name: NODE_NAME
          valueFrom: {{fieldRef: {{fieldPath: spec.nodeName}}}}
        # Whole processors, and limits equal to requests: with the node's static CPU policy they are the task's alone.
        resources:
          requests: {{cpu: "{3}", memory: "{4}"}}
          limits: {{cpu: "{3}", memory: "{4}"}}
        volumeMounts:
        - {{name: shared, mountPath: {5}}}
      volumes:
      - name: shared
        persistentVolumeClaim: {{claimName: {6}}}
)",
      yaml(request.image), yaml(text.folder.string()), command, request.processors, request.memory_bytes,
      yaml(request.volume_path), yaml(request.volume));
  return manifest;
}

}  // namespace infermeter
