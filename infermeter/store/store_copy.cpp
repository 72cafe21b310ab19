// Runs of one store in another: rows as they are, so that reports are the same to the byte.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "infermeter/plan/plan_file.hpp"
#include "infermeter/store/store_impl.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

using StoredValue = std::variant<std::monostate, std::int64_t, double, std::string, std::vector<std::byte>>;
using StoredRow = std::vector<StoredValue>;  // a value per column of its table

StoredValue value_in(const Statement& row, int column) {
  switch (row.kind(column)) {
    case ValueKind::null: return std::monostate();
    case ValueKind::integer: return row.integer(column);
    case ValueKind::real: return row.real(column);
    case ValueKind::text: return row.text(column);
    case ValueKind::bytes: {
      const auto bytes = row.bytes(column);
      return std::vector<std::byte>(bytes.begin(), bytes.end());
    }
  }
  return std::monostate();
}

void bind_value(Statement& statement, int index, const StoredValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    statement.bind(index, *integer);
  } else if (const auto* real = std::get_if<double>(&value)) {
    statement.bind(index, *real);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    statement.bind(index, std::string_view(*text));
  } else if (const auto* bytes = std::get_if<std::vector<std::byte>>(&value)) {
    statement.bind(index, std::span<const std::byte>(*bytes));
  } else {
    statement.bind_null(index);
  }
}

std::size_t index_of(const SealedTable& table, std::string_view column) {
  return static_cast<std::size_t>(std::ranges::find(table.columns, column) - table.columns.begin());
}

// `key`: the column that names the run. Nothing if a row is not as it was written.
Result<std::optional<std::vector<StoredRow>>> rows_of(const Database& database, const SealedTable& table,
                                                      std::string_view run, std::string_view key = "run") {
  INFERMETER_TRY(auto statement,
                 database.prepare(fmt::format("SELECT {}, {} FROM {} WHERE {} = ?1 ORDER BY rowid",
                                              fmt::join(table.columns, ", "), is_changed(table), table.name, key),
                                  run));
  const auto changed = static_cast<int>(table.columns.size());
  std::vector<StoredRow> rows;
  while (true) {
    INFERMETER_TRY(const bool found, statement.step());
    if (!found) return std::optional(std::move(rows));
    if (statement.integer(changed) != 0) return std::optional<std::vector<StoredRow>>();
    StoredRow& row = rows.emplace_back();
    for (int column = 0; column < changed; ++column) row.push_back(value_in(statement, column));
  }
}

// How many rows it made or changed: 1 or 0.
Result<std::int64_t> insert_row(const Database& database, const SealedTable& table, const StoredRow& row,
                                const std::string& on_conflict = "DO NOTHING") {
  INFERMETER_TRY(auto statement, database.prepare(insert_into(table) + "ON CONFLICT " + on_conflict));
  for (std::size_t i = 0; i < row.size(); ++i) bind_value(statement, static_cast<int>(i) + 1, row[i]);
  INFERMETER_TRY_DONE(statement.step());
  return database.changed_rows();
}

// What else belongs to a run, and the columns that tell its rows apart.
struct Belonging {
  const SealedTable& table;
  std::string_view key;
};
const std::array<Belonging, 6> belongings = {{{outputs_table, "run, subject"},
                                              {accuracy_table, "run, subject"},
                                              {profiles_table, "run, position"},
                                              {stacks_table, "run, position, method"},
                                              {traces_table, "run, position"},
                                              {peaks_table, "run"}}};

// Never changed after a run was begun. Its environment is, by the nodes of a cluster that are taken in.
constexpr std::array<std::string_view, 3> columns_of_begin = {"created_at", "trials_planned", "labels"};

// Which folder the CSV is written to may change when a run is resumed.
bool is_same_plan(const StoredValue& one, const StoredValue& other) {
  if (one == other) return true;
  const auto* a = std::get_if<std::string>(&one);
  const auto* b = std::get_if<std::string>(&other);
  if (a == nullptr || b == nullptr) return false;
  auto plan = plan_from_json(*a), planned = plan_from_json(*b);
  if (!plan.ok() || !planned.ok()) return false;
  plan->output_dir = planned->output_dir;
  return plan_to_json(*plan) == plan_to_json(*planned);
}

// One run on its way.
class RunCopy {
 public:
  RunCopy(const Database& from, std::string_view from_name, const Database& to, std::string_view to_name,
          std::string_view run)
      : from_(from), to_(to), from_name_(from_name), to_name_(to_name), run_(run) {}

  // Whether it changed anything; the caller seals the run then.
  Result<bool> operator()(const std::function<Result<Done>(const SealedTable&, std::int64_t)>& remove_interrupted) {
    INFERMETER_TRY_DONE(head());
    INFERMETER_TRY_DONE(trials(trials_table, remove_interrupted));
    INFERMETER_TRY_DONE(trials(side_trials_table, remove_interrupted));
    if (is_there_ && there_is_finished_) {
      if (changes_ == 0) return false;
      return refuse("it is finished there, with fewer trials");
    }
    for (const auto& [table, key] : belongings) {
      // What was compared or paired again with more trials takes the place of what was.
      INFERMETER_TRY_DONE(
          all_rows(table, changes_ > 0 ? fmt::format("({}) {}", key, replace_all(table)) : "DO NOTHING"));
    }
    if (!is_there_) {
      INFERMETER_TRY_DONE(all_rows(tags_table, "DO NOTHING"));
      INFERMETER_TRY_DONE(all_rows(notes_table, "DO NOTHING"));
    }
    if (!is_finished_) INFERMETER_TRY_DONE(all_rows(output_blocks_table, "DO NOTHING"));
    if (is_finished_ || changes_ > 0) INFERMETER_TRY_DONE(take_state());
    return changes_ > 0;
  }

  [[nodiscard]] bool is_there() const { return is_there_; }

 private:
  [[nodiscard]] Error refuse(std::string_view why) const {
    return io_error(
        fmt::format("run {} cannot be copied from {} to {}: {}", printable(run_), from_name_, to_name_, why));
  }

  Result<std::vector<StoredRow>> rows(const Database& database, const SealedTable& table,
                                      std::string_view key = "run") const {
    INFERMETER_TRY(auto found, rows_of(database, table, run_, key));
    if (found) return std::move(*found);
    return refuse(fmt::format("a row of {} was changed after it was written: its checksum is wrong", table.name));
  }

  Result<Done> head() {
    INFERMETER_TRY(const auto ours, rows(from_, runs_table, "id"));
    if (ours.size() != 1) return refuse("it is not there any more");
    head_ = ours.front();
    is_finished_ = head_[index_of(runs_table, "finished")] != StoredValue(std::int64_t{0});
    INFERMETER_TRY(const auto theirs, rows(to_, runs_table, "id"));
    is_there_ = !theirs.empty();
    if (is_there_) {
      for (const auto column : columns_of_begin) {
        const auto i = index_of(runs_table, column);
        if (head_[i] != theirs.front()[i])
          return refuse(fmt::format("another run has this id there ({} differs)", column));
      }
      const auto plan = index_of(runs_table, "plan");
      if (!is_same_plan(head_[plan], theirs.front()[plan]))
        return refuse("another run has this id there (plan differs)");
      there_is_finished_ = theirs.front()[index_of(runs_table, "finished")] != StoredValue(std::int64_t{0});
      return Done{};
    }
    StoredRow row = head_;
    row[index_of(runs_table, "records")] = std::int64_t{0};  // counted when it is sealed
    return add(runs_table, row, "DO NOTHING");
  }

  Result<Done> trials(const SealedTable& table,
                      const std::function<Result<Done>(const SealedTable&, std::int64_t)>& remove_interrupted) {
    const auto position = index_of(table, "position"), end = index_of(table, "\"end\"");
    const StoredValue interrupted = std::string("interrupted");
    INFERMETER_TRY(const auto ours, rows(from_, table));
    INFERMETER_TRY(const auto theirs, rows(to_, table));
    std::map<StoredValue, const StoredRow*> there;
    for (const StoredRow& row : theirs) there[row[position]] = &row;
    for (const StoredRow& row : ours) {
      const auto found = there.find(row[position]);
      if (found != there.end()) {
        if (*found->second == row || row[end] == interrupted) continue;
        const auto place = std::get_if<std::int64_t>(&row[position]);
        const std::int64_t number = place == nullptr ? 0 : *place;
        if ((*found->second)[end] != interrupted)
          return refuse(fmt::format("its trial {} is another one there", number));
        INFERMETER_TRY_DONE(remove_interrupted(table, number));
      }
      INFERMETER_TRY_DONE(add(table, row, "DO NOTHING"));
    }
    return Done{};
  }

  Result<Done> all_rows(const SealedTable& table, const std::string& on_conflict) {
    INFERMETER_TRY(const auto ours, rows(from_, table));
    for (const StoredRow& row : ours) INFERMETER_TRY_DONE(add(table, row, on_conflict));
    return Done{};
  }

  Result<Done> add(const SealedTable& table, const StoredRow& row, const std::string& on_conflict) {
    INFERMETER_TRY(const auto added, insert_row(to_, table, row, on_conflict));
    changes_ += added;
    return Done{};
  }

  // What changes while a run is measured, and what follows from its end.
  Result<Done> take_state() {
    INFERMETER_TRY(auto update,
                   to_.prepare("UPDATE runs SET finished = ?2, models = ?3, diagnostics = ?4, environment = ?5 "
                               "WHERE id = ?1",
                               run_));
    int index = 1;
    for (const std::string_view column : {"finished", "models", "diagnostics", "environment"}) {
      bind_value(update, ++index, head_[index_of(runs_table, column)]);
    }
    INFERMETER_TRY_DONE(update.step());
    if (!is_finished_) return Done{};
    ++changes_;
    INFERMETER_TRY_DONE(to_.run("DELETE FROM output_blocks WHERE run = ?1", run_));
    INFERMETER_TRY_DONE(all_rows(figures_table, "DO NOTHING"));
    INFERMETER_TRY_DONE(all_rows(machine_noise_table, "DO NOTHING"));
    INFERMETER_TRY(const auto has_figures, from_.integer("SELECT has_figures FROM runs WHERE id = ?1", run_));
    return to_.run("UPDATE runs SET has_figures = ?2 WHERE id = ?1", run_, has_figures);
  }

  const Database& from_;
  const Database& to_;
  std::string_view from_name_, to_name_, run_;
  StoredRow head_;
  bool is_there_ = false, is_finished_ = false, there_is_finished_ = false;
  std::int64_t changes_ = 0;
};

}  // namespace

bool Store::is_lost() const { return impl_->database().is_lost(); }

// In a transaction of the caller's: what was done, and not sealed yet.
Result<Copied> Store::copy_rows(Store& from, std::string_view id) {
  INFERMETER_TRY(const auto moment, Transaction::begin_reading(from.impl_->database()));
  RunCopy copy(from.impl_->database(), from.impl_->name, impl_->database(), impl_->name, id);
  INFERMETER_TRY(const bool changed, copy([&](const SealedTable& table, std::int64_t position) {
                   return impl_->remove_interrupted(id, table, position);
                 }));
  if (!changed) return Copied::there_already;
  return copy.is_there() ? Copied::extended : Copied::whole;
}

bool Store::has_all_of(Store& from, std::string_view id) {
  const auto rolled_back = Transaction::begin(impl_->database());
  if (!rolled_back.ok()) return false;
  const auto copied = copy_rows(from, id);
  return copied.ok() && *copied == Copied::there_already;
}

Result<Copied> Store::copy_run(Store& from, std::string_view id) {
  INFERMETER_TRY(auto transaction, Transaction::begin(impl_->database()));
  INFERMETER_TRY(const Copied copied, copy_rows(from, id));
  if (copied == Copied::there_already) return copied;
  INFERMETER_TRY_DONE(impl_->seal_run(id));
  INFERMETER_TRY_DONE(transaction.commit());
  return copied;
}

Result<std::vector<Baseline>> Store::copy_baselines(Store& from, std::span<const std::string> refused) {
  INFERMETER_TRY(const auto theirs, from.baselines());
  INFERMETER_TRY(auto transaction, Transaction::begin(impl_->database()));
  INFERMETER_TRY(const auto ours, baselines());
  std::vector<Baseline> left;
  for (const Baseline& baseline : theirs) {
    if (!baseline.damage.empty() || std::ranges::find(refused, baseline.run) != refused.end()) continue;
    const auto named = std::ranges::find(ours, baseline.name, &Baseline::name);
    if (named != ours.end() && named->run != baseline.run) left.push_back(baseline);
    INFERMETER_TRY(const auto has_run, impl_->database().integer("SELECT count(*) FROM runs WHERE id = ?1",
                                                                 std::string_view(baseline.run)));
    if (named != ours.end() || has_run == 0) continue;
    INFERMETER_TRY_DONE(impl_->database().run(insert_into(baselines_table), std::string_view(baseline.name),
                                              std::string_view(baseline.run), baseline.set_at));
  }
  INFERMETER_TRY_DONE(transaction.commit());
  return left;
}

Result<Done> Store::keep_so_far(const RunRecord& record) {
  return together([&]() -> Result<Done> {
    INFERMETER_TRY(const auto is_there,
                   impl_->database().integer("SELECT count(*) FROM runs WHERE id = ?1", std::string_view(record.id)));
    if (is_there == 0) {
      RunRecord begun = record;
      begun.finished = false;
      INFERMETER_TRY_DONE(begin_run(begun));
    }
    INFERMETER_TRY(const RunRecord kept, load_run(record.id));
    const auto add_new = [&](const std::vector<Samples>& trials, const std::vector<Samples>& there) -> Result<Done> {
      for (const Samples& trial : trials) {
        const auto found = std::ranges::find(there, trial.position, &Samples::position);
        if (found == there.end() || found->end == TrialEnd::interrupted)
          INFERMETER_TRY_DONE(add_trial(record.id, trial));
      }
      return Done{};
    };
    INFERMETER_TRY_DONE(add_new(record.trials, kept.trials));
    INFERMETER_TRY_DONE(add_new(record.side_trials, kept.side_trials));
    for (const SubjectOutputs& outputs : record.outputs) INFERMETER_TRY_DONE(set_outputs(record.id, outputs));
    for (const SubjectAccuracy& accuracy : record.accuracy) INFERMETER_TRY_DONE(set_accuracy(record.id, accuracy));
    for (const OperatorProfile& profile : record.profiles) INFERMETER_TRY_DONE(add_profile(record.id, profile));
    for (const TrialStacks& stacks : record.stacks) INFERMETER_TRY_DONE(add_stacks(record.id, stacks));
    if (record.peaks) INFERMETER_TRY_DONE(set_peaks(record.id, *record.peaks));
    INFERMETER_TRY_DONE(set_models(record.id, record.models));
    return set_diagnostics(record.id, record.diagnostics);
  });
}

}  // namespace infermeter
