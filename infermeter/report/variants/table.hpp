// The table of the report of variants, as cells, and its sentences: for the console and for Markdown.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "infermeter/report/forms/grid.hpp"
#include "infermeter/report/forms/json_writer.hpp"
#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/forms/worded_answer.hpp"
#include "infermeter/verdict/answers/variants_answers.hpp"
#include "infermeter/verdict/variants/figures.hpp"
#include "infermeter/verdict/verdict.hpp"

namespace infermeter {

// How near the scores of texts are to the baseline's; of other data, and of the baseline, there is none.
struct LanguageQuality {
  std::optional<double> kl_divergence{}, top1_agreement{};
};
[[nodiscard]] LanguageQuality language_quality(const VariantFigures& one);

// A row for each variant; columns that nothing is known for are left out.
[[nodiscard]] Grid variants_grid(const VariantSet& set, const VariantsFigures& figures);

// What is recommended of a variant, and what to mind of it; empty for the baseline.
[[nodiscard]] std::vector<Sentence> sentences_of(const RunRecord& record, const VariantSet& set,
                                                 const VariantFigures& figures);

// "On the Pareto front of output error, latency, memory and size: …", who is beaten by whom, what failed: of
// verdict/answers/variants_answers.hpp.
[[nodiscard]] std::vector<WordedAnswer> worded(const VariantsFigures& figures, const std::vector<Answer>& answers);

// Notices less those that say what variants are meant to be: other files, other precisions, other runtimes.
[[nodiscard]] std::vector<Notice> notices_of_variants(const Verdict& verdict);

[[nodiscard]] std::string render_variants_json(const RunRecord& record, const Verdict& verdict, const VariantSet& set,
                                               const VariantsFigures& figures);
void write_variants(JsonWriter& json, const RunRecord& record, const Verdict& verdict, const VariantSet& set,
                    const VariantsFigures& figures);
[[nodiscard]] std::string render_variants_markdown(const RunRecord& record, const Verdict& verdict,
                                                   const VariantSet& set, const VariantsFigures& figures);

}  // namespace infermeter
