#include "cli/measure_and_report.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "cli/measure_plan.hpp"
#include "cli/output/dry_run.hpp"
#include "cli/output/output_file.hpp"
#include "infermeter/plan/tuning/setting_file.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {
namespace {

Result<Done> write_winner(Surroundings& world, const RunRecord& record, const Verdict& verdict, const std::string& file,
                          bool overwrite) {
  if (!verdict.tuning || !verdict.tuning->best) {
    world.err << fmt::format("{} was not written: no setting is best\n", printable(file, 300));
    return Done{};
  }
  return write_file(file, setting_file(record.plan, static_cast<std::size_t>(*verdict.tuning->best)), overwrite);
}

}  // namespace

void check_files(const MeasureRequest& request, const ReportOutput& output, Problems& problems) {
  output.check(problems, request.plan.output_dir);
  if (request.profile_files.wanted()) problems.take(request.profile_files.check(output.force));
  if (request.winner_file.empty()) return;
  const NamedFile winner{"--write-plan", request.winner_file};
  problems.take(check_distinct(std::array{NamedFile{"--output", output.file}, winner}));
  problems.take(check_distinct(std::array{NamedFile{"--html", output.html.file}, winner}));
  problems.take(check_new_file(request.winner_file, output.force));
}

Result<int> show_plan(Surroundings& world, const MeasureRequest& request) {
  world.out << describe_plan(request.plan, earlier_runs(world, request.plan));
  return 0;
}

Result<int> report_measured(Surroundings& world, MeasuredPlan measured, const MeasureRequest& request,
                            const ReportOutput& output) {
  const RunRecord& record = measured.record;
  const Verdict verdict = judge(record);
  // Each on its own: what was measured is reported wherever it can be.
  measured.unwritten.take(output.write(world, record, verdict, request.format));
  measured.unwritten.take(output.write_page(world, record, verdict, request.verbosity == Verbosity::quiet));
  if (request.profile_files.wanted()) {
    measured.unwritten.take(request.profile_files.write(world, record, output.force));
  }
  if (!request.winner_file.empty()) {
    measured.unwritten.take(write_winner(world, record, verdict, request.winner_file, output.force));
  }
  say_where(world, measured, request.verbosity);
  return unless_unwritten(measured.unwritten, exit_code_of_run(world, record, verdict.exit_code));
}

Result<int> measure_and_report(Surroundings& world, MeasureRequest request, const ReportOutput& output) {
  INFERMETER_TRY(const Launcher launcher, find_launcher(request.plan.backend_path));
  const bool resumes = request.resume.has_value();  // whose models lie where the run was begun
  RunCheck check;
  if (resumes || request.models) {
    check.models = std::move(request.models).value_or(std::map<std::string, ModelFacts>{});
    check_results_folder(request.plan.output_dir, check.problems);
  } else {
    check = check_before_run(world, request.plan, launcher);
  }
  check_files(request, output, check.problems);
  INFERMETER_TRY_DONE(check.problems.result());
  if (request.dry_run) return show_plan(world, request);
  INFERMETER_TRY(auto measured, measure_plan(world, std::move(request.plan), launcher, request.verbosity,
                                             {.resume = std::move(request.resume),
                                              .models = std::move(check.models),
                                              .is_checked = !resumes,
                                              .keeps_refusals = request.keeps_refusals}));
  return report_measured(world, std::move(measured), request, output);
}

}  // namespace infermeter
