// The files that a study leaves in its folder of reports.
#pragma once

#include <filesystem>
#include <vector>

#include "cli/surroundings.hpp"
#include "infermeter/diagnostics/problems.hpp"
#include "infermeter/plan/study_file.hpp"
#include "infermeter/report/study/report.hpp"

namespace infermeter {

class StudyFiles {
 public:
  StudyFiles(const StudyFile& study, std::filesystem::path folder, bool force, bool samples)
      : study_(study), folder_(std::move(folder)), force_(force), samples_(samples) {}

  // What could not be written later.
  void check(Problems& problems) const;
  // All that a study writes was written, by this command or an earlier one. Of profiles nothing is asked.
  [[nodiscard]] bool are_there() const;
  // Makes the folder.
  [[nodiscard]] Result<Done> prepare() const;
  // What the study names of this part, as soon as it is measured.
  void write_part(const StudiedPart& part);
  // Profiles, summaries and page.
  void write_whole(const StudyRecord& study);
  // Each file is written or not on its own.
  [[nodiscard]] Problems& unwritten() { return unwritten_; }
  // What was written so far, the summaries and the page first.
  [[nodiscard]] const std::vector<StudyFileLine>& written() const { return written_; }

 private:
  void write_output(const StudiedPart& part, const StudyOutput& output);
  void write_profiles(const StudyRecord& study);
  [[nodiscard]] Result<Done> write_profiles_of(const StudiedPart& part, const std::filesystem::path& inside);
  void write(const std::string& name, const std::string& text, std::string about);

  const StudyFile& study_;
  std::filesystem::path folder_;
  bool force_, samples_;
  std::vector<StudyFileLine> written_;
  Problems unwritten_;
};

}  // namespace infermeter
