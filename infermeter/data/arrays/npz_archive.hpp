// A zip archive that is discarded, not written, when it is let go.
#pragma once

#include <zip.h>

#include <memory>

namespace infermeter {

struct DiscardArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, DiscardArchive>;

}  // namespace infermeter
