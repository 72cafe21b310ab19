#include "infermeter/fleet/job_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <system_error>
#include <utility>

#include "infermeter/models/sha256.hpp"
#include "infermeter/plan/plan_file.hpp"
#include "infermeter/run/begin.hpp"
#include "infermeter/run/run.hpp"
#include "infermeter/run/shard.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/whole_file.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

constexpr int most_tasks = 10'000;
// Side trials of a task keep their numbers among those of all tasks.
constexpr int side_trials_apart = 10'000;

Error cannot_make(const fs::path& path, const std::error_code& code) {
  return io_error(fmt::format("cannot make {}: {} (--output-dir chooses another folder)", printable(path.string(), 500),
                              code.message()));
}

fs::path folder_of_job(const fs::path& output_dir, std::string_view run) {
  return fs::absolute(output_dir).lexically_normal() / "jobs" / run;
}

fs::path file_of_digest(const ClusterJob& job, const fs::path& cache) {
  return cache / "jobs" / fmt::format("{}.sha256", job.run);
}

Result<Done> make_store(const ClusterJob& job, int task, const RunRecord& record) {
  INFERMETER_TRY(auto store, Store::open(job.store_of(task) / "infermeter.db", Store::Mode::write));
  return store.begin_run(record);
}

Result<Done> make_stores(const ClusterJob& job, const RunRecord& record) {
  for (int task = 1; task <= job.tasks; ++task) INFERMETER_TRY_DONE(make_store(job, task, record));
  return Done{};
}

Result<Done> check_same(const RunRecord& record, const RunRecord& part, int task, const ClusterJob& job) {
  const auto refuse = [&](std::string_view what) {
    return io_error(fmt::format("task {} of run {} has measured {}: its trials are not taken in ({})", task, record.id,
                                what, printable(job.store_of(task).string(), 500)));
  };
  Plan plan = part.plan;
  plan.output_dir = record.plan.output_dir;
  if (plan_to_json(plan) != plan_to_json(record.plan)) return refuse("another plan");
  for (std::size_t i = 0; i < record.models.size(); ++i)
    if (i >= part.models.size() || part.models[i].sha256 != record.models[i].sha256)
      return refuse(fmt::format("another file of the model {}", in_quotes(record.models[i].name)));
  return Done{};
}

bool has_trial(const std::vector<Samples>& trials, int position) {
  return std::ranges::find(trials, position, &Samples::position) != trials.end();
}

// Takes a task's record in.
class Joining {
 public:
  Joining(Store& store, RunRecord& record, int task) : store_(store), record_(record), task_(task) {}

  Result<Done> operator()(const RunRecord& part) {
    if (part.plan.tuning) INFERMETER_TRY_DONE(forget_others(part));
    const std::vector<int> whole = whole_blocks(part);
    for (const Samples& trial : part.trials) {
      const bool counts =
          part.plan.tuning ? trial.end != TrialEnd::interrupted : std::ranges::binary_search(whole, trial.process);
      if (counts) INFERMETER_TRY_DONE(add(trial, record_.trials));
    }
    for (Samples trial : part.side_trials) {
      if (trial.end == TrialEnd::interrupted) continue;
      trial.position += (task_ - 1) * side_trials_apart;
      trial.process += (task_ - 1) * side_trials_apart;
      INFERMETER_TRY_DONE(add(trial, record_.side_trials));
    }
    INFERMETER_TRY_DONE(take_findings(part));
    return take_machine(part);
  }

 private:
  Result<Done> add(const Samples& trial, std::vector<Samples>& trials) {
    if (has_trial(trials, trial.position)) return Done{};
    INFERMETER_TRY_DONE(store_.add_trial(record_.id, trial));
    trials.push_back(trial);
    return Done{};
  }

  // Trials that the task has no longer.
  Result<Done> forget_others(const RunRecord& part) {
    std::vector<int> gone;
    for (const Samples& trial : record_.trials) {
      const auto same = std::ranges::find(part.trials, trial.position, &Samples::position);
      const bool stays = same != part.trials.end() && same->started_at == trial.started_at;
      if (!stays) gone.push_back(trial.position);
    }
    for (const int position : gone) {
      INFERMETER_TRY_DONE(store_.remove_trial(record_.id, position));
      std::erase_if(record_.trials, [&](const Samples& trial) { return trial.position == position; });
    }
    return Done{};
  }

  // Of each subject once: the inputs are the same on all nodes.
  Result<Done> take_findings(const RunRecord& part) {
    for (const SubjectOutputs& outputs : part.outputs) {
      if (std::ranges::find(record_.outputs, outputs.subject, &SubjectOutputs::subject) != record_.outputs.end())
        continue;
      INFERMETER_TRY_DONE(store_.set_outputs(record_.id, outputs));
      record_.outputs.push_back(outputs);
    }
    for (const SubjectAccuracy& accuracy : part.accuracy) {
      if (std::ranges::find(record_.accuracy, accuracy.subject, &SubjectAccuracy::subject) != record_.accuracy.end())
        continue;
      INFERMETER_TRY_DONE(store_.set_accuracy(record_.id, accuracy));
      record_.accuracy.push_back(accuracy);
    }
    if (task_ != 1) return Done{};  // the only one with profiles, whose positions are the run's
    for (const OperatorProfile& profile : part.profiles) INFERMETER_TRY_DONE(store_.add_profile(record_.id, profile));
    for (const TrialStacks& stacks : part.stacks) INFERMETER_TRY_DONE(store_.add_stacks(record_.id, stacks));
    return part.peaks ? store_.set_peaks(record_.id, *part.peaks) : Result<Done>(Done{});
  }

  Result<Done> take_machine(const RunRecord& part) {
    if (part.environment.nodes.empty()) return Done{};  // it has not begun
    Environment& all = record_.environment;
    if (all.nodes.empty()) {
      const std::string command = std::move(all.command);
      all = part.environment;
      all.command = command;
      record_.diagnostics = part.diagnostics;
    }
    for (const Environment& node : part.environment.nodes)
      if (std::ranges::find(all.nodes, node.hostname, &Environment::hostname) == all.nodes.end())
        all.nodes.push_back(node);
    for (const Diagnostic& diagnostic : part.diagnostics) {
      const auto is_same = [&](const Diagnostic& other) {
        return other.id == diagnostic.id && other.about == diagnostic.about;
      };
      if (std::ranges::none_of(record_.diagnostics, is_same)) record_.diagnostics.push_back(diagnostic);
    }
    INFERMETER_TRY_DONE(store_.set_environment(record_.id, all));
    return store_.set_diagnostics(record_.id, record_.diagnostics);
  }

  Store& store_;
  RunRecord& record_;
  int task_;
};

}  // namespace

fs::path ClusterJob::store_of(int task) const { return folder / std::to_string(task); }
fs::path ClusterJob::log_of(int task) const { return folder / fmt::format("{}.log", task); }

Result<BegunJob> begin_job(Store& store, Plan plan, int tasks, const RunContext& context) {
  const fs::path output_dir = plan.output_dir;
  INFERMETER_TRY(BegunRun begun, new_run(store, std::move(plan), context));
  ClusterJob job{.folder = folder_of_job(output_dir, begun.record.id), .run = begun.record.id, .tasks = tasks};
  std::error_code code;
  fs::create_directories(job.folder, code);
  const auto made = code ? Result<Done>(cannot_make(job.folder, code)) : make_stores(job, begun.record);
  if (!made.ok()) {
    INFERMETER_TRY_DONE(forget_job(store, job));
    return made.error();
  }
  return BegunJob{.job = std::move(job), .record = std::move(begun.record), .lock = std::move(begun.lock)};
}

// Files by their names: the folder may have been anybody's.
Result<Done> forget_job(Store& store, const ClusterJob& job) {
  std::error_code code;
  for (int task = 1; task <= job.tasks; ++task) {
    for (const char* end : {"", "-wal", "-shm", "-lock"})
      fs::remove(job.store_of(task) / fmt::format("infermeter.db{}", end), code);
    fs::remove(job.store_of(task), code);
    fs::remove(job.log_of(task), code);
  }
  for (const char* name : {"job.sh", "job.yaml", "ids"}) fs::remove(job.folder / name, code);
  fs::remove(job.folder, code);
  fs::remove(job.folder.parent_path(), code);  // where it is empty
  return store.remove_run(job.run);
}

Result<std::optional<ClusterJob>> find_job(const fs::path& output_dir, std::string_view run) {
  if (!is_run_id(run)) return std::optional<ClusterJob>();  // of a store that is anybody's: a path
  ClusterJob job{.folder = folder_of_job(output_dir, run), .run = std::string(run)};
  std::error_code code;
  while (job.tasks < most_tasks && fs::is_directory(job.store_of(job.tasks + 1), code)) ++job.tasks;
  if (job.tasks == 0) return std::optional<ClusterJob>();
  std::ifstream stream(job.folder / "ids");
  for (std::string id; std::getline(stream, id);) {
    const bool is_number =
        !id.empty() && id.size() < 20 && std::ranges::all_of(id, [](char c) { return c >= '0' && c <= '9'; });
    const bool is_new = std::ranges::find(job.ids, id) == job.ids.end();  // every task of the job writes it
    if (is_number && is_new) job.ids.push_back(id);
  }
  return std::optional(std::move(job));
}

Result<Done> note_id(ClusterJob& job, std::string id) {
  const fs::path file = job.folder / "ids";
  std::ofstream stream(file, std::ios::app);
  stream << id << '\n' << std::flush;
  job.ids.push_back(std::move(id));
  if (stream.good()) return Done{};
  return io_error(
      fmt::format("cannot write '{}'; the job {} was submitted", printable(file.string(), 500), job.ids.back()));
}

void remember_script(const ClusterJob& job, std::string_view script, const fs::path& cache) {
  std::error_code code;
  fs::create_directories(file_of_digest(job, cache).parent_path(), code);
  std::ofstream(file_of_digest(job, cache)) << sha256_of_text(script) << '\n';
}

bool has_own_script(const ClusterJob& job, const fs::path& cache) {
  std::ifstream digest(file_of_digest(job, cache));
  std::string known;
  return std::getline(digest, known) && known == sha256_of_text(whole_file(job.folder / "job.sh"));
}

Result<Collected> collect(Store& store, RunRecord& record, const ClusterJob& job, const std::set<int>& running) {
  for (int task = 1; task <= job.tasks; ++task) {
    if (running.contains(task)) continue;
    INFERMETER_TRY(auto own, Store::open(job.store_of(task) / "infermeter.db", Store::Mode::write_if_possible));
    INFERMETER_TRY(const RunRecord part, own.load_run(job.run));
    INFERMETER_TRY_DONE(check_same(record, part, task, job));
    Joining joining(store, record, task);
    INFERMETER_TRY_DONE(store.together([&] { return joining(part); }));
  }
  INFERMETER_TRY(record, store.load_run(record.id));
  if (record.plan.tuning) {
    RaceValues values;
    const bool ended = !judge_race(record, values).next;
    return Collected{.blocks = 1, .whole = ended ? 1 : 0, .missing = ended ? std::vector<int>{} : std::vector{1}};
  }
  const std::vector<int> whole = whole_blocks(record);
  Collected collected{.blocks = record.plan.processes, .whole = static_cast<int>(whole.size())};
  std::set<int> missing;
  for (int block = 0; block < record.plan.processes; ++block)
    if (!std::ranges::binary_search(whole, block)) missing.insert(shard_of_block(record.plan, block, job.tasks));
  collected.missing.assign(missing.begin(), missing.end());
  return collected;
}

Result<std::vector<std::string>> allowing_flags(const RunRecord& record) {
  std::vector<std::string> flags;
  Plan asked;
  asked.sandbox = record.plan.sandbox;
  if (is_weaker(record.plan.sandbox, Plan().sandbox))
    flags.insert(flags.end(), {"--sandbox", std::string(to_string(record.plan.sandbox))});
  if (check_own_plan(record, asked).ok()) return flags;
  asked.allow_code = true;
  if (check_own_plan(record, asked).ok()) {
    flags.emplace_back("--allow-code");
    return flags;
  }
  return usage_error(
      "--env names variables by which code can come, and a job would carry them in a file: set them in the environment "
      "that the job is submitted from");
}

}  // namespace infermeter
