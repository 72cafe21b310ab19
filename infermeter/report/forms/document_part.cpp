#include "infermeter/report/forms/document_part.hpp"

#include <fmt/format.h>

#include "infermeter/report/overview/headline.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/utc_time.hpp"

namespace infermeter {
namespace {

std::string_view name_in_document(const std::optional<Outcome>& outcome) {
  return outcome ? to_string(*outcome) : "none";
}

void write_overview_of(JsonWriter& json, const DocumentPart& part) {
  Overview overview = part.overview;
  if (overview.headline.text.empty()) overview.headline = worst_of(part.answers);
  write_overview(json, overview);
}

void write_recommendations(JsonWriter& json, const std::vector<SubjectSentences>& recommendations) {
  json.key("recommendations");
  json.begin_array();
  for (const SubjectSentences& one : recommendations) {
    json.begin_object();
    json.member("subject", one.subject);
    json.key("sentences");
    json.begin_array();
    for (const Sentence& sentence : one.sentences) {
      json.begin_object();
      json.member("tone", to_string(sentence.tone));
      json.member("text", sentence.text);
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
}

void write_content(JsonWriter& json, const char* key, const DocumentPart::Writer& write) {
  json.key(key);
  if (!write) return json.value(nullptr);
  write(json);
}

void write_list(JsonWriter& json, const char* key, const DocumentPart::Writer& write) {
  json.key(key);
  if (write) return write(json);
  json.begin_array();
  json.end_array();
}

}  // namespace

std::string when_and_where(double seconds_since_1970, const std::string& host) {
  const std::string day = utc_time(seconds_since_1970).substr(0, std::string_view("2026-11-21").size());
  return fmt::format(", {}{}{}", day, host.empty() ? "" : ", ", printable(host, 60));
}

void write_notices(JsonWriter& json, const std::vector<Notice>& notices) {
  json.key("notices");
  json.begin_array();
  for (const Notice& notice : notices) {
    json.begin_object();
    json.member("id", to_string(notice.id));
    json.member("severity", to_string(notice.severity));
    json.strings("messages", notice.messages);
    json.member("remedy", notice.remedy);
    json.end_object();
  }
  json.end_array();
}

std::string part_json(const DocumentPart& part, std::size_t expected_bytes) {
  JsonWriter json(JsonLayout::compact);
  json.reserve(expected_bytes);
  json.begin_object();
  json.member("kind", part.kind);
  json.member("title", part.title);
  json.member("outcome", name_in_document(part.outcome));
  write_overview_of(json, part);
  write_answers(json, part.answers);
  write_notices(json, part.notices);
  write_checks(json, part.checks);
  write_recommendations(json, part.recommendations);
  write_content(json, "run", part.run);
  write_content(json, "figures", part.figures);
  write_content(json, "gate", part.gate);
  write_content(json, "validation", part.validation);
  write_list(json, "difference_pictures", part.difference_pictures);
  write_content(json, "variants", part.variants);
  write_content(json, "layers", part.layers);
  write_content(json, "history", part.history);
  write_list(json, "graphs", part.graphs);
  json.end_object();
  return json.take();
}

}  // namespace infermeter
