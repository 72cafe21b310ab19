#include "infermeter/report/run/subject_label.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "infermeter/plan/imported.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {

std::string short_label(const RunRecord& record, int subject) {
  const auto& subjects = record.plan.subjects;
  const Subject& own = subjects.at(static_cast<std::size_t>(subject));
  const auto is_shared = [&](auto member) {
    return std::ranges::all_of(subjects,
                               [&](const Subject& s) { return s.group != own.group || s.*member == own.*member; });
  };
  const bool same_model = is_shared(&Subject::model), same_batch = is_shared(&Subject::batch_size);
  const auto shortened = [&](const Subject& s) {
    std::string label = s.label;
    if (same_model && label.starts_with(s.model + "@")) label.erase(0, s.model.size() + 1);
    const std::string batch = fmt::format(",batch={}", s.batch_size);
    if (const auto at = label.find(batch); same_batch && at != std::string::npos) {
      const auto end = at + batch.size();
      if (end == label.size() || label[end] == ',') label.erase(at, batch.size());
    }
    return label;
  };
  const std::string label = shortened(own);
  const auto same =
      std::ranges::count_if(subjects, [&](const Subject& s) { return s.group == own.group && shortened(s) == label; });
  return same == 1 && !label.empty() ? label : own.label;
}

std::string label_alone(const RunRecord& record, int subject) {
  const std::string label = short_label(record, subject);
  for (int other = 0; other < static_cast<int>(record.plan.subjects.size()); ++other) {
    if (other != subject && short_label(record, other) == label)
      return record.plan.subjects[static_cast<std::size_t>(subject)].label;
  }
  return label;
}

std::string place_text(const RunRecord& record, int subject) {
  const Subject& measured = subject_at(record, subject);
  const std::string model = "on " + printable(measured.model, 60);
  return is_imported(record.plan) ? model : fmt::format("{} at batch size {}", model, measured.batch_size);
}

const Subject& subject_of(const RunRecord& record, const SubjectVerdict& verdict) {
  return record.plan.subjects.at(static_cast<std::size_t>(verdict.subject));
}

}  // namespace infermeter
