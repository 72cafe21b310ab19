#include "stages.hpp"

#include <chrono>

#include "sdk/operators_file.hpp"

namespace infermeter {
namespace {

std::int64_t nanoseconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace

void StageClock::begin() { last_ = nanoseconds_now(); }

void StageClock::lap(Stage stage) {
  const std::int64_t now = nanoseconds_now();
  Sum& sum = sums_[static_cast<std::size_t>(stage)];
  sum.nanoseconds += now - last_;
  ++sum.calls;
  last_ = now;
}

void write_stages(const StageClock& clock, std::uint64_t runs, const std::string& folder) {
  OperatorsFile file;
  file.source = "the stages of imaging, timed as they end";
  file.iterations = runs;
  const double count = runs > 0 ? static_cast<double>(runs) : 1;
  for (std::size_t i = 0; i < stage_names.size(); ++i) {
    const StageClock::Sum& sum = clock.sums()[i];
    if (sum.calls == 0) continue;
    const bool is_fft = stage_names[i].ends_with("_fft");
    OperatorsFile::Operator op;
    op.name = stage_names[i];
    op.kind = is_fft ? "FFT" : stage_names[i];
    op.provider = is_fft ? "FFTW" : "imaging";
    file.operators.push_back(std::move(op));
    file.mean_ns.push_back(static_cast<double>(sum.nanoseconds) / count);
    file.mean_calls.push_back(static_cast<double>(sum.calls) / count);
  }
  write_operators(file, folder);
}

}  // namespace infermeter
