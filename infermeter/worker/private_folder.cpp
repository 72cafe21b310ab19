#include "infermeter/worker/private_folder.hpp"

#include <stdlib.h>

#include <string>
#include <system_error>
#include <vector>

namespace infermeter {

Result<PrivateFolder> PrivateFolder::create() {
  std::vector<std::string> parents = {"/tmp", "/var/tmp", "/dev/shm"};
  const char* const asked = getenv("TMPDIR");
  if (asked != nullptr && asked[0] == '/') parents.insert(parents.begin(), asked);
  for (const std::string& parent : parents) {
    std::string name = parent + "/infermeter-XXXXXX";
    if (mkdtemp(name.data()) != nullptr) return PrivateFolder(name);
  }
  return io_error(
      "no temporary folder can be made in $TMPDIR, /tmp, /var/tmp or /dev/shm; set TMPDIR to a folder with room");
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace infermeter
