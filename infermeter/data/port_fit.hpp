// Ports against the data that is to go into them.
#pragma once

#include <cstdint>
#include <string>

#include "infermeter/data/data_set.hpp"
#include "infermeter/data/tensor.hpp"
#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

inline constexpr std::int64_t kMostItems = 1'000'000;

// "float32 [1, 3, 224, 224]", or what kind it is where it is no tensor.
[[nodiscard]] std::string describe(const Port& port);
[[nodiscard]] std::string describe(const Tensor& tensor);

// "give --batch-sizes 4"; empty where no batch can have that size.
[[nodiscard]] std::string batch_size_advice(std::int64_t size);

// The port's shape with `batch_size` for a dynamic batch axis; an error where another dimension is dynamic or the rank
// is not known.
[[nodiscard]] Result<Shape> concrete_shape(const Port& port, std::int64_t batch_size);

// "4 GiB; use a smaller batch size, --dim or --data-limit": what data may take, and what helps where it is too little.
[[nodiscard]] std::string most_data(const DataOptions& options);

// An error where options.first leaves out all of the `available` items.
[[nodiscard]] Result<Done> check_first(const DataOptions& options, std::int64_t available);

// Whether a value of this shape may go in: fixed dimensions equal, dynamic ones as they come.
[[nodiscard]] bool accepts_shape(const Port& port, std::span<const std::int64_t> shape);

// An error that names the input, what it wants, and what `file` has.
[[nodiscard]] Result<Done> check_value(const Port& port, const Value& value, std::string_view file);

}  // namespace infermeter
