// The inputs and outputs of a program as the ABI describes them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "program.hpp"

namespace infermeter {

using Ports = std::vector<std::unique_ptr<Port>>;

// Of a TorchScript file, which shows its inputs' names; what shape they have, the option says.
[[nodiscard]] std::vector<Input> inputs_of_script(std::span<const std::string> names,
                                                  std::span<const InputShape> shapes);
// Of a package: as its text says, or, where there is none, as the option says.
[[nodiscard]] std::vector<Input> inputs_of_package(const std::vector<CompiledInput>& compiled,
                                                   std::span<const InputShape> shapes);
// Gives dynamic dimensions the sizes that were asked for. Throws Failure: no such dimension, or one that the program
// was not compiled for.
void fix_dimensions(std::vector<Input>& inputs, const imb_load& load);
// Refuses a size that the program was not compiled for.
void check_compiled(const Input& input, std::span<const std::int64_t> shape);

// Before a run only the names are known.
[[nodiscard]] Ports ports_before_run(std::span<const std::string> names);
// `dynamic_batch`: their first dimension may be another the next time.
[[nodiscard]] Ports ports_after_run(std::span<const NamedTensor> outputs, bool dynamic_batch);

}  // namespace infermeter
