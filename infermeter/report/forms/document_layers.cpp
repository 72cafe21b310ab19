#include "infermeter/report/forms/document_layers.hpp"

#include <fmt/format.h>

#include "infermeter/report/forms/document_part.hpp"
#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/graph/json.hpp"
#include "infermeter/report/layers/parts.hpp"
#include "infermeter/report/layers/report.hpp"
#include "infermeter/report/options.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/verdict/answers/checklist.hpp"

namespace infermeter {
namespace {

std::string side_label(const Subject& subject) { return printable(subject.label, 120); }

Outcome outcome_of_answer(Tone tone) {
  return tone == Tone::good ? Outcome::pass : tone == Tone::bad ? Outcome::fail : Outcome::inconclusive;
}

}  // namespace

ReportPart layers_part(const LayersRecord& record) {
  const WordedAnswer answer = worded_answer(record);
  DocumentPart part{
      .kind = "layers",
      .title = fmt::format("{} against {}, tensor by tensor{}", side_label(record.candidate),
                           side_label(record.reference), when_and_where(record.created_at, record.hostname)),
      .outcome = outcome_of_answer(answer.tone()),
      .answers = {answer},
      .notices = {},
      .checks = checklist(record),
      .recommendations = {}};
  part.layers = [&](JsonWriter& json) { write_layers(json, record); };
  part.graphs = [&](JsonWriter& json) {
    const LayersGraph graph = graph_of(record);
    json.begin_array();
    if (!graph.edges.from.empty()) write_layout(json, std::nullopt, graph.nodes.size(), graph.edges);
    json.end_array();
  };
  return {.title = part.title,
          .machine = {},
          .machine_name = {},
          .json = part_json(part),
          .text = render_layers(record, RenderOptions{}.width, false)};
}

}  // namespace infermeter
