#include "infermeter/report/forms/document_validation.hpp"

#include <fmt/format.h>

#include "infermeter/report/forms/base64.hpp"
#include "infermeter/report/forms/document_part.hpp"
#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/options.hpp"
#include "infermeter/report/run/answers.hpp"
#include "infermeter/report/validation/parts.hpp"
#include "infermeter/report/validation/report.hpp"
#include "infermeter/verdict/answers/checklist.hpp"

namespace infermeter {
namespace {

void write_picture(JsonWriter& json, const DifferencePicture& picture) {
  json.begin_object();
  json.member("output", picture.output);
  json.member("item", std::uint64_t{picture.item});
  json.member("name", picture.name);
  json.member("where", picture.where);
  json.member("rows", std::uint64_t{picture.rows});
  json.member("columns", std::uint64_t{picture.columns});
  json.member("full_rows", std::uint64_t{picture.full_rows});
  json.member("full_columns", std::uint64_t{picture.full_columns});
  json.key("scale");
  json.begin_object();
  json.member("low", picture.low);
  json.member("high", picture.high);
  json.end_object();
  json.member("max_difference", picture.max_difference);
  json.key("plane");
  json.begin_array();
  for (const std::size_t index : picture.plane) json.value(std::uint64_t{index});
  json.end_array();
  json.key("largest");
  if (picture.largest) {
    json.begin_object();
    json.member("row", std::uint64_t{picture.largest->first});
    json.member("column", std::uint64_t{picture.largest->second});
    json.end_object();
  } else {
    json.value(nullptr);
  }
  json.member("reference", base64(picture.reference));
  json.member("candidate", base64(picture.candidate));
  json.member("difference", base64(picture.difference));
  json.end_object();
}

}  // namespace

ReportPart validation_part(const Validation& validation, const std::vector<DifferencePicture>& pictures) {
  DocumentPart part{
      .kind = "validation",
      .title = fmt::format("{} against {}{}", subject_name(validation.candidate), subject_name(validation.baseline),
                           when_and_where(validation.created_at, validation.hostname)),
      .outcome = outcome_of(validation),
      .answers = worded_answers(validation),
      .notices = notices(diagnostics_of(validation)),
      .checks = checklist(validation),
      .recommendations = {}};
  part.validation = [&](JsonWriter& json) { write_validation(json, validation, true); };
  part.difference_pictures = [&](JsonWriter& json) {
    json.begin_array();
    for (const DifferencePicture& picture : pictures) write_picture(json, picture);
    json.end_array();
  };
  return {.title = part.title,
          .machine = {},
          .machine_name = {},
          .json = part_json(part),
          .text = render_validation(validation, Format::table, {})};
}

}  // namespace infermeter
