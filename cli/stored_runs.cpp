#include "cli/stored_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "cli/output/report_file.hpp"
#include "infermeter/diagnostics/interrupt.hpp"
#include "infermeter/models/zoo/zoo.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/verdict/apart/join_machines.hpp"
#include "infermeter/verdict/apart/join_runs.hpp"
#include "infermeter/verdict/judge.hpp"
#include "infermeter/verdict/question.hpp"

namespace infermeter {
namespace {

constexpr std::size_t digits_of_a_day = 8;

// "20261121", "20261121-114200-3f9a": how ids begin.
bool looks_like_an_id(const std::string& name) {
  return name.size() >= digits_of_a_day &&
         std::all_of(name.begin(), name.begin() + digits_of_a_day,
                     [](unsigned char c) { return std::isdigit(c) != 0; }) &&
         name.find_first_not_of("0123456789abcdef-") == std::string::npos;
}

bool is_in_zoo(const std::string& name) { return std::ranges::find(zoo(), name, &ZooModel::name) != zoo().end(); }

bool is_surely_a_run(const std::string& name) { return name == "latest" || name == "previous" || is_report_file(name); }

bool is_a_subject(const std::string& name) {
  std::error_code error;
  return name.find('@') != std::string::npos || is_in_zoo(name) || std::filesystem::exists(name, error);
}

bool names_a_run(const std::string& name, const std::vector<Baseline>& baselines) {
  if (is_surely_a_run(name)) return true;
  if (is_a_subject(name)) return false;
  return looks_like_an_id(name) || std::ranges::find(baselines, name, &Baseline::name) != baselines.end();
}

std::vector<Baseline> known_baselines(const Surroundings& world, const Plan& place) {
  const auto found_place = store_place(place);
  if (!found_place.ok() || !found_place->may_exist()) return {};
  auto store = Store::open(*found_place, Store::Mode::read, world.interrupt);
  if (!store.ok()) return {};  // who needs it hears of it
  auto found = store->baselines();
  return found.ok() ? *found : std::vector<Baseline>{};
}

Result<RunRecord> load_named(const Surroundings& world, const std::string& name, const Plan& place) {
  if (is_report_file(name)) return read_report_file(name);
  INFERMETER_TRY(auto store, Store::open(place, Store::Mode::read, world.interrupt));
  return store.load_run(name);
}

Result<Question> with_metric(Question question) {
  auto metric = metric_from_string(question.metric);
  if (!metric) return usage_error("--metric: " + metric.error().message);
  question.metric = std::move(*metric);
  INFERMETER_TRY_DONE(check_levels(question));
  return question;
}

Result<int> report_joined(Surroundings& world, RunRecord joined, const Plan& place, const ReportOutput& output,
                          Format format) {
  if (auto store = Store::open(place, Store::Mode::read, world.interrupt); store.ok()) {
    INFERMETER_TRY(joined.noise, store->latest_noise(machine_fingerprint(joined.environment)));
  }
  joined.plan.output_dir = place.output_dir;
  joined.plan.store = place.store;
  const Verdict verdict = judge(joined);
  Problems unwritten;
  unwritten.take(output.write(world, joined, verdict, format));
  unwritten.take(output.write_page(world, joined, verdict, false));
  INFERMETER_TRY_DONE(unwritten.result("not written"));
  return verdict.exit_code;
}

}  // namespace

Result<std::optional<RunRecord>> LeftOut::load(const Surroundings& world, Store& store, const RunListing& run) {
  if (!run.damage.empty()) {
    damaged_.add(io_error(run.damage));
    return std::optional<RunRecord>();
  }
  auto record = store.load_run(run.id);
  if (record.ok()) return std::optional(std::move(record).value());
  if (store.is_lost() || look_at_interrupts(world.interrupt) > 0) return record.error();
  damaged_.add(record.error());
  return std::optional<RunRecord>();
}

void LeftOut::say(const Surroundings& world) const {
  for (const Error& damage : damaged_.found())
    world.err << fmt::format("infermeter: {}: it is left out\n", printable(damage.message));
}

Result<bool> name_two_runs(const Surroundings& world, const std::vector<std::string>& names, const Plan& place) {
  const auto is_subject = [](const std::string& name) { return !is_surely_a_run(name) && is_a_subject(name); };
  if (std::ranges::all_of(names, is_subject)) return false;  // the store need not be asked
  const auto baselines = known_baselines(world, place);
  const auto is_run = [&](const std::string& name) { return names_a_run(name, baselines); };
  const auto runs = std::ranges::count_if(names, is_run);
  if (runs == 0) return false;
  if (runs == 2 && names.size() == 2) return true;
  if (names.size() != 2) {
    return usage_error(fmt::format("two stored runs are compared at a time, got {} names", names.size()));
  }
  const std::string& other = is_run(names[0]) ? names[1] : names[0];
  if (!is_subject(other)) return true;  // the store says what it is not: an id that is too short for one run, or none
  const std::string& run = is_run(names[0]) ? names[0] : names[1];
  return usage_error(fmt::format(
      "'{}' is a stored run and '{}' is none: compare two runs (`infermeter runs` lists them), or two subjects "
      "(MODEL@BACKEND)",
      printable(run, 100), printable(other, 100)));
}

Result<int> compare_stored_runs(Surroundings& world, const std::vector<std::string>& names, const Question& question,
                                const Plan& place, const ReportOutput& output, Format format) {
  INFERMETER_TRY(const RunRecord before, load_named(world, names[0], place));
  INFERMETER_TRY(const RunRecord after, load_named(world, names[1], place));
  INFERMETER_TRY(const Question asked, with_metric(question));
  INFERMETER_TRY(RunRecord joined, join_runs(before, after, asked));
  return report_joined(world, std::move(joined), place, output, format);
}

Result<int> compare_machines(Surroundings& world, const std::vector<std::string>& names, const Question& question,
                             const Plan& place, const ReportOutput& output, Format format) {
  std::vector<RunRecord> runs;
  for (const std::string& name : names.empty() ? std::vector<std::string>{"latest"} : names) {
    INFERMETER_TRY(RunRecord run, load_named(world, name, place));
    runs.push_back(std::move(run));
  }
  INFERMETER_TRY(const Question asked, with_metric(question));
  INFERMETER_TRY(RunRecord joined, join_machines(runs, asked));
  return report_joined(world, std::move(joined), place, output, format);
}

}  // namespace infermeter
