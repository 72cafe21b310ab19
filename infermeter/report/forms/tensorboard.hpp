// What `infermeter report --tensorboard` writes: a log folder of TensorBoard's, from stored runs (docs/files.md).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "infermeter/report/profile/export_file.hpp"
#include "infermeter/verdict/judge.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

struct NamedPicture {
  std::string name;   // tag
  std::string bytes;  // PNG
};

// Pure. A folder per label, which is a run of TensorBoard's: figures and histograms with a step for each of `runs`, in
// this order, and a trace for each profiled process. Names have folders: "resnet50@openvino/events.out.tfevents.…".
[[nodiscard]] std::vector<ProfileExport> tensorboard_files(std::span<const RunRecord> runs,
                                                           std::span<const NamedPicture> pictures = {});

}  // namespace infermeter
