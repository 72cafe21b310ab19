// How right a subject is, and how much less so than its baseline, as short texts.
#pragma once

#include <string>
#include <vector>

#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {

// Shares with four digits: "0.7612"; their changes with a sign: "-0.0015".
[[nodiscard]] std::string share_text(double share);
[[nodiscard]] std::string signed_share(double change);

// "0.7597 (-0.0015)"; of masks the mean IoU.
[[nodiscard]] Cell accuracy_cell(const SubjectVerdict& subject);
// Does any of them have one?
[[nodiscard]] bool has_accuracy(const std::vector<const SubjectVerdict*>& subjects);

// One of accuracy_answers(verdict) in words.
[[nodiscard]] std::string accuracy_sentence(const RunRecord& record, const Verdict& verdict, const Answer& answer);

// " (PSNR 52.3 dB, SSIM 0.9991)" of the output that is least like its reference; empty where none is an image.
[[nodiscard]] std::string image_figures(const OutputComparison& comparison);

}  // namespace infermeter
