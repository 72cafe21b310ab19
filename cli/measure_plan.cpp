#include "cli/measure_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "cli/output/output_file.hpp"
#include "cli/output/progress.hpp"
#include "cli/output/report_output.hpp"
#include "cli/output/verbose_text.hpp"
#include "infermeter/models/resolve.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/shell_quote.hpp"
#include "infermeter/text/utc_time.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

// Earlier runners were given the folder of the CSV files itself: results/raw, results/raw/production.
fs::path csv_folder(const fs::path& output_dir) {
  const fs::path folder = output_dir.lexically_normal();
  return std::ranges::find(folder, "raw") != folder.end() ? output_dir : output_dir / "raw";
}

// Of the run: its id is in the first row.
bool is_csv_of(const fs::path& file, const std::string& run) {
  std::ifstream stream(file);
  std::string head, row;
  return std::getline(stream, head) && std::getline(stream, row) && row.find(run) != std::string::npos;
}

// The name that notebooks look for; a second run of the same second has the end of its id as well.
std::array<fs::path, 2> csv_files(const RunRecord& record) {
  std::string created = utc_time(record.created_at).substr(0, 19);  // "2026-11-21T11:42:00"
  std::erase_if(created, [](char c) { return c == '-' || c == ':'; });
  std::ranges::replace(created, 'T', '_');
  const fs::path folder = csv_folder(record.plan.output_dir);
  const std::string stem = "benchmark_results_" + created;
  return {folder / (stem + ".csv"),
          folder / fmt::format("{}_{}.csv", stem, record.id.substr(record.id.rfind('-') + 1))};
}

// In the first of these files that is this run's already, or that nobody has.
Result<fs::path> write_csv(const RunRecord& record) {
  const auto files = csv_files(record);
  std::error_code error;
  fs::create_directories(files.front().parent_path(), error);
  const std::string text = render(record, judge(record), Format::csv, {.color = false, .width = 80, .samples = true});
  for (const fs::path& file : files) {
    const bool overwrite = is_csv_of(file, record.id);
    const auto written = write_file(file, text, overwrite);
    if (written.ok()) return file;
    const bool taken = !overwrite && fs::exists(file, error) && !is_csv_of(file, record.id);
    if (!taken || file == files.back()) return written.error();
  }
  return files.back();
}

}  // namespace

void check_results_folder(const fs::path& output_dir, Problems& problems) {
  if (!problems.take(check_folder_to_be("--output-dir", output_dir))) return;
  problems.take(check_folder_to_be("--output-dir", csv_folder(output_dir)));
}

RunCheck check_before_run(const Surroundings& world, const Plan& plan, const Launcher& launcher) {
  RunCheck check = check_run(plan, {.launcher = launcher, .cache = default_cache(), .interrupt = world.interrupt});
  check_results_folder(plan.output_dir, check.problems);
  check.problems.take(store_place(plan));
  return check;
}

Result<Done> nothing_measured(const Problems& problems) {
  auto result = problems.result();
  if (result.ok() || result.error().kind != ErrorKind::model) return result;
  return usage_error("nothing was measured: " + result.error().message);
}

Result<MeasuredPlan> measure_plan(Surroundings& world, Plan plan, const Launcher& launcher, Verbosity verbosity,
                                  MeasureOptions options) {
  std::vector<std::string> labels;
  for (const Subject& subject : plan.subjects) labels.push_back(printable(subject.label, 60));
  ProgressDisplay display(world, verbosity, std::move(labels));
  if (verbosity == Verbosity::verbose) world.err << setting_lines(plan, launcher, default_cache()) << std::flush;
  MeasuredPlan measured;
  const auto before_finish = [&measured](const RunRecord& record) -> Result<Done> {
    keep_csv(measured, record);
    return Done{};
  };
  const RunContext context{.launcher = launcher,
                           .cache = default_cache(),
                           .on_progress = [&display](const Progress& progress) { display.show(progress); },
                           .interrupt = world.interrupt,
                           .command = shell_quoted(world.arguments),
                           .part_of = std::move(options.part_of),
                           .before_finish = before_finish,
                           .models = std::move(options.models),
                           .is_checked = options.is_checked,
                           .keeps_refusals = options.keeps_refusals,
                           .shard = std::move(options.shard)};
  INFERMETER_TRY(measured.record, run(std::move(plan), context, std::move(options.resume)));
  return measured;
}

void keep_csv(MeasuredPlan& measured, const RunRecord& record) {
  auto csv = write_csv(record);
  if (measured.unwritten.take(csv)) measured.csv = std::move(*csv);  // else `report --format csv` has it
}

void say_where(Surroundings& world, const MeasuredPlan& measured, Verbosity verbosity) {
  if (verbosity == Verbosity::quiet) return;
  const RunRecord& record = measured.record;
  if (verbosity == Verbosity::verbose) world.err << file_lines(record);
  if (!measured.csv.empty()) world.err << fmt::format("Results saved to: {}\n", printable(measured.csv.string(), 1000));
  if (record.finished) {
    const auto place = store_place(record.plan);
    world.err << fmt::format("run {} is stored in {}\n", record.id, place.ok() ? place->shown() : "its store");
  } else {
    const std::string& store = record.plan.store;
    world.err << fmt::format("run {} was interrupted; `infermeter run --resume {} --output-dir {}{}` finishes it\n",
                             record.id, record.id, printable(shell_quoted(record.plan.output_dir)),
                             store.empty() ? "" : " --store " + printable(shell_quoted(store)));
  }
}

Result<int> unless_unwritten(const Problems& unwritten, int code) {
  INFERMETER_TRY_DONE(unwritten.result("the run is stored; not written"));
  return code;
}

int exit_code_of_run(const Surroundings& world, const RunRecord& record, int code) {
  const int signal = world.signal == nullptr ? 0 : world.signal->load();
  return !record.finished && signal != 0 ? 128 + signal : code;
}

}  // namespace infermeter
