// The short form of a subject and the matrix of flags, both turned into Subjects.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/plan.hpp"

namespace infermeter {

// `[label=]MODEL@BACKEND[,key=value…]`. Keys of ours: batch, dtype, device, threads, library, dim.NAME,
// batch_axis.INPUT, batch_axis=none, load.KEY, env.NAME; every other key goes to the back end. `defaults` gives what
// the text does not say. MODEL may be a path: the '@' that counts is the last one that a back end's name and then ','
// or the end follow, and a label is a plain word (letters, digits, '_',
// '.', '-') before the first '=' that stands before that '@'. Without a label it is `short_form`.
[[nodiscard]] Result<Subject> subject_from_string(std::string_view text, const Subject& defaults);

// "batch_axis.x"; of all inputs "batch_axis".
[[nodiscard]] std::string batch_axis_key(const std::string& input);

// The subject written out, with every value that is not the default: "resnet50@openvino,batch=4".
[[nodiscard]] std::string short_form(const Subject& subject);

// A model that is Python code: a function that is called without arguments and returns what is to be measured.
// `MODULE:FACTORY` (package.module:make) or `FILE.py:FACTORY` (path/to/models.py:make); names in ASCII.
struct Factory {
  std::string_view source;  // MODULE or FILE.py
  std::string_view name;
  bool is_file = false;
};
[[nodiscard]] std::optional<Factory> factory_from_string(std::string_view model);
// A string of this form is a model's file all the same if a file of exactly this name exists.
[[nodiscard]] bool is_factory(std::string_view model);

// A language model is a folder in the form that Hugging Face's tools read. What stands for it is the file kFolderConfig
// in it, and its format is called kFolderFormat.
inline constexpr std::string_view kFolderConfig = "config.json";
inline constexpr std::string_view kFolderFormat = "hf";
// PATH ends in /config.json.
[[nodiscard]] bool is_folder_config(std::string_view path);
// A path without the folders above it: of a language model the folder that it is, else the file.
[[nodiscard]] std::string last_name_of(std::string_view path);

struct Matrix {
  std::vector<std::string> models{};
  std::vector<std::string> backends{};
  std::vector<std::int64_t> batch_sizes = {1};
  std::vector<Precision> dtypes = {Precision::float32};
  std::vector<int> threads = {0};
  std::vector<Pairs> loads = {{}};
  Subject defaults{};
};

// Models × batch sizes × dtypes × threads × loads × backends, the back end changing fastest; one group per (model,
// batch size, load).
[[nodiscard]] std::vector<Subject> expand(const Matrix& matrix);

// Labels that nobody chose (empty, or the short form) become `MODEL@BACKEND`, then only what differs between the
// subjects given; a path is shortened to its file name where that is enough. Subjects that are the same in everything
// get "#2", …
void label_subjects(std::vector<Subject>& subjects);

}  // namespace infermeter
