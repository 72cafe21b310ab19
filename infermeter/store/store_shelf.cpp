// What runs are compared with: named baselines and the noise of machines.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/plan/quantity.hpp"
#include "infermeter/store/store_impl.hpp"
#include "infermeter/text/nearest.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr std::size_t longest_name = 100;

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// U+0080 to U+009F, which are 0xc2 0x80 to 0xc2 0x9f in UTF-8.
bool has_c1_control(std::string_view text) {
  return std::ranges::adjacent_find(text, [](char lead, char next) {
           return static_cast<unsigned char>(lead) == 0xc2 && static_cast<unsigned char>(next) < 0xa0;
         }) != text.end();
}

Result<Done> check_name(std::string_view name) {
  if (name.empty()) return usage_error("a baseline's name cannot be empty");
  if (name.size() > longest_name) {
    return usage_error(
        fmt::format("a baseline's name has at most {} bytes, this one has {}", longest_name, name.size()));
  }
  if (!is_utf8(name)) return usage_error("a baseline's name is UTF-8 text, this one is not");
  if (std::ranges::any_of(name, is_control) || has_c1_control(name)) {
    return usage_error("a baseline's name contains no control characters, this one does");
  }
  return Done{};
}

// Wherever a run is named these mean something else, and a baseline of that name would be another run in some places.
Result<Done> check_meaning(const Database& database, std::string_view name) {
  if (name == "latest" || name == "previous" || name.ends_with(".json")) {
    return usage_error(fmt::format(
        "'{}' means something else where a run is named (the latest run, the one before it, a report's file): give "
        "the baseline another name",
        name));
  }
  INFERMETER_TRY(auto statement, database.prepare("SELECT 1 FROM runs WHERE substr(id, 1, length(?1)) = ?1", name));
  INFERMETER_TRY(const bool is_of_id, statement.step());
  if (is_of_id) {
    return usage_error(fmt::format("a run's id begins with '{}': give the baseline a name that is not a run's", name));
  }
  return Done{};
}

constexpr std::string_view columns_of_baseline = "name, run, set_at";

Error unknown_baseline(std::string_view name, const std::vector<Baseline>& baselines, std::string_view store) {
  std::vector<std::string> names;
  for (const Baseline& baseline : baselines) names.push_back(baseline.name);
  const auto near = nearest_name(name, names);
  return usage_error(
      fmt::format("there is no baseline '{}'{} in the store {}: `infermeter baseline set NAME RUN` makes "
                  "one",
                  name.substr(0, longest_name), near ? fmt::format(" (did you mean '{}'?)", *near) : "", store));
}

}  // namespace

Result<Baseline> Store::set_baseline(std::string_view name, std::string_view run, double set_at) {
  INFERMETER_TRY_DONE(check_name(name));
  INFERMETER_TRY(auto transaction, Transaction::begin(impl_->database()));
  INFERMETER_TRY(const auto id, impl_->find(run));
  INFERMETER_TRY_DONE(check_meaning(impl_->database(), name));
  INFERMETER_TRY(auto statement,
                 impl_->database().prepare("SELECT finished FROM runs WHERE id = ?1", std::string_view(id)));
  INFERMETER_TRY_DONE(statement.step());
  if (statement.integer(0) == 0) {
    return usage_error(fmt::format(
        "run {} is not finished, so that it can be no baseline: `infermeter run --resume {}` finishes it", id, id));
  }
  INFERMETER_TRY_DONE(
      impl_->database().run(insert_into(baselines_table) + "ON CONFLICT (name) " + replace_all(baselines_table), name,
                            std::string_view(id), set_at));
  INFERMETER_TRY_DONE(transaction.commit());
  return Baseline{.name = std::string(name), .run = id, .set_at = set_at, .damage = ""};
}

Result<std::vector<Baseline>> Store::baselines() {
  INFERMETER_TRY(auto statement,
                 impl_->database().prepare(fmt::format("SELECT {}, {} FROM baselines ORDER BY name",
                                                       columns_of_baseline, is_changed(baselines_table))));
  std::vector<Baseline> baselines;
  while (true) {
    INFERMETER_TRY(const bool row, statement.step());
    if (!row) return baselines;
    baselines.push_back(impl_->baseline_in(statement));
  }
}

Baseline Store::Impl::baseline_in(const Statement& row) const {
  Baseline baseline{.name = row.text(0), .run = row.text(1), .set_at = row.real(2), .damage = ""};
  if (row.integer(3) != 0) {
    baseline.damage = fmt::format("baseline {} in the store {} is damaged: {} (`infermeter baseline set` replaces it)",
                                  printable(baseline.name, longest_name), name, changed("it").message);
  }
  return baseline;
}

Result<std::optional<std::string>> Store::Impl::run_of_baseline(std::string_view named) const {
  INFERMETER_TRY(auto statement, database().prepare(fmt::format("SELECT {}, {} FROM baselines WHERE name = ?1",
                                                                columns_of_baseline, is_changed(baselines_table)),
                                                    named));
  INFERMETER_TRY(const bool found, statement.step());
  if (!found) return std::optional<std::string>();
  Baseline baseline = baseline_in(statement);
  if (!baseline.damage.empty()) return io_error(baseline.damage);
  return std::optional(std::move(baseline.run));
}

Result<std::string> Store::baseline_run(std::string_view name) {
  INFERMETER_TRY(const auto run, impl_->run_of_baseline(name));
  if (run) return *run;
  INFERMETER_TRY(const auto all, baselines());
  return unknown_baseline(name, all, impl_->name);
}

Result<Done> Store::remove_baseline(std::string_view name) {
  INFERMETER_TRY(auto transaction, Transaction::begin(impl_->database()));
  if (const auto run = baseline_run(name); !run.ok() && run.error().kind == ErrorKind::usage) return run.error();
  INFERMETER_TRY_DONE(impl_->database().run("DELETE FROM baselines WHERE name = ?1", name));
  return transaction.commit();
}

Result<Done> Store::remove_run(std::string_view run) {
  INFERMETER_TRY(auto transaction, Transaction::begin(impl_->database()));
  INFERMETER_TRY_DONE(impl_->database().run("DELETE FROM runs WHERE id = ?1", run));
  return transaction.commit();
}

Result<Done> Store::keep_noise(std::string_view machine, std::string_view run, const MachineNoise& noise) {
  INFERMETER_TRY(auto transaction, Transaction::begin(impl_->database()));
  INFERMETER_TRY_DONE(impl_->database().run(
      insert_into(machine_noise_table) + "ON CONFLICT (machine, run) " + replace_all(machine_noise_table), machine, run,
      noise.measured_at, std::string_view(noise.subject), std::string_view(noise.metric), noise.pairs,
      noise.standard_deviation));
  return transaction.commit();
}

Result<std::optional<MachineNoise>> Store::latest_noise(std::string_view machine) {
  INFERMETER_TRY(auto statement,
                 impl_->database().prepare(
                     fmt::format("SELECT measured_at, subject, metric, pairs, standard_deviation, {}, run "
                                 "FROM machine_noise WHERE machine = ?1 ORDER BY measured_at DESC, run DESC LIMIT 1",
                                 is_changed(machine_noise_table)),
                     machine));
  INFERMETER_TRY(const bool found, statement.step());
  if (!found) return std::optional<MachineNoise>();
  if (statement.integer(5) != 0) return impl_->damaged(statement.text(6), impl_->changed("the machine's noise"));
  return std::optional(MachineNoise{.measured_at = statement.real(0),
                                    .subject = statement.text(1),
                                    .metric = statement.text(2),
                                    .pairs = static_cast<int>(statement.integer(3)),
                                    .standard_deviation = statement.real(4)});
}

}  // namespace infermeter
