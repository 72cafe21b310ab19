// A line of the summary that names a file.
#pragma once

#include <string>

namespace infermeter {

// What the summary reports about files: where they are, and of what.
struct StudyFileLine {
  std::string file, about;
};

}  // namespace infermeter
