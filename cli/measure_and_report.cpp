#include "cli/measure_and_report.hpp"

#include <utility>

#include "cli/check_subjects.hpp"
#include "cli/dry_run.hpp"
#include "cli/measure_plan.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

Result<int> measure_and_report(Surroundings& world, MeasureRequest request, const ReportOutput& output) {
  INFERMETER_TRY(const Launcher launcher, find_launcher(request.plan.backend_path));
  INFERMETER_TRY_DONE(check_subjects(request.plan, launcher));
  if (request.dry_run) {
    world.out << describe_plan(request.plan, earlier_runs(request.plan.output_dir));
    return 0;
  }
  const bool resumed = request.resume.has_value();
  INFERMETER_TRY(const RunRecord record,
                 measure_plan(world, std::move(request.plan), launcher, request.verbosity, std::move(request.resume)));
  const Verdict verdict = judge(record);
  INFERMETER_TRY(const auto csv, write_csv(record, verdict, resumed));
  INFERMETER_TRY_DONE(output.write(world, record, verdict, request.format));
  INFERMETER_TRY_DONE(output.write_page(world, record, verdict, request.verbosity == Verbosity::quiet));
  say_where(world, record, csv, request.verbosity);
  return exit_code_of_run(world, record, request.exit_code ? request.exit_code(verdict) : verdict.exit_code);
}

}  // namespace infermeter
