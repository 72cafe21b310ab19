// --save-path: the files that variants are made of, kept in a folder of the user's.
#pragma once

#include <string>

#include "cli/verbs/verb.hpp"
#include "infermeter/diagnostics/result.hpp"
#include "infermeter/variants/variants.hpp"

namespace infermeter {

struct MadeFiles {
  std::string path;  // a folder; of one file, it may be its name
  bool force = false;

  // Says before anything is made what `save` would refuse later.
  [[nodiscard]] Result<Done> check(const PreparedVariants& prepared) const;
  // Each with what belongs to it: the weights of an .xml file.
  [[nodiscard]] Result<Done> save(Surroundings& world, const PreparedVariants& prepared) const;
};

}  // namespace infermeter
