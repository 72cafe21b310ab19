#include "infermeter/samples/environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "infermeter/text/hash.hpp"

namespace infermeter {
namespace {

// Every field ends with a byte that no field holds, so that "ab","c" is not "a","bc".
class Digest {
 public:
  void add(std::string_view text) {
    hash_.add(text);
    hash_.add(0xff);
  }
  void add(std::uint64_t number) { add(fmt::format("{}", number)); }
  void add(int number) { add(fmt::format("{}", number)); }
  [[nodiscard]] std::uint64_t value() const { return hash_.value(); }

 private:
  Fnv1a hash_;
};

// What the firmware keeps for itself differs from boot to boot by some MiB: machines differ by more than that.
std::uint64_t in_quarter_gibibytes(std::uint64_t bytes) { return (bytes + (1U << 27)) >> 28; }

}  // namespace

std::string machine_fingerprint(const Environment& environment) {
  std::set<std::string> of_nodes;
  for (const Environment& node : environment.nodes) of_nodes.insert(machine_fingerprint(node));
  if (of_nodes.size() == 1) return *of_nodes.begin();
  Digest digest;
  if (!of_nodes.empty()) {
    for (const std::string& fingerprint : of_nodes) digest.add(fingerprint);
    return fmt::format("{:016x}", digest.value());
  }
  digest.add(environment.processor);
  digest.add(environment.architecture);
  auto flags = environment.flags;
  std::sort(flags.begin(), flags.end());
  digest.add(flags.size());
  for (const auto& flag : flags) digest.add(flag);
  digest.add(environment.processors_online);
  digest.add(environment.processors_usable);
  digest.add(environment.quota_processors ? fmt::format("{:.2f}", *environment.quota_processors) : "none");
  digest.add(environment.cores);
  digest.add(environment.sockets);
  digest.add(environment.numa_nodes);
  digest.add(environment.smt_active ? 1 : 0);
  digest.add(environment.caches.size());
  for (const auto& cache : environment.caches) {
    digest.add(cache.kind);
    digest.add(cache.size_bytes);
    digest.add(cache.shared_by);
  }
  digest.add(in_quarter_gibibytes(environment.memory_total_bytes));
  digest.add(environment.kernel);
  return fmt::format("{:016x}", digest.value());
}

}  // namespace infermeter
