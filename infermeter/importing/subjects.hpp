// What is to be imported: files, and whose they are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

// Files that are processes of one subject: the more there are, the narrower its intervals.
struct ImportSubject {
  std::string label;
  std::vector<std::string> files;
  std::string compiled;  // the runtime's own graph (ONNX Runtime's optimized_model_filepath); empty: there is none
};

struct ImportRequest {
  std::vector<ImportSubject> subjects;
  std::string model;            // an ONNX file, or a name from the zoo: operators get its nodes; empty: there is none
  std::int64_t batch_size = 1;  // where the model leaves it open
  std::filesystem::path cache;  // of the zoo
  std::string output_dir = "results";
  std::string store{};  // Plan::store
  std::string command;  // for the record
};

// Of each text a subject: FILE, or LABEL=FILE,FILE,…, unless a file of that whole name exists. A subject without a
// label is called by its file's name. `compiled`: FILE where there is one subject, else LABEL=FILE. Errors: a label
// given twice, or one that no subject has.
[[nodiscard]] Result<std::vector<ImportSubject>> import_subjects(const std::vector<std::string>& texts,
                                                                 const std::vector<std::string>& compiled);

// Larger files are refused, and so are packed ones that unpack to more.
inline constexpr std::uint64_t kMostProfileBytes = std::uint64_t{2} << 30U;

}  // namespace infermeter
