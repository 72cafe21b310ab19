#include "cli/measure_plan.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/output_file.hpp"
#include "cli/progress.hpp"
#include "cli/report_output.hpp"
#include "cli/shell_quote.hpp"
#include "cli/verbose_text.hpp"
#include "infermeter/models/resolve.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

// Earlier runners were given the folder of the CSV files itself: results/raw.
fs::path csv_folder(const fs::path& output_dir) {
  const fs::path folder = output_dir.lexically_normal();
  const fs::path last = folder.has_filename() ? folder.filename() : folder.parent_path().filename();
  return last == "raw" ? output_dir : output_dir / "raw";
}

// The name that notebooks look for; a second run of the same second gets the end of its id as well.
fs::path csv_file(const RunRecord& record, bool resumed) {
  const auto created = fmt::gmtime(static_cast<std::time_t>(record.created_at));
  const fs::path folder = csv_folder(record.plan.output_dir);
  const std::string stem = fmt::format("benchmark_results_{:%Y%m%d_%H%M%S}", created);
  std::error_code error;
  if (resumed || !fs::exists(folder / (stem + ".csv"), error)) return folder / (stem + ".csv");
  return folder / fmt::format("{}_{}.csv", stem, record.id.substr(record.id.rfind('-') + 1));
}

}  // namespace

Result<RunRecord> measure_plan(Surroundings& world, Plan plan, const Launcher& launcher, Verbosity verbosity,
                               std::optional<std::string> resume, std::map<std::string, ModelFacts> models) {
  std::vector<std::string> labels;
  for (const Subject& subject : plan.subjects) labels.push_back(printable(subject.label, 60));
  ProgressDisplay display(world, verbosity, std::move(labels));
  if (verbosity == Verbosity::verbose) world.err << setting_lines(plan, launcher, default_cache()) << std::flush;
  const RunContext context{.launcher = launcher,
                           .cache = default_cache(),
                           .on_progress = [&display](const Progress& progress) { display.show(progress); },
                           .interrupt = world.interrupt,
                           .command = shell_quoted(world.arguments),
                           .models = std::move(models)};
  return run(std::move(plan), context, std::move(resume));
}

Result<fs::path> write_csv(const RunRecord& record, const Verdict& verdict, bool resumed) {
  const fs::path file = csv_file(record, resumed);
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  const std::string text = render(record, verdict, Format::csv, {.color = false, .width = 80, .samples = true});
  INFERMETER_TRY_DONE(write_file(file, text, true));
  return file;
}

void say_where(Surroundings& world, const RunRecord& record, const fs::path& csv, Verbosity verbosity) {
  if (verbosity == Verbosity::quiet) return;
  if (verbosity == Verbosity::verbose) world.err << file_lines(record, csv);
  const std::string store = printable(store_file(record.plan.output_dir).string());
  if (record.finished) {
    world.err << fmt::format("run {} is stored in {}\n", record.id, store);
  } else {
    world.err << fmt::format("run {} was interrupted; `infermeter run --resume {} --output-dir {}` finishes it\n",
                             record.id, record.id, printable(shell_quoted(record.plan.output_dir)));
  }
}

int exit_code_of_run(const Surroundings& world, const RunRecord& record, int code) {
  const int signal = world.signal == nullptr ? 0 : world.signal->load();
  return !record.finished && signal != 0 ? 128 + signal : code;
}

}  // namespace infermeter
