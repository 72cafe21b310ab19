#include "cli/flags/html_flag.hpp"

#include <fmt/format.h>

#include "cli/output/output_file.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {

namespace fs = std::filesystem;

void HtmlFlag::declare(CLI::App& app, const std::string& group) {
  app.add_option("--html", file, "Write an HTML page with charts, tables and all data to this file. It works offline.")
      ->type_name("FILE")
      ->group(group);
}

Result<Done> HtmlFlag::check(bool overwrite, const fs::path& made) const {
  if (!wanted()) return Done{};
  return check_new_file(file, overwrite, made);
}

Result<Done> HtmlFlag::write(Surroundings& world, std::span<const ReportPart> parts, bool overwrite, bool quiet) const {
  if (!wanted()) return Done{};
  const std::string page = render_html(parts);
  INFERMETER_TRY_DONE(write_file(file, page, overwrite));
  if (!quiet) {
    world.err << fmt::format("report: {} ({})\n", printable(file, 300), format_bytes(static_cast<double>(page.size())));
  }
  return Done{};
}

}  // namespace infermeter
