// What the command line says of files to import.
#include "infermeter/importing/subjects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_label = 80;

bool exists(const std::string& path) {
  std::error_code error;
  return fs::exists(fs::path(path), error);
}

// "profiles/all.json" -> "all"; of "x.pt.trace.json.gz" -> "x.pt.trace"; of criterion's "sum/new/sample.json" -> "sum";
// of AIPerf's "run_7/profile_export.jsonl" -> "run_7".
std::string label_from(const std::string& file) {
  fs::path name = fs::path(file).filename();
  if (name == "sample.json") {
    const fs::path kept = fs::path(file).parent_path();
    if (kept.filename() == "new" || kept.filename() == "base") name = kept.parent_path().filename();
  }
  if (name.extension() == ".gz") name = name.stem();
  if (const fs::path kept = fs::path(file).parent_path().filename(); name == "profile_export.jsonl" && !kept.empty()) {
    return printable(kept.string(), longest_label);
  }
  const std::string label = printable(name.stem().string(), longest_label);
  return label.empty() ? "profile" : label;
}

std::string unused(const std::string& label, const std::set<std::string>& used) {
  for (int copy = 1;; ++copy) {
    std::string candidate = copy == 1 ? label : fmt::format("{}#{}", label, copy);
    if (!used.contains(candidate)) return candidate;
  }
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    more = comma != std::string_view::npos;
    if (comma != 0 && !text.empty()) parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(more ? comma + 1 : text.size());
  }
  return parts;
}

Result<ImportSubject> subject_from(const std::string& text) {
  const std::size_t sign = text.find('=');
  if (sign == std::string::npos || exists(text)) return ImportSubject{.label = {}, .files = {text}, .compiled = {}};
  const std::string label = text.substr(0, sign), files = text.substr(sign + 1);
  if (label.empty() || printable(label, longest_label) != label) {
    return usage_error(fmt::format("{} is not a label: 1 to {} characters that can be shown (LABEL=FILE,FILE)",
                                   in_quotes(label), longest_label));
  }
  ImportSubject subject{.label = label, .files = split(files), .compiled = {}};
  if (exists(files)) subject.files = {files};
  if (subject.files.empty()) return usage_error(fmt::format("'{}=' names no file: LABEL=FILE,FILE", label));
  return subject;
}

Result<Done> give_compiled(std::vector<ImportSubject>& subjects, const std::string& text) {
  const std::size_t sign = text.find('=');
  if (sign == std::string::npos || exists(text)) {
    if (subjects.size() == 1) return subjects.front().compiled = text, Done{};
    return usage_error("--compiled: there are several subjects, so say whose graph it is: --compiled LABEL=FILE");
  }
  const std::string label = text.substr(0, sign);
  const auto found = std::ranges::find(subjects, label, &ImportSubject::label);
  if (found == subjects.end()) {
    return usage_error(
        fmt::format("--compiled: there is no subject {} (LABEL=FILE, with a label of FILE's)", in_quotes(label)));
  }
  return found->compiled = text.substr(sign + 1), Done{};
}

}  // namespace

Result<std::vector<ImportSubject>> import_subjects(const std::vector<std::string>& texts,
                                                   const std::vector<std::string>& compiled) {
  if (texts.empty()) return usage_error("nothing to import: name a file, as in `infermeter import profile.json`");
  std::vector<ImportSubject> subjects;
  std::set<std::string> used;
  for (const std::string& text : texts) {
    INFERMETER_TRY(subjects.emplace_back(), subject_from(text));
    const std::string& label = subjects.back().label;
    if (!label.empty() && !used.insert(label).second)
      return usage_error(fmt::format("two subjects have the label '{}': LABEL=FILE,FILE makes one of them", label));
  }
  for (ImportSubject& subject : subjects) {
    if (!subject.label.empty()) continue;
    subject.label = unused(label_from(subject.files.front()), used);
    used.insert(subject.label);
  }
  for (const std::string& text : compiled) INFERMETER_TRY_DONE(give_compiled(subjects, text));
  return subjects;
}

}  // namespace infermeter
