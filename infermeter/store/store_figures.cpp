// The figures of a history: one row for each run, subject and metric.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "infermeter/samples/samples_json.hpp"
#include "infermeter/store/store_impl.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {
namespace {

constexpr std::size_t runs_per_transaction = 100;

std::optional<double> low_of(const Figure& figure) {
  return figure.interval ? std::optional(figure.interval->low) : std::nullopt;
}
std::optional<double> high_of(const Figure& figure) {
  return figure.interval ? std::optional(figure.interval->high) : std::nullopt;
}

Result<Done> insert_figure(const Database& database, std::string_view table, const Figure& figure) {
  return database.run(insert_into(figures_table, table), std::string_view(figure.run), figure.subject,
                      std::string_view(figure.metric), std::string_view(figure.series),
                      std::string_view(figure.machine), figure.created_at, std::string_view(figure.label), figure.value,
                      low_of(figure), high_of(figure), figure.processes, std::string_view(figure.runtime_version),
                      std::string_view(figure.model_sha256), std::string_view(figure.git_commit),
                      std::string_view(figure.infermeter_version), figure.disturbed);
}

Figure figure_in(const Statement& row) {
  Figure figure;
  figure.run = row.text(0);
  figure.subject = static_cast<int>(row.integer(1));
  figure.metric = row.text(2);
  figure.series = row.text(3);
  figure.machine = row.text(4);
  figure.created_at = row.real(5);
  figure.label = row.text(6);
  figure.value = row.real(7);
  if (!row.is_null(8) && !row.is_null(9)) figure.interval = Interval{.low = row.real(8), .high = row.real(9)};
  figure.processes = static_cast<int>(row.integer(10));
  figure.runtime_version = row.text(11);
  figure.model_sha256 = row.text(12);
  figure.git_commit = row.text(13);
  figure.infermeter_version = row.text(14);
  figure.disturbed = static_cast<int>(row.integer(15));
  return figure;
}

// With the order in which they came: runs that began in the same second have no other.
std::string source_of(bool has_unkept) {
  return has_unkept
             ? "(SELECT *, rowid AS place FROM figures UNION ALL SELECT *, rowid FROM temp.unkept_figures) AS kept"
             : "(SELECT *, rowid AS place FROM figures) AS kept";
}

// `columns` of the rows that the query wants. Every parameter is named whether it restricts or not: they are always
// bound, and an index serves those that do.
Result<Statement> select_figures(const Database& database, std::string_view columns, std::string_view source,
                                 const FigureQuery& query, std::string_view tail) {
  return database.prepare(
      fmt::format("SELECT {} FROM {} WHERE metric = ?1 AND created_at >= ?2 AND {} AND {} {}", columns, source,
                  query.series ? "series = ?3" : "?3 = ''", query.machine ? "machine = ?4" : "?4 = ''", tail),
      std::string_view(query.metric), query.since, std::string_view(query.series ? *query.series : std::string_view()),
      std::string_view(query.machine ? *query.machine : std::string_view()));
}

// `which`: a condition.
Result<std::vector<std::string>> runs_without_figures(const Database& database, std::string_view which) {
  INFERMETER_TRY(auto statement,
                 database.prepare(fmt::format("SELECT id FROM runs WHERE finished = 1 AND has_figures = 0 "
                                              "AND {} ORDER BY created_at, rowid",
                                              which)));
  std::vector<std::string> runs;
  while (true) {
    INFERMETER_TRY(const bool row, statement.step());
    if (!row) return runs;
    runs.push_back(statement.text(0));
  }
}

struct RunFigures {
  std::string run;
  std::vector<Figure> figures;
};

// Of the runs that can be read; the others are noted.
std::vector<RunFigures> compute(Store& store, std::span<const std::string> runs, Store::Completion& completion) {
  std::vector<RunFigures> computed;
  for (const std::string& run : runs) {
    const auto record = store.load_run(run);
    if (record.ok()) {
      computed.push_back({run, figures_of(*record, judge(*record))});
    } else {
      completion.unreadable.push_back(run);
    }
  }
  completion.completed += static_cast<int>(computed.size());
  return computed;
}

}  // namespace

Result<Done> Store::Impl::write_figures(std::string_view run, std::span<const Figure> figures) const {
  INFERMETER_TRY_DONE(database().run("DELETE FROM figures WHERE run = ?1", run));
  for (const Figure& figure : figures) INFERMETER_TRY_DONE(insert_figure(database(), "figures", figure));
  return database().run("UPDATE runs SET has_figures = 1 WHERE id = ?1", run);
}

// A store that cannot be written still has temporary tables, which the database keeps elsewhere.
Result<Done> Store::Impl::keep_aside(std::span<const Figure> figures) {
  if (!has_unkept_figures) {
    INFERMETER_TRY_DONE(database().execute("CREATE TEMP TABLE unkept_figures AS SELECT * FROM figures LIMIT 0"));
    has_unkept_figures = true;
  }
  for (const Figure& figure : figures) INFERMETER_TRY_DONE(insert_figure(database(), "temp.unkept_figures", figure));
  return Done{};
}

Result<Store::Completion> Store::complete_figures() {
  Completion completion;
  if (impl_->has_unkept_figures) return completion;
  const std::string own(impl_->database().own_run());
  for (const bool kept : {true, false}) {
    if (kept && !impl_->writable) continue;
    const std::string which = !impl_->writable ? "1 = 1" : kept ? own : "NOT " + own;
    INFERMETER_TRY(const auto missing, runs_without_figures(impl_->database(), which));
    for (std::span<const std::string> left = missing; !left.empty();) {
      const auto batch = left.first(std::min(left.size(), runs_per_transaction));
      left = left.subspan(batch.size());
      const auto computed = compute(*this, batch, completion);
      if (!kept) {
        for (const auto& [run, figures] : computed) INFERMETER_TRY_DONE(impl_->keep_aside(figures));
        continue;
      }
      INFERMETER_TRY(auto transaction, Transaction::begin(impl_->database()));
      for (const auto& [run, figures] : computed) INFERMETER_TRY_DONE(impl_->write_figures(run, figures));
      INFERMETER_TRY_DONE(transaction.commit());
    }
  }
  return completion;
}

Result<std::vector<Figure>> Store::figures_again(const FigureQuery& query, std::span<const std::string> runs) {
  Completion completion;
  std::vector<Figure> wanted;
  for (auto& [run, figures] : compute(*this, runs, completion)) {
    std::ranges::copy_if(figures, std::back_inserter(wanted), [&](const Figure& figure) {
      return figure.metric == query.metric && figure.created_at >= query.since &&
             figure.series == query.series.value_or(figure.series) &&
             figure.machine == query.machine.value_or(figure.machine);
    });
  }
  if (!completion.unreadable.empty()) return impl_->damaged(completion.unreadable.front(), impl_->changed("a figure"));
  return wanted;
}

Result<std::vector<Figure>> Store::figures(const FigureQuery& query) {
  const std::string columns = fmt::format("{}, {}", fmt::join(figures_table.columns, ", "), is_changed(figures_table));
  const auto changed = static_cast<int>(figures_table.columns.size());
  INFERMETER_TRY(auto statement, select_figures(impl_->database(), columns, source_of(impl_->has_unkept_figures), query,
                                                "ORDER BY series, machine, created_at, place"));
  std::vector<Figure> figures;
  std::set<std::string> damaged;
  while (true) {
    INFERMETER_TRY(const bool row, statement.step());
    if (!row) break;
    figures.push_back(figure_in(statement));
    if (statement.integer(changed) != 0) damaged.insert(figures.back().run);
  }
  if (damaged.empty()) return figures;
  std::erase_if(figures, [&](const Figure& figure) { return damaged.contains(figure.run); });
  INFERMETER_TRY(const auto again, figures_again(query, std::vector<std::string>(damaged.begin(), damaged.end())));
  figures.insert(figures.end(), again.begin(), again.end());
  std::ranges::stable_sort(
      figures, {}, [](const Figure& figure) { return std::tie(figure.series, figure.machine, figure.created_at); });
  return figures;
}

Result<std::vector<SeriesListing>> Store::list_series(const FigureQuery& query) {
  INFERMETER_TRY(auto statement, select_figures(impl_->database(), "DISTINCT machine, series, label",
                                                source_of(impl_->has_unkept_figures), query, ""));
  std::map<std::pair<std::string, std::string>, std::set<std::string>> labels;  // by series and machine
  while (true) {
    INFERMETER_TRY(const bool row, statement.step());
    if (!row) break;
    labels[{statement.text(1), statement.text(0)}].insert(statement.text(2));
  }
  std::vector<SeriesListing> all;
  for (const auto& [key, of_series] : labels)
    all.push_back({.series = key.first, .machine = key.second, .labels = {of_series.begin(), of_series.end()}});
  return all;
}

Result<std::vector<MachineName>> Store::list_machines(const FigureQuery& query) {
  const std::string source = source_of(impl_->has_unkept_figures);
  INFERMETER_TRY(auto statement, select_figures(impl_->database(), "machine, count(DISTINCT run), max(created_at)",
                                                source, query, "GROUP BY machine ORDER BY machine"));
  std::vector<MachineName> machines;
  while (true) {
    INFERMETER_TRY(const bool row, statement.step());
    if (!row) return machines;
    MachineName& machine = machines.emplace_back();
    machine.machine = statement.text(0);
    machine.runs = static_cast<int>(statement.integer(1));
    FigureQuery last = query;
    last.machine = machine.machine;
    last.since = statement.real(2);
    INFERMETER_TRY(auto latest, select_figures(impl_->database(), "(SELECT environment FROM runs WHERE id = run)",
                                               source, last, "ORDER BY run DESC LIMIT 1"));
    INFERMETER_TRY_DONE(latest.step());
    const auto environment = environment_from_json(latest.text(0));
    if (!environment.ok()) continue;  // a name less; the figures stand
    machine.hostname = environment->hostname;
    machine.processor = environment->processor;
  }
}

}  // namespace infermeter
