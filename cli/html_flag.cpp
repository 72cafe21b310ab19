#include "cli/html_flag.hpp"

#include <fmt/format.h>

#include "cli/output_file.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

bool is_same(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::weakly_canonical(a, error) == fs::weakly_canonical(b, error);
}

}  // namespace

void HtmlFlag::declare(CLI::App& app, const std::string& group) {
  app.add_option(
         "--html", file,
         "Write a page with pictures, tables and the whole record to this file: it opens in a browser, offline.")
      ->type_name("FILE")
      ->group(group);
}

Result<Done> HtmlFlag::check(bool overwrite, const fs::path& made) const {
  if (!wanted()) return Done{};
  if (!made.empty() && is_same(folder_of(file), made)) return check_output_file(file, overwrite);
  return check_new_file(file, overwrite);
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
