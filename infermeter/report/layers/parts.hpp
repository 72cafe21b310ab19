// What the reports of layers say.
#pragma once

#include "infermeter/report/forms/json_writer.hpp"
#include "infermeter/report/forms/worded_answer.hpp"
#include "infermeter/verdict/answers/layers_answers.hpp"
#include "infermeter/verdict/layers_record.hpp"

namespace infermeter {

// Runtimes make one kernel of several operators, but not across a tensor that somebody wants.
inline constexpr const char* kExposedNote =
    "every intermediate tensor is an output here, which keeps runtimes from fusing operators: the times of these "
    "copies say nothing, and a fused kernel may round otherwise";

// Where they part, if they do.
[[nodiscard]] WordedAnswer worded_answer(const LayersRecord& record);

void write_layers(JsonWriter& json, const LayersRecord& record);

}  // namespace infermeter
