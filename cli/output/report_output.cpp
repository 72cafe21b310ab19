#include "cli/output/report_output.hpp"

#include <array>
#include <optional>
#include <string_view>

#include "cli/output/output_file.hpp"
#include "infermeter/store/store.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kName = "comparison";

std::string_view ending_of(Format format) {
  switch (format) {
    case Format::table: return ".txt";
    case Format::json: return ".json";
    case Format::csv: return ".csv";
    case Format::markdown: return ".md";
    case Format::html: return ".html";
    case Format::latex: return ".tex";
    case Format::openmetrics: return ".prom";
    case Format::bencher: return ".bencher.json";
    case Format::google_benchmark: return ".benchmark.json";
  }
  return "";
}

bool is_folder(const std::string& name) {
  std::error_code error;
  return name.ends_with('/') || (!name.empty() && fs::is_directory(name, error));
}

fs::path comparison_file(const fs::path& folder, Format format) {
  return folder / (std::string(kName) + std::string(ending_of(format)));
}

}  // namespace

void ReportOutput::declare(CLI::App& app) {
  app.add_option("--output", file,
                 "Write the report to this file instead of standard output; in a folder, to comparison.txt (.json, …).")
      ->type_name("FILE|FOLDER/")
      ->group("Results");
  app.add_flag("--force", force, "Overwrite existing files.")->group("Results");
  html.declare(app, "Results");
  app.add_option("--operators", operators, "Show the N slowest operators of a profile.")
      ->type_name("N")
      ->capture_default_str()
      ->group("Results");
  app.add_flag("--no-samples", no_samples,
               "Leave single iterations, and what trials record of requests and tokens, out of JSON and HTML.")
      ->group("Results");
}

Result<Format> ReportOutput::settle(const PlanDraft& draft, const OtherNames& names) {
  INFERMETER_TRY(const Format format, format_from_string(draft.format.empty() ? "table" : draft.format));
  if (is_folder(file)) {
    fs::path named = fs::path(file).lexically_normal();
    if (!named.has_filename()) named = named.parent_path();  // "a/"
    folder = named;
    file = comparison_file(folder, format);
  }
  if (names.wants_page() && !html.wanted()) {
    html.file = comparison_file(folder.empty() ? fs::path(draft.plan.output_dir) : fs::path(folder), Format::html);
  }
  return format;
}

void ReportOutput::check(Problems& problems, const std::filesystem::path& made) const {
  if (!folder.empty()) problems.take(check_folder_to_be("--output", folder));
  problems.take(check_distinct(std::array{NamedFile{"--output", file}, NamedFile{"--html", html.file}}));
  if (!file.empty()) problems.take(check_new_file(file, force, folder.empty() ? made : fs::path(folder)));
  const bool beside = !folder.empty() && fs::path(html.file).parent_path() == fs::path(file).parent_path();
  problems.take(html.check(force, beside ? fs::path(folder) : made));
}

RenderOptions ReportOutput::look(const Surroundings& world) const {
  const bool to_file = !file.empty();
  return {.color = !to_file && use_color(world),
          .width = to_file ? world.asked_width.value_or(80) : world.width,
          .samples = !no_samples,
          .operators = operators};
}

Result<Done> ReportOutput::write_text(Surroundings& world, const std::string& text) const {
  if (!folder.empty()) INFERMETER_TRY_DONE(make_folder("--output", folder));
  if (!file.empty()) return write_file(file, text, force);
  world.out << text;
  return Done{};
}

Result<Done> ReportOutput::write(Surroundings& world, const RunRecord& record, const Verdict& verdict,
                                 Format format) const {
  if (format == Format::html) {  // the page that --html FILE writes, with what has changed since the run before
    return write_text(world, render_html(page_part(world, record, verdict, page_look(), record.plan)));
  }
  return write_text(world, render(record, verdict, format, look(world)));
}

Result<Done> ReportOutput::write_page(Surroundings& world, const RunRecord& record, const Verdict& verdict,
                                      bool quiet) const {
  if (!html.wanted()) return Done{};
  return html.write(world, page_part(world, record, verdict, page_look(), record.plan), force, quiet);
}

ReportPart page_part(Surroundings& world, const RunRecord& record, const Verdict& verdict, const RenderOptions& options,
                     const Plan& place) {
  std::optional<RunRecord> earlier;
  if (auto opened = Store::open(place, Store::Mode::read, world.interrupt); opened.ok()) {
    if (auto found = opened->earlier_run(record); found.ok()) earlier = std::move(*found);
  }
  return run_part(record, verdict, options, earlier ? &*earlier : nullptr);
}

bool use_color(const Surroundings& world) {
  return world.out_is_terminal && !world.variable("NO_COLOR") && world.variable("TERM").value_or("dumb") != "dumb";
}

}  // namespace infermeter
