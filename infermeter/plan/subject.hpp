// The short form of a subject and the matrix of flags, both turned into Subjects.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/plan.hpp"

namespace infermeter {

// `[label=]MODEL@BACKEND[,key=value…]`. Keys of ours: batch, dtype, device, threads, library, dim.NAME; every other key
// goes to the back end. `defaults` gives what the text does not say. The label defaults to a short text that tells the
// subject apart ("resnet50@openvino,batch=4").
[[nodiscard]] Result<Subject> subject_from_string(std::string_view text, const Subject& defaults);

struct Matrix {
  std::vector<std::string> models;
  std::vector<std::string> backends;
  std::vector<std::int64_t> batch_sizes = {1};
  std::vector<Precision> dtypes = {Precision::float32};
  std::vector<int> threads = {0};
  Subject defaults;
};

// Models × batch sizes × dtypes × threads × backends, the back end changing fastest; one group per (model, batch size).
[[nodiscard]] std::vector<Subject> expand(const Matrix& matrix);

// `MODEL@BACKEND`, then only what differs between the subjects given.
void label_subjects(std::vector<Subject>& subjects);

}  // namespace infermeter
