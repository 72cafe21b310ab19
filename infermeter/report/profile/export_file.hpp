// A file that is written for other tools.
#pragma once

#include <string>

namespace infermeter {

struct ProfileExport {
  std::string name;  // of the file, in the folder that all are in; "tensorboard/…" has folders of its own
  std::string bytes;
};

}  // namespace infermeter
