// What several answers are made of: their figure, and what is said in the same breath.
#pragma once

#include <string>

#include "infermeter/verdict/answers/answer.hpp"
#include "infermeter/verdict/run_record.hpp"
#include "infermeter/verdict/verdict.hpp"

namespace infermeter {

// Value, interval, counts; the estimate's note as the reason.
void set_figure(const Estimate& estimate, std::string_view unit, Answer& answer);

// Which of two subjects is better, by their pairs: the kind and its tone, the figure, how many there are of what.
[[nodiscard]] Answer answer_of_pairs(const PairedComparison& pairs);

// Whether outputs agree with the reference's; null: they were not compared.
void add_outputs(const SubjectOutputs* outputs, Answer& answer);
[[nodiscard]] bool outputs_differ(const SubjectOutputs* outputs);

// Only where the whole interval lies on one side; the ratio is of the host's memory.
void add_memory(const SubjectVerdict& subject, Answer& answer);

// Of a subject that was loaded for several inferences at once.
void add_requests(const RunRecord& record, int subject, Answer& answer);

}  // namespace infermeter
