#include "infermeter/store/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "infermeter/plan/plan_file.hpp"
#include "infermeter/samples/profile_json.hpp"
#include "infermeter/samples/samples_json.hpp"
#include "infermeter/store/record_json.hpp"
#include "infermeter/store/run_name.hpp"
#include "infermeter/store/schema.hpp"
#include "infermeter/store/store_impl.hpp"
#include "infermeter/store/store_open.hpp"
#include "infermeter/verdict/judge.hpp"
#include "infermeter/verdict/self_noise.hpp"

namespace infermeter {
namespace {

constexpr int longest_wait_ms = 30'000;
constexpr int most_damaged_before = 8;  // runs that are passed over, to find one before them

}  // namespace

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const StorePlace& place, Mode mode, const std::atomic<int>* interrupt) {
  const Waiting waiting{.limit_ms = longest_wait_ms, .interrupt = interrupt};
  INFERMETER_TRY(auto opened, place.is_database() ? open_postgres_store(mode, place, waiting)
                                                  : open_sqlite_store(mode, place.file(), waiting));
  return Store(std::make_unique<Impl>(Impl{
      .owned = std::move(opened.database), .name = place.shown(), .flag = place.flag(), .writable = opened.writable}));
}

Result<Store> Store::open(const Plan& plan, Mode mode, const std::atomic<int>* interrupt) {
  INFERMETER_TRY(const StorePlace place, store_place(plan));
  return open(place, mode, interrupt);
}

void Store::have_heard(int interrupts) { impl_->database().have_heard(interrupts); }

Result<Done> Store::together(const std::function<Result<Done>()>& changes) {
  INFERMETER_TRY(auto transaction, Transaction::begin(impl_->database()));
  INFERMETER_TRY_DONE(changes());
  return transaction.commit();
}

Result<Done> Store::Impl::seal_run(std::string_view run) const {
  static const std::string counted = fmt::format(
      "UPDATE runs SET records = {}, trials_done = (SELECT count(*) FROM trials WHERE run = ?1 AND \"end\" <> "
      "'interrupted') WHERE id = ?1",
      count_of_records("?1"));
  static const std::string sealed =
      fmt::format("UPDATE runs SET {}, {} WHERE id = ?1", seal(runs_table), seal(listed_columns));
  if (database().is_shared()) {
    // Others may add records to the run: who counts them holds its row, and sees theirs.
    INFERMETER_TRY_DONE(database().run("SELECT id FROM runs WHERE id = ?1 FOR NO KEY UPDATE", run));
    return database().run(counted, run);
  }
  INFERMETER_TRY_DONE(database().run(counted, run));
  return database().run(sealed, run);
}

Result<Done> Store::begin_run(const RunRecord& record) {
  std::vector<std::string> labels;
  for (const auto& subject : record.plan.subjects) labels.push_back(subject.label);
  INFERMETER_TRY(auto transaction, Transaction::begin(impl_->database()));
  INFERMETER_TRY_DONE(impl_->database().run(
      insert_into(runs_table) + "ON CONFLICT DO NOTHING", std::string_view(record.id), record.created_at,
      record.finished ? 1 : 0, static_cast<std::int64_t>(record.plan.order.size()),
      std::string_view(strings_to_json(labels)), std::string_view(plan_to_json(record.plan)),
      std::string_view(environment_to_json(record.environment)), std::string_view(models_to_json(record.models)),
      std::string_view(diagnostics_to_json(record.diagnostics)), std::string_view(noise_to_json(record.noise)),
      std::string_view(record.part_of), 0));
  if (impl_->database().changed_rows() == 0) {
    return internal_error(fmt::format("run {} is in the store {} already", record.id, impl_->name));
  }
  INFERMETER_TRY_DONE(impl_->seal_run(record.id));
  return transaction.commit();
}

namespace {

// Side trials have a table of their own: no query for trials can take one for evidence.
const SealedTable& table_of(const Samples& trial) {
  return trial.purpose == Purpose::timed ? trials_table : side_trials_table;
}

}  // namespace

// A resumed run measures again what was interrupted, with all that belongs to it; any other trial is never replaced.
Result<Done> Store::Impl::remove_interrupted(std::string_view run, const SealedTable& table,
                                             std::int64_t position) const {
  INFERMETER_TRY_DONE(database().run(
      fmt::format("DELETE FROM {} WHERE run = ?1 AND position = ?2 AND \"end\" = 'interrupted'", table.name), run,
      position));
  if (database().changed_rows() == 0 || &table == &trials_table) return Done{};
  INFERMETER_TRY_DONE(database().run("DELETE FROM profiles WHERE run = ?1 AND position = ?2", run, position));
  INFERMETER_TRY_DONE(database().run("DELETE FROM traces WHERE run = ?1 AND position = ?2", run, position));
  return database().run("DELETE FROM stacks WHERE run = ?1 AND position = ?2", run, position);
}

Result<Done> Store::add_trial(std::string_view run, const Samples& trial) {
  INFERMETER_TRY(auto transaction, Transaction::begin(impl_->database()));
  INFERMETER_TRY_DONE(impl_->remove_interrupted(run, table_of(trial), trial.position));
  INFERMETER_TRY_DONE(impl_->database().run(
      insert_into(table_of(trial)) + "ON CONFLICT DO NOTHING", run, trial.position, trial.subject, trial.process,
      to_string(trial.end), trial.started_at, static_cast<std::int64_t>(trial.iterations()),
      std::string_view(samples_to_json(trial)), doubles_to_bytes(trial.begin_s), doubles_to_bytes(trial.end_s),
      doubles_to_bytes(trial.warmup_begin_s), doubles_to_bytes(trial.warmup_end_s)));
  if (impl_->database().changed_rows() == 0) {
    return internal_error(
        fmt::format("trial {} of run {} is in the store {} already", trial.position, run, impl_->name));
  }
  INFERMETER_TRY_DONE(impl_->seal_run(run));
  return transaction.commit();
}

// One row that belongs to a run, in place of the one that it has.
template <class... Values>
Result<Done> Store::Impl::put(const SealedTable& table, std::string_view key, std::string_view run,
                              const Values&... values) const {
  INFERMETER_TRY(auto transaction, Transaction::begin(database()));
  INFERMETER_TRY_DONE(database().run(fmt::format("{}ON CONFLICT ({}) {}", insert_into(table), key, replace_all(table)),
                                     run, values...));
  INFERMETER_TRY_DONE(seal_run(run));
  return transaction.commit();
}

Result<Done> Store::set_outputs(std::string_view run, const SubjectOutputs& outputs) {
  return impl_->put(outputs_table, "run, subject", run, outputs.subject, outputs.reference,
                    std::string_view(comparison_to_json(outputs.comparison)));
}

Result<Done> Store::set_accuracy(std::string_view run, const SubjectAccuracy& accuracy) {
  return impl_->put(accuracy_table, "run, subject", run, accuracy.subject,
                    std::string_view(accuracy_to_json(accuracy)));
}

Result<Done> Store::add_profile(std::string_view run, const OperatorProfile& profile) {
  INFERMETER_TRY_DONE(
      impl_->put(profiles_table, "run, position", run, profile.position, std::string_view(profile_to_json(profile))));
  if (profile.own_trace.empty()) return Done{};
  return impl_->put(traces_table, "run, position", run, profile.position, std::as_bytes(std::span(profile.own_trace)));
}

Result<Done> Store::add_stacks(std::string_view run, const TrialStacks& stacks) {
  return impl_->put(stacks_table, "run, position, method", run, stacks.position, std::string_view(stacks.method),
                    std::string_view(stacks_to_json(stacks)));
}

Result<Done> Store::set_peaks(std::string_view run, const MachinePeaks& peaks) {
  return impl_->put(peaks_table, "run", run, std::string_view(peaks_to_json(peaks)));
}

Result<Done> Store::keep_output_block(std::string_view run, int subject, std::span<const std::byte> block) {
  return impl_->put(output_blocks_table, "run, subject", run, subject, block);
}

Result<Done> Store::set_models(std::string_view run, const std::vector<ModelFacts>& models) {
  INFERMETER_TRY(auto transaction, Transaction::begin(impl_->database()));
  INFERMETER_TRY_DONE(impl_->database().run("UPDATE runs SET models = ?2 WHERE id = ?1", run,
                                            std::string_view(models_to_json(models))));
  INFERMETER_TRY_DONE(impl_->seal_run(run));
  return transaction.commit();
}

Result<Done> Store::set_environment(std::string_view run, const Environment& environment) {
  INFERMETER_TRY(auto transaction, Transaction::begin(impl_->database()));
  INFERMETER_TRY_DONE(impl_->database().run("UPDATE runs SET environment = ?2 WHERE id = ?1", run,
                                            std::string_view(environment_to_json(environment))));
  INFERMETER_TRY_DONE(impl_->seal_run(run));
  return transaction.commit();
}

Result<Done> Store::remove_trial(std::string_view run, int position) {
  INFERMETER_TRY(auto transaction, Transaction::begin(impl_->database()));
  INFERMETER_TRY_DONE(impl_->database().run("DELETE FROM trials WHERE run = ?1 AND position = ?2", run, position));
  INFERMETER_TRY_DONE(impl_->seal_run(run));
  return transaction.commit();
}

Result<Done> Store::set_diagnostics(std::string_view run, const std::vector<Diagnostic>& diagnostics) {
  INFERMETER_TRY(auto transaction, Transaction::begin(impl_->database()));
  INFERMETER_TRY_DONE(impl_->database().run("UPDATE runs SET diagnostics = ?2 WHERE id = ?1", run,
                                            std::string_view(diagnostics_to_json(diagnostics))));
  INFERMETER_TRY_DONE(impl_->seal_run(run));
  return transaction.commit();
}

Result<Done> Store::finish_run(const RunRecord& record) {
  const std::vector<Figure> figures = record.finished ? figures_of(record, judge(record)) : std::vector<Figure>();
  INFERMETER_TRY(auto transaction, Transaction::begin(impl_->database()));
  INFERMETER_TRY_DONE(impl_->database().run("UPDATE runs SET finished = ?2, diagnostics = ?3 WHERE id = ?1",
                                            std::string_view(record.id), record.finished ? 1 : 0,
                                            std::string_view(diagnostics_to_json(record.diagnostics))));
  if (impl_->database().changed_rows() == 0) {
    return internal_error(fmt::format("run {} is not in the store {}", record.id, impl_->name));
  }
  if (record.finished) {
    INFERMETER_TRY_DONE(impl_->database().run("DELETE FROM output_blocks WHERE run = ?1", std::string_view(record.id)));
    INFERMETER_TRY_DONE(impl_->write_figures(record.id, figures));
    if (const auto noise = self_noise(record)) {
      INFERMETER_TRY_DONE(keep_noise(machine_fingerprint(record.environment), record.id, *noise));
    }
  }
  INFERMETER_TRY_DONE(impl_->seal_run(record.id));
  return transaction.commit();
}

Result<std::optional<std::vector<std::byte>>> Store::output_block(std::string_view run, int subject) {
  INFERMETER_TRY(auto statement, impl_->database().prepare(
                                     fmt::format("SELECT block, {} FROM output_blocks WHERE run = ?1 AND subject = ?2",
                                                 is_changed(output_blocks_table)),
                                     run, subject));
  INFERMETER_TRY(const bool found, statement.step());
  if (!found) return std::optional<std::vector<std::byte>>();
  if (statement.integer(1) != 0) return impl_->damaged(run, impl_->changed("the outputs of a subject"));
  const auto bytes = statement.bytes(0);
  return std::optional(std::vector<std::byte>(bytes.begin(), bytes.end()));
}

namespace {

constexpr std::string_view last_character = "\U0010FFFF";  // in the order of bytes

Result<std::vector<std::string>> ids_in(Statement& statement) {
  std::vector<std::string> ids;
  while (true) {
    INFERMETER_TRY(const bool row, statement.step());
    if (!row) return ids;
    ids.push_back(statement.text(0));
  }
}

}  // namespace

Result<std::string> Store::Impl::find(std::string_view wanted) const {
  INFERMETER_TRY(const auto exact, database().integer("SELECT count(*) FROM runs WHERE id = ?1", wanted));
  if (exact != 0) return std::string(wanted);
  if (wanted != "latest" && wanted != "previous") {  // older stores may have names that mean a run already
    INFERMETER_TRY(const auto run, run_of_baseline(wanted));
    if (run) return *run;
  }
  INFERMETER_TRY(auto newest, database().prepare("SELECT id FROM runs ORDER BY rowid DESC LIMIT 2"));
  INFERMETER_TRY(const auto last, ids_in(newest));
  const std::string end_of_prefix = fmt::format("{}{}", wanted, last_character);
  INFERMETER_TRY(auto begun_so, database().prepare("SELECT id FROM runs WHERE id >= ?1 AND id < ?2 ORDER BY rowid",
                                                   wanted, std::string_view(end_of_prefix)));
  INFERMETER_TRY(const auto matches, ids_in(begun_so));
  return find_run(wanted, last, matches, name);
}

Result<RunRecord> Store::Impl::load_head(const std::string& id) const {
  INFERMETER_TRY(
      auto statement,
      database().prepare(
          fmt::format("SELECT created_at, finished, plan, environment, models, diagnostics, noise, {}, part_of, "
                      "coalesce(records - ({}), 0) FROM runs WHERE id = ?1",
                      is_changed(runs_table), count_of_records("?1")),
          std::string_view(id)));
  INFERMETER_TRY(const bool found, statement.step());
  if (!found) return io_error(fmt::format("run {} has gone from the store {}", id, name));
  if (statement.integer(7) != 0) return changed("what it was started with");
  if (const auto missing = statement.integer(9); missing != 0) {
    return io_error(
        fmt::format("{} of its records {}", std::abs(missing), missing > 0 ? "are missing" : "are too many"));
  }
  RunRecord record{.id = id,
                   .created_at = statement.real(0),
                   .finished = statement.integer(1) != 0,
                   .plan = {},
                   .environment = {},
                   .models = {},
                   .trials = {},
                   .side_trials = {},
                   .outputs = {},
                   .diagnostics = {},
                   .noise = {}};
  record.part_of = statement.text(8);
  INFERMETER_TRY(record.plan, plan_from_json(statement.text(2)));
  INFERMETER_TRY(record.environment, environment_from_json(statement.text(3)));
  INFERMETER_TRY(record.models, models_from_json(statement.text(4)));
  INFERMETER_TRY(record.diagnostics, diagnostics_from_json(statement.text(5)));
  INFERMETER_TRY(record.noise, noise_from_json(statement.text(6)));
  return record;
}

Result<std::vector<Samples>> Store::Impl::load_trials(const std::string& id, const SealedTable& table) const {
  const auto query = fmt::format(
      "SELECT samples, begin_s, end_s, warmup_begin_s, warmup_end_s, {}, position FROM {} WHERE run = ?1 ORDER BY "
      "position",
      is_changed(table), table.name);
  INFERMETER_TRY(auto statement, database().prepare(query, std::string_view(id)));
  std::vector<Samples> trials;
  while (true) {
    INFERMETER_TRY(const bool row, statement.step());
    if (!row) return trials;
    if (statement.integer(5) != 0) return changed(fmt::format("trial {}", statement.integer(6)));
    INFERMETER_TRY(auto trial, samples_from_json(statement.text(0)));
    INFERMETER_TRY(trial.begin_s, doubles_from_bytes(statement.bytes(1)));
    INFERMETER_TRY(trial.end_s, doubles_from_bytes(statement.bytes(2)));
    INFERMETER_TRY(trial.warmup_begin_s, doubles_from_bytes(statement.bytes(3)));
    INFERMETER_TRY(trial.warmup_end_s, doubles_from_bytes(statement.bytes(4)));
    if (trial.begin_s.size() != trial.end_s.size() || trial.warmup_begin_s.size() != trial.warmup_end_s.size()) {
      return io_error(fmt::format("trial {} has unequal numbers of begins and ends", trial.position));
    }
    trials.push_back(std::move(trial));
  }
}

Result<Done> Store::Impl::load_outputs(RunRecord& record) const {
  INFERMETER_TRY(auto statement,
                 database().prepare(fmt::format("SELECT subject, reference, comparison, {} FROM outputs WHERE run = ?1 "
                                                "ORDER BY rowid",
                                                is_changed(outputs_table)),
                                    std::string_view(record.id)));
  while (true) {
    INFERMETER_TRY(const bool row, statement.step());
    if (!row) return Done{};
    if (statement.integer(3) != 0) return changed("a comparison of outputs");
    INFERMETER_TRY(auto comparison, comparison_from_json(statement.text(2)));
    record.outputs.push_back({.subject = static_cast<int>(statement.integer(0)),
                              .reference = static_cast<int>(statement.integer(1)),
                              .comparison = std::move(comparison)});
  }
}

Result<Done> Store::Impl::load_accuracy(RunRecord& record) const {
  INFERMETER_TRY(auto statement,
                 database().prepare(fmt::format("SELECT accuracy, {} FROM accuracy WHERE run = ?1 ORDER BY subject",
                                                is_changed(accuracy_table)),
                                    std::string_view(record.id)));
  while (true) {
    INFERMETER_TRY(const bool row, statement.step());
    if (!row) return Done{};
    if (statement.integer(1) != 0) return changed("an accuracy");
    INFERMETER_TRY(auto accuracy, accuracy_from_json(statement.text(0)));
    record.accuracy.push_back(std::move(accuracy));
  }
}

Result<Done> Store::Impl::load_traces(RunRecord& record) const {
  INFERMETER_TRY(
      auto statement,
      database().prepare(fmt::format("SELECT position, trace, {} FROM traces WHERE run = ?1 ORDER BY position",
                                     is_changed(traces_table)),
                         std::string_view(record.id)));
  while (true) {
    INFERMETER_TRY(const bool row, statement.step());
    if (!row) return Done{};
    if (statement.integer(2) != 0) return changed("a profiler's trace");
    const auto profile = std::ranges::find(record.profiles, statement.integer(0), &OperatorProfile::position);
    if (profile == record.profiles.end()) continue;
    const auto bytes = statement.bytes(1);
    profile->own_trace.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
}

Result<Done> Store::Impl::load_profiles(RunRecord& record) const {
  INFERMETER_TRY(auto statement,
                 database().prepare(fmt::format("SELECT profile, {} FROM profiles WHERE run = ?1 ORDER BY position",
                                                is_changed(profiles_table)),
                                    std::string_view(record.id)));
  while (true) {
    INFERMETER_TRY(const bool row, statement.step());
    if (!row) break;
    if (statement.integer(1) != 0) return changed("a profile");
    INFERMETER_TRY(auto profile, profile_from_json(statement.text(0)));
    record.profiles.push_back(std::move(profile));
  }
  INFERMETER_TRY_DONE(load_traces(record));
  INFERMETER_TRY(auto sampled, database().prepare(
                                   fmt::format("SELECT stacks, {} FROM stacks WHERE run = ?1 ORDER BY position, method",
                                               is_changed(stacks_table)),
                                   std::string_view(record.id)));
  while (true) {
    INFERMETER_TRY(const bool row, sampled.step());
    if (!row) break;
    if (sampled.integer(1) != 0) return changed("a profile's stacks");
    INFERMETER_TRY(auto stacks, stacks_from_json(sampled.text(0)));
    record.stacks.push_back(std::move(stacks));
  }
  INFERMETER_TRY(auto peaks,
                 database().prepare(fmt::format("SELECT peaks, {} FROM peaks WHERE run = ?1", is_changed(peaks_table)),
                                    std::string_view(record.id)));
  INFERMETER_TRY(const bool measured, peaks.step());
  if (!measured) return Done{};
  if (peaks.integer(1) != 0) return changed("what the machine does at best");
  INFERMETER_TRY(record.peaks, peaks_from_json(peaks.text(0)));
  return Done{};
}

Result<RunRecord> Store::load_run(std::string_view run) {
  INFERMETER_TRY(const auto snapshot, Transaction::begin_reading(impl_->database()));
  INFERMETER_TRY(const auto id, impl_->find(run));
  auto record = impl_->load_head(id);
  if (!record.ok()) return impl_->damaged(id, record.error());
  auto trials = impl_->load_trials(id, trials_table);
  if (!trials.ok()) return impl_->damaged(id, trials.error());
  record->trials = std::move(trials).value();
  for (const Samples& trial : record->trials) {
    const auto subject = static_cast<std::size_t>(trial.subject);
    if (subject < record->models.size()) take_reported_size(record->models[subject], trial);
  }
  auto side_trials = impl_->load_trials(id, side_trials_table);
  if (!side_trials.ok()) return impl_->damaged(id, side_trials.error());
  record->side_trials = std::move(side_trials).value();
  if (auto outputs = impl_->load_outputs(*record); !outputs.ok()) return impl_->damaged(id, outputs.error());
  if (auto accuracy = impl_->load_accuracy(*record); !accuracy.ok()) return impl_->damaged(id, accuracy.error());
  if (auto profiles = impl_->load_profiles(*record); !profiles.ok()) return impl_->damaged(id, profiles.error());
  return record;
}

namespace {

using Place = std::pair<std::int64_t, std::size_t>;  // rowid, and where it was read

// An index gives them in another order.
std::vector<RunListing> as_they_came(std::vector<RunListing> runs, std::vector<Place> places) {
  std::ranges::sort(places);
  std::vector<RunListing> ordered;
  ordered.reserve(runs.size());
  for (const auto& [rowid, index] : places) ordered.push_back(std::move(runs[index]));
  return ordered;
}

}  // namespace

Result<std::vector<RunListing>> Store::list_runs() {
  INFERMETER_TRY(const auto snapshot, Transaction::begin_reading(impl_->database()));
  INFERMETER_TRY(auto statement, impl_->database().prepare(fmt::format(
                                     "SELECT id, created_at, finished, trials_planned, labels, trials_done, "
                                     "{}, part_of, rowid FROM runs",
                                     is_changed(listed_columns))));
  std::vector<RunListing> runs;
  std::vector<Place> places;
  std::optional<std::string> read;  // labels, which many runs share
  std::vector<std::string> labels;
  while (true) {
    INFERMETER_TRY(const bool row, statement.step());
    if (!row) break;
    RunListing run{.id = statement.text(0),
                   .created_at = statement.real(1),
                   .finished = statement.integer(2) != 0,
                   .trials_done = static_cast<int>(statement.integer(5)),
                   .trials_planned = static_cast<int>(statement.integer(3)),
                   .labels = {},
                   .part_of = statement.text(7)};
    if (auto text = statement.text(4); text != read) {
      auto parsed = strings_from_json(text);
      labels.clear();
      read.reset();
      if (parsed.ok()) {
        read = std::move(text);
        labels = std::move(parsed).value();
      } else {
        run.damage = impl_->damaged(run.id, parsed.error()).message;
      }
    }
    if (statement.integer(6) != 0)
      run.damage = impl_->damaged(run.id, impl_->changed("what it was started with")).message;
    run.labels = labels;
    places.emplace_back(statement.integer(8), runs.size());
    runs.push_back(std::move(run));
  }
  runs = as_they_came(std::move(runs), std::move(places));
  INFERMETER_TRY_DONE(impl_->add_marks(runs));
  return runs;
}

Result<std::optional<RunRecord>> Store::earlier_run(const RunRecord& run) {
  std::vector<std::string> labels;
  for (const Subject& subject : run.plan.subjects) labels.push_back(subject.label);
  INFERMETER_TRY(auto statement,
                 impl_->database().prepare(fmt::format("SELECT id FROM runs WHERE finished = 1 AND labels = ?1 AND "
                                                       "created_at < ?2 ORDER BY created_at DESC, rowid DESC LIMIT {}",
                                                       most_damaged_before),
                                           std::string_view(strings_to_json(labels)), run.created_at));
  INFERMETER_TRY(const auto ids, ids_in(statement));
  for (const std::string& id : ids) {
    auto record = load_run(id);
    if (record.ok()) return std::optional<RunRecord>(std::move(*record));
  }
  return std::optional<RunRecord>();
}

}  // namespace infermeter
