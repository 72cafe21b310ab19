#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "infermeter/plan/subject.hpp"

namespace infermeter {
namespace {

// A value that can tell subjects apart, as it stands in a label. `narrow`: it says something only among subjects of the
// same model and back end.
struct Trait {
  std::string key, value;
  bool narrow = false;
};

using Names = std::map<std::string, std::string>;

std::vector<Trait> traits_of(const Subject& subject, const Names& libraries) {
  std::vector<Trait> traits{{"batch", std::to_string(subject.batch_size)},
                            {"dtype", std::string(to_string(subject.dtype))},
                            {"device", subject.device},
                            {"threads", std::to_string(subject.threads)}};
  for (const auto& [name, value] : subject.dimensions) traits.push_back({"dim." + name, value});
  for (const auto& [name, value] : subject.batch_axes) traits.push_back({batch_axis_key(name), value});
  if (!subject.backend_library.empty()) traits.push_back({"library", libraries.at(subject.backend_library), true});
  for (const auto& [name, value] : subject.options) traits.push_back({name, value, true});
  for (const auto& [name, value] : subject.load) traits.push_back({name, value});
  for (const auto& [name, value] : subject.environment) traits.push_back({"env." + name, value});
  return traits;
}

// What each path is called: its last name, unless two paths have the same.
Names names_of(const std::vector<Subject>& subjects, std::string Subject::* path) {
  std::map<std::string, std::set<std::string>> paths_by_name;
  for (const Subject& s : subjects) paths_by_name[last_name_of(s.*path)].insert(s.*path);
  Names names;
  for (const auto& [name, paths] : paths_by_name) {
    for (const std::string& one : paths) names[one] = paths.size() == 1 ? name : one;
  }
  return names;
}

// Counts, per trait, how often each value occurs: it tells subjects apart unless all of them have the same.
class TraitTable {
 public:
  TraitTable(const std::vector<Subject>& subjects, const Names& libraries) {
    for (const Subject& subject : subjects) {
      ++scopes_[scope(subject, true)];
      ++scopes_[scope(subject, false)];
      for (const Trait& trait : traits_of(subject, libraries))
        ++counts_[{scope(subject, trait.narrow), trait.key, trait.value}];
    }
  }

  [[nodiscard]] bool differs(const Subject& subject, const Trait& trait) const {
    const std::string where = scope(subject, trait.narrow);
    return counts_.at({where, trait.key, trait.value}) != scopes_.at(where);
  }

 private:
  static std::string scope(const Subject& s, bool narrow) { return narrow ? s.model + '@' + s.backend : std::string(); }

  std::map<std::string, int> scopes_;
  std::map<std::tuple<std::string, std::string, std::string>, int> counts_;
};

std::string unused(const std::string& label, const std::set<std::string>& used) {
  for (int copy = 1;; ++copy) {
    std::string candidate = copy == 1 ? label : fmt::format("{}#{}", label, copy);
    if (!used.contains(candidate)) return candidate;
  }
}

}  // namespace

void label_subjects(std::vector<Subject>& subjects) {
  const auto names = names_of(subjects, &Subject::model);
  const auto libraries = names_of(subjects, &Subject::backend_library);
  const TraitTable table(subjects, libraries);
  const auto chosen = [](const Subject& s) { return !s.label.empty() && s.label != short_form(s); };
  std::set<std::string> used;
  for (const Subject& subject : subjects) {
    if (chosen(subject)) used.insert(subject.label);
  }
  for (Subject& subject : subjects) {
    if (chosen(subject)) continue;
    std::string label = names.at(subject.model) + "@" + subject.backend;
    for (const Trait& trait : traits_of(subject, libraries)) {
      if (table.differs(subject, trait)) label += "," + trait.key + "=" + trait.value;
    }
    subject.label = unused(label, used);
    used.insert(subject.label);
  }
}

}  // namespace infermeter
