#include "infermeter/report/forms/document_run.hpp"
#include "infermeter/plan/subject.hpp"

// Documents of what is made from a run: the run itself, its gate, its variants.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "infermeter/report/forms/document_part.hpp"
#include "infermeter/report/forms/renderers.hpp"
#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/gate/renderers.hpp"
#include "infermeter/report/gate/report.hpp"
#include "infermeter/report/gate/text.hpp"
#include "infermeter/report/graph/json.hpp"
#include "infermeter/report/overview/headline.hpp"
#include "infermeter/report/run/answers.hpp"
#include "infermeter/report/run/json_parts.hpp"
#include "infermeter/report/run/recommendations.hpp"
#include "infermeter/report/run/row.hpp"
#include "infermeter/report/run/subject_label.hpp"
#include "infermeter/report/variants/report.hpp"
#include "infermeter/report/variants/table.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/utc_time.hpp"
#include "infermeter/verdict/answers/checklist.hpp"
#include "infermeter/verdict/answers/run_checklist.hpp"

namespace infermeter {
namespace {

constexpr std::size_t names_in_title = 3;
constexpr std::size_t longest_label = 300;

std::size_t iterations_of(const std::vector<Samples>& trials) {
  std::size_t count = 0;
  for (const Samples& trial : trials) count += trial.begin_s.size() + trial.warmup_begin_s.size();
  return count;
}

// Of the iterations that a document keeps.
double drawn_share(const RunRecord& record) {
  const std::size_t all = iterations_of(record.trials) + iterations_of(record.side_trials);
  return static_cast<double>(kDrawnIterations) / static_cast<double>(std::max(all, kDrawnIterations));
}

// Each once, in their order; of many how many there are.
std::string listed(const std::vector<std::string>& names, const char* many) {
  std::vector<std::string> unique;
  for (const std::string& name : names) {
    if (std::ranges::find(unique, name) == unique.end()) unique.push_back(name);
  }
  if (unique.size() > names_in_title) return fmt::format("{} {}", unique.size(), many);
  return fmt::format("{}", fmt::join(unique, ", "));
}

std::string day_and_host(const RunRecord& record) {
  return when_and_where(record.created_at, record.environment.hostname);
}

std::vector<SubjectSentences> recommendations_of(const RunRecord& record, const Verdict& verdict) {
  std::vector<SubjectSentences> all;
  for (const SubjectVerdict& subject : verdict.subjects) {
    SubjectSentences one{printable(subject_of(record, subject).label, longest_label), {}};
    for (const Recommendation& found : recommend(record, subject)) {
      one.sentences.push_back(recommendation_sentence(found));
    }
    if (!one.sentences.empty()) all.push_back(std::move(one));
  }
  return all;
}

std::vector<WordedAnswer> answers_of_run(const RunRecord& record, const Verdict& verdict) {
  std::vector<WordedAnswer> all = worded_answers(record, verdict);
  if (all.empty()) {
    all.push_back({{.topic = AnswerTopic::level, .kind = AnswerKind::not_measured, .tone = Tone::faint},
                   "nothing was measured: there is no trial"});
  }
  return all;
}

std::vector<SubjectSentences> recommendations_of(const RunRecord& record, const VariantSet& set,
                                                 const VariantsFigures& figures) {
  std::vector<SubjectSentences> all;
  for (const VariantFigures& one : figures.variants) {
    SubjectSentences of_one{printable(one.entry->label, longest_label), sentences_of(record, set, one)};
    if (!of_one.sentences.empty()) all.push_back(std::move(of_one));
  }
  return all;
}

template <class T>
void prepend(std::vector<T> first, std::vector<T>& to) {
  to.insert(to.begin(), std::make_move_iterator(first.begin()), std::make_move_iterator(first.end()));
}

}  // namespace

std::string run_title(const RunRecord& record) {
  std::vector<std::string> models, backends;
  for (const Subject& subject : record.plan.subjects) {
    models.push_back(printable(last_name_of(subject.model), 60));
    backends.push_back(printable(subject.backend, 40));
  }
  if (models.empty()) return "Run " + printable(record.id, 60);
  if (record.plan.tuning) {
    return fmt::format("Best settings of {}: {}", listed(models, "models"), listed(backends, "back ends"));
  }
  if (record.plan.subjects.size() == 2 && first_of_group(record.plan, 1) == 0) {
    return fmt::format("{} against {}: {}", printable(short_label(record, 1), 60),
                       printable(short_label(record, 0), 60), listed(models, "models"));
  }
  return fmt::format("{}: {}", listed(models, "models"), listed(backends, "back ends"));
}

DocumentPart document_of_run(const RunRecord& record, const Verdict& verdict, const RenderOptions& options) {
  DocumentPart part{.kind = "run",
                    .title = run_title(record) + day_and_host(record),
                    .outcome = {},
                    .answers = answers_of_run(record, verdict),
                    .notices = notices(verdict),
                    .checks = verdict.checks,
                    .recommendations = recommendations_of(record, verdict)};
  part.overview = overview_of_run(record, verdict, part.answers);
  part.outcome = outcome_of(part.checks);
  part.run = [&record, &verdict, samples = options.samples, share = drawn_share(record)](JsonWriter& json) {
    if (!samples) return write_run(json, record, verdict, {});
    write_run(json, record, verdict, [share](const Samples& trial) { return drawn_iterations(trial, share); });
  };
  part.figures = [&record, &verdict](JsonWriter& json) { write_figures(json, record, verdict); };
  part.graphs = [&verdict](JsonWriter& json) { write_layouts(json, verdict.profile); };
  return part;
}

// About 24 characters an iteration.
std::size_t expected_bytes(const RunRecord& record, const RenderOptions& options) {
  const std::size_t iterations = iterations_of(record.trials) + iterations_of(record.side_trials);
  const std::size_t trials = record.trials.size() + record.side_trials.size();
  return 65536 + trials * 5120 + (options.samples ? std::min(iterations, kDrawnIterations) * 24 : 0);
}

ReportPart report_part(const DocumentPart& part, const RunRecord& record, const RenderOptions& options) {
  return {.title = part.title,
          .machine = machine_fingerprint(record.environment),
          .machine_name = printable(record.environment.processor, 80),
          .json = part_json(part, expected_bytes(record, options)),
          .text = {}};
}

ReportPart run_part(const RunRecord& record, const Verdict& verdict, const RenderOptions& options,
                    const RunRecord* earlier) {
  DocumentPart document = document_of_run(record, verdict, options);
  if (earlier != nullptr) document.overview.since = since_last(record, *earlier);
  ReportPart part = report_part(document, record, options);
  part.text = render_table(record, verdict, {});
  return part;
}

DocumentPart document_of_gate(const RunRecord& record, const Verdict& of_run, const Gate& gate,
                              const GateVerdict& verdict, const RenderOptions& options) {
  DocumentPart part = document_of_run(record, of_run, options);
  part.kind = "gate";
  part.title = fmt::format("{}: {}", printable(gate.name, 120), part.title);
  part.overview.headline = headline_of_gate(record, gate, verdict);
  part.outcome = outcome_of(verdict);
  part.answers = without_levels(worded_answers(record, of_run));
  prepend(worded_answers(record, gate, verdict), part.answers);
  prepend(checklist(record, gate, verdict), part.checks);
  part.gate = [&](JsonWriter& json) { write_gate(json, record, gate, verdict); };
  return part;
}

ReportPart gate_part(const RunRecord& record, const Verdict& of_run, const Gate& gate, const GateVerdict& verdict,
                     const RenderOptions& options) {
  ReportPart made = report_part(document_of_gate(record, of_run, gate, verdict, options), record, options);
  made.text = render_gate(record, gate, verdict, Format::table, {});
  return made;
}

ReportPart variants_part(const RunRecord& record, const Verdict& verdict, const VariantSet& set,
                         const RenderOptions& options) {
  const VariantsFigures figures = figures_of_variants(record, verdict, set);
  DocumentPart part = document_of_run(record, verdict, options);
  part.kind = "variants";
  part.title = "Variants of " + printable(last_name_of(set.model), 120) + day_and_host(record);
  part.overview.headline = headline_of_variants(record, set, figures);
  part.answers = worded(figures, variants_answers(figures));
  part.notices = notices_of_variants(verdict);
  part.checks = checklist(record, verdict, {.variants = true});
  part.outcome = exit_code_of_variants(verdict, set) == 0 ? outcome_of(part.checks) : Outcome::fail;
  part.recommendations = recommendations_of(record, set, figures);
  part.variants = [&](JsonWriter& json) { write_variants(json, record, verdict, set, figures); };
  ReportPart made = report_part(part, record, options);
  made.text = render_variants(record, verdict, set, Format::table, {});
  return made;
}

}  // namespace infermeter
