#include "cli/output/profile_files.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "cli/output/output_file.hpp"
#include "infermeter/report/profile/export.hpp"
#include "infermeter/report/report.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

}  // namespace

void ProfileFilesFlag::declare(CLI::App& app, const std::string& how) {
  option =
      app.add_option("--profile-files", folder,
                     how +
                         " the operators and call stacks of a profiled run, and the iterations of any run, into this "
                         "folder, for Perfetto, Chrome, speedscope and flame graphs, with summaries by time and by "
                         "memory, a breakdown, and a page that explains how to view each file.")
          ->type_name("FOLDER")
          ->group("Profiles");
}

Result<Done> ProfileFilesFlag::check(bool overwrite) const {
  if (folder.empty()) return usage_error("--profile-files needs the name of a folder: --profile-files profiles");
  for (const std::string& name : profile_export_names()) {
    INFERMETER_TRY_DONE(check_output_file(fs::path(folder) / name, overwrite));
  }
  return check_folder_to_be("--profile-files", folder);
}

Result<Done> ProfileFilesFlag::write(Surroundings& world, const RunRecord& record, bool overwrite) const {
  INFERMETER_TRY(const auto files, export_profiles(record));
  INFERMETER_TRY(const double bytes, write_exports("--profile-files", folder, files, overwrite));
  world.err << fmt::format("profiles: {} ({} files, {}); profiling_summary.txt says how to look at them\n",
                           printable(folder, 300), files.size(), format_bytes(bytes));
  return Done{};
}

Result<double> write_exports(std::string_view flag, const fs::path& folder, std::span<const ProfileExport> files,
                             bool overwrite) {
  double bytes = 0;
  for (const ProfileExport& file : files) {
    const fs::path path = folder / file.name;
    INFERMETER_TRY_DONE(make_folder(flag, path.parent_path()));
    INFERMETER_TRY_DONE(write_file(path, file.bytes, overwrite));
    bytes += static_cast<double>(file.bytes.size());
  }
  return bytes;
}

}  // namespace infermeter
