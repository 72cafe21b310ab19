// ONNX's test_data_set_N folders: input_0.pb …, output_0.pb … .
#pragma once

#include <string>

#include "infermeter/data/data_set.hpp"

namespace infermeter {

[[nodiscard]] bool is_test_data_set(const std::string& folder);

// One item. `outputs`, where they are known, say of which kind the recorded outputs are and how they are called;
// otherwise their names are output_0, output_1 … .
[[nodiscard]] Result<DataSet> make_from_test_data_set(const DataOptions& options, std::span<const Port> inputs,
                                                      std::span<const Port> outputs);

}  // namespace infermeter
