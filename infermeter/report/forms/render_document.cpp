#include "infermeter/report/forms/render_document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "infermeter/report/forms/document_part.hpp"
#include "infermeter/report/forms/document_title.hpp"
#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/run/answers.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/version.hpp"

namespace infermeter {
namespace {

constexpr std::size_t digest_shown = 12;
constexpr std::size_t titles_shown = 2;

// Each once, in their order: "AMD EPYC (3f9a0123456b)".
std::vector<std::string> machines_of(std::span<const ReportPart> parts) {
  std::vector<std::string> seen, names;
  for (const ReportPart& part : parts) {
    if (part.machine.empty() || std::ranges::find(seen, part.machine) != seen.end()) continue;
    seen.push_back(part.machine);
    const std::string digest = printable(part.machine, digest_shown);
    names.push_back(part.machine_name.empty() ? digest : fmt::format("{} ({})", part.machine_name, digest));
  }
  return names;
}

std::vector<Notice> notices_of_all(std::span<const ReportPart> parts) {
  const auto machines = machines_of(parts);
  if (machines.size() < 2) return {};
  return notices({{.id = DiagnosticId::machines_differ,
                   .message = fmt::format("measured on {} machines ({}): times are not comparable across them",
                                          machines.size(), fmt::join(machines, "; ")),
                   .about = {}}});
}

}  // namespace

std::string document_title(std::span<const ReportPart> parts, const DocumentHead& head) {
  if (!head.title.empty()) return head.title;
  if (parts.empty()) return "An empty report";
  if (parts.size() > titles_shown) return fmt::format("{} reports: {}, …", parts.size(), parts.front().title);
  return parts.size() == 1 ? parts.front().title : fmt::format("{}; {}", parts[0].title, parts[1].title);
}

std::string render_document(std::span<const ReportPart> parts, const DocumentHead& head) {
  std::size_t bytes = 4096;
  for (const ReportPart& part : parts) bytes += part.json.size();
  JsonWriter json(JsonLayout::compact);
  json.reserve(bytes);
  json.begin_object();
  json.member("schema", "infermeter.report/1");
  json.member("infermeter_version", INFERMETER_VERSION);
  json.member("title", document_title(parts, head));
  if (!head.about.empty()) json.member("about", head.about);
  write_notices(json, notices_of_all(parts));
  json.key("parts");
  json.begin_array();
  for (const ReportPart& part : parts) json.embed(part.json);
  json.end_array();
  json.end_object();
  return json.take() + '\n';
}

}  // namespace infermeter
