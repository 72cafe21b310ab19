// What the reports of layers say.
#pragma once

#include <optional>

#include "infermeter/report/forms/json_writer.hpp"
#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/run/answers.hpp"
#include "infermeter/verdict/layers_record.hpp"

namespace infermeter {

// Runtimes make one kernel of several operators, but not across a tensor that somebody wants.
inline constexpr const char* kExposedNote =
    "every intermediate tensor is an output here, which keeps runtimes from fusing operators: the times of these "
    "copies say nothing, and a fused kernel may round otherwise";

// The matched tensor with the largest finite error; nullopt where there is none.
[[nodiscard]] std::optional<std::size_t> worst_tensor(const LayerGrowth& growth);

// Where they part, if they do.
[[nodiscard]] Sentence layers_answer(const LayersRecord& record);

void write_layers(JsonWriter& json, const LayersRecord& record);

}  // namespace infermeter
