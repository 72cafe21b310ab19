#include "cli/output/study_files.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/output/output_file.hpp"
#include "cli/output/profile_files.hpp"
#include "infermeter/diagnostics/check.hpp"
#include "infermeter/report/forms/document.hpp"
#include "infermeter/report/profile/export.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

constexpr RenderOptions in_files{.color = false, .width = 80};

int subject_of(const RunRecord& record, const std::string& label) {
  const auto found = std::ranges::find(record.plan.subjects, label, &Subject::label);
  INFERMETER_CHECK(found != record.plan.subjects.end());  // the study was checked
  return static_cast<int>(found - record.plan.subjects.begin());
}

std::string page_of(const StudyRecord& study, bool samples) {
  std::vector<ReportPart> parts;
  for (const StudiedPart& part : study.parts) parts.push_back(study_part_of_page(part, {.samples = samples}));
  return render_html(parts, {.title = study.title, .about = study.about});
}

bool is_profiled(const StudiedPart& part) { return !part.record.profiles.empty() || !part.record.stacks.empty(); }

}  // namespace

void StudyFiles::check(Problems& problems) const {
  for (const std::string& name : study_.file_names()) problems.take(check_output_file(folder_ / name, force_));
  for (const std::string& name : profile_export_names()) {
    problems.take(check_output_file(folder_ / study_.profiles / name, force_));
  }
  problems.take(check_folder_to_be("--reports", folder_ / study_.profiles));
}

bool StudyFiles::are_there() const {
  std::error_code error;
  return std::ranges::all_of(study_.file_names(),
                             [&](const std::string& name) { return fs::exists(folder_ / name, error); });
}

Result<Done> StudyFiles::prepare() const { return make_folder("--reports", folder_); }

void StudyFiles::write(const std::string& name, const std::string& text, std::string about) {
  const fs::path file = folder_ / name;
  if (unwritten_.take(write_file(file, text, force_))) written_.push_back({file.string(), std::move(about)});
}

void StudyFiles::write_part(const StudiedPart& part) {
  for (const StudyOutput& output : study_.outputs) {
    if (output.part == part.name) write_output(part, output);
  }
}

void StudyFiles::write_output(const StudiedPart& part, const StudyOutput& output) {
  RenderOptions options = in_files;
  options.samples = samples_;
  std::string about = part.title;
  std::string json, text;
  if (output.subject) {
    const RunRecord alone = only_subject(part.record, subject_of(part.record, output.subject->text));
    const Verdict verdict = judge(alone);
    about = fmt::format("{}: {} alone", part.title, output.subject->text);
    json = render(alone, verdict, Format::json, options);
    text = render(alone, verdict, Format::table, options);
  } else {
    json = render_study_part(part, Format::json, options);
    text = render_study_part(part, Format::table, options);
  }
  if (!output.text.empty()) write(output.text, text, about);
  if (!output.json.empty()) write(output.json, json, about + ", for programs");
}

Result<Done> StudyFiles::write_profiles_of(const StudiedPart& part, const fs::path& inside) {
  INFERMETER_TRY(const auto files, export_profiles(part.record));
  INFERMETER_TRY_DONE(write_exports("--reports", folder_ / inside, files, force_));
  written_.push_back({(folder_ / inside).string() + "/",
                      fmt::format("profiles of {}; profiling_summary.txt says how to look at them", part.title)});
  return Done{};
}

// One profiled part has the folder to itself; of several each has one in it.
void StudyFiles::write_profiles(const StudyRecord& study) {
  const auto count = std::ranges::count_if(study.parts, is_profiled);
  for (const StudiedPart& part : study.parts) {
    if (!is_profiled(part)) continue;
    const fs::path inside = count == 1 ? fs::path(study_.profiles) : fs::path(study_.profiles) / part.name;
    unwritten_.take(write_profiles_of(part, inside));
  }
}

void StudyFiles::write_whole(const StudyRecord& study) {
  write_profiles(study);
  write(study_.page, page_of(study, samples_), "all parts as a page");
  // The summaries name themselves, and so are rendered when the list is whole.
  std::vector<StudyFileLine> files = {{(folder_ / study_.summary_text).string(), "this summary"},
                                      {(folder_ / study_.summary_json).string(), "this summary, for programs"}};
  files.insert(files.end(), written_.begin(), written_.end());
  written_ = files;
  unwritten_.take(
      write_file(folder_ / study_.summary_text, render_study(study, files, Format::table, in_files), force_));
  unwritten_.take(
      write_file(folder_ / study_.summary_json, render_study(study, files, Format::json, in_files), force_));
}

}  // namespace infermeter
