// Recommendations in words.
#pragma once

#include <string>

#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/verdict/answers/recommend.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {

// "1.82x faster than baseline", "Accuracy loss: -0.0015"; its sign is sign_of(tone).
[[nodiscard]] Sentence recommendation_sentence(const Recommendation& recommendation);

// A block for each subject that has any, under its label, a line for each: "  ✓ 2.21 GB less memory". Empty: there are
// none.
[[nodiscard]] std::string recommendations_text(const RunRecord& record, const Verdict& verdict,
                                               const RecommendOptions& options = {});

}  // namespace infermeter
