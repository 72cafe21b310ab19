#include "cli/report_output.hpp"

#include "cli/output_file.hpp"

namespace infermeter {

void ReportOutput::declare(CLI::App& app) {
  app.add_option("--output", file, "Write the report to this file instead of standard output.")
      ->type_name("FILE")
      ->group("Results");
  app.add_flag("--force", force, "Write over a file that is there.")->group("Results");
  app.add_flag("--no-samples", no_samples, "json: leave the single iterations out.")->group("Results");
}

Result<Done> ReportOutput::check() const { return file.empty() ? Done{} : check_output_file(file, force); }

Result<Done> ReportOutput::write(Surroundings& world, const RunRecord& record, const Verdict& verdict,
                                 Format format) const {
  RenderOptions options{.color = false, .width = 80, .samples = !no_samples};
  if (!file.empty()) return write_file(file, render(record, verdict, format, options), force);
  options.color = use_color(world);
  options.width = world.width;
  world.out << render(record, verdict, format, options);
  return Done{};
}

bool use_color(const Surroundings& world) {
  return world.out_is_terminal && !world.variable("NO_COLOR") && world.variable("TERM").value_or("dumb") != "dumb";
}

std::filesystem::path store_file(const std::filesystem::path& output_dir) { return output_dir / "infermeter.db"; }

}  // namespace infermeter
