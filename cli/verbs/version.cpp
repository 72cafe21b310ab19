// infermeter version.
#include <memory>

#include "cli/output/help.hpp"
#include "cli/verbs/verb.hpp"
#include "infermeter/version.hpp"

namespace infermeter {

Action declare_version(CLI::App& app) {
  set_help(app,
           {.usage = "infermeter version",
            .about = "Prints infermeter's version and how it was built. `infermeter backends` shows the runtimes'.",
            .examples = {},
            .notes = {}});
  return [](Surroundings& world) -> Result<int> {
    world.out << "infermeter " INFERMETER_VERSION " (" INFERMETER_BUILD ")\n";
    return 0;
  };
}

}  // namespace infermeter
