#include "cli/report_output.hpp"

#include "cli/output_file.hpp"

namespace infermeter {

void ReportOutput::declare(CLI::App& app) {
  app.add_option("--output", file, "Write the report to this file instead of standard output.")
      ->type_name("FILE")
      ->group("Results");
  app.add_flag("--force", force, "Write over a file that is there.")->group("Results");
  html.declare(app, "Results");
  app.add_option("--operators", operators, "Of a profile: show the slowest so many operators.")
      ->type_name("N")
      ->capture_default_str()
      ->group("Results");
  app.add_flag("--no-samples", no_samples, "json, --html: leave the single iterations out.")->group("Results");
}

Result<Done> ReportOutput::check(const std::filesystem::path& made) const {
  if (html.wanted() && html.file == file) return usage_error("--output and --html are two files: " + file);
  if (!file.empty()) INFERMETER_TRY_DONE(check_output_file(file, force));
  return html.check(force, made);
}

RenderOptions ReportOutput::look(const Surroundings& world) const {
  const bool to_file = !file.empty();
  return {.color = !to_file && use_color(world),
          .width = to_file ? 80 : world.width,
          .samples = !no_samples,
          .operators = operators};
}

Result<Done> ReportOutput::write_text(Surroundings& world, const std::string& text) const {
  if (!file.empty()) return write_file(file, text, force);
  world.out << text;
  return Done{};
}

Result<Done> ReportOutput::write(Surroundings& world, const RunRecord& record, const Verdict& verdict,
                                 Format format) const {
  return write_text(world, render(record, verdict, format, look(world)));
}

Result<Done> ReportOutput::write_page(Surroundings& world, const RunRecord& record, const Verdict& verdict,
                                      bool quiet) const {
  if (!html.wanted()) return Done{};
  return html.write(world, run_part(record, verdict, page_look()), force, quiet);
}

bool use_color(const Surroundings& world) {
  return world.out_is_terminal && !world.variable("NO_COLOR") && world.variable("TERM").value_or("dumb") != "dumb";
}

std::filesystem::path store_file(const std::filesystem::path& output_dir) { return output_dir / "infermeter.db"; }

}  // namespace infermeter
