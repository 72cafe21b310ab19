// Where answers part, as text: by the tokenizers that the models came with.
#pragma once

#include <span>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/fidelity/output_difference.hpp"
#include "infermeter/run/run_context.hpp"
#include "infermeter/samples/model_facts.hpp"
#include "infermeter/store/store.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// The texts of the partings of answers in tokens, each side read with its own model's tokenizer, in a sandboxed
// process. None where a model has no tokenizer; none, and a note of the progress, where it cannot be used.
void add_parting_texts(std::span<OutputDifference> outputs, const ModelFacts& reference, const ModelFacts& candidate,
                       Sandbox sandbox, const RunContext& context);
// Of all subjects whose partings have none; kept in the store.
[[nodiscard]] Result<Done> add_parting_texts(Store& store, RunRecord& record, const RunContext& context);

}  // namespace infermeter
