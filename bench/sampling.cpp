// What sampling call stacks costs, without the differences between processes that drown a cost of one per cent: one
// process, in which the sampler of profile trials is switched on and off by turns, window after window.
//
// usage: sampling PLUGIN MODEL SITE_PACKAGES auto|dwarf WINDOWS ITERATIONS
// Prints the median of each window in seconds as JSON: {"on": [...], "off": [...]}; windows of one place are
// neighbours.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "infermeter/data/make_data.hpp"
#include "infermeter/trial/subject.hpp"
#include "infermeter/worker/plugin.hpp"
#include "infermeter/worker/profile/perf_sampler.hpp"

namespace {

using namespace infermeter;

template <class T>
T value_or_exit(Result<T> result) {
  if (result.ok()) return std::move(*result);
  std::fprintf(stderr, "sampling: %s\n", result.error().message.c_str());
  std::exit(1);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double seconds_of(Request& inference) {
  const auto begin = std::chrono::steady_clock::now();
  if (!inference.run()) std::exit(1);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::string list_of(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : ", ") + std::to_string(value);
  return text;
}

// Empties the rings as the launcher does while a trial runs.
class Drain {
 public:
  explicit Drain(PerfSampler& sampler)
      : thread_([this, &sampler] {
          while (!done_) {
            sampler.drain([] { return true; });
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
          }
        }) {}
  ~Drain() {
    done_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  const imb_backend& backend = *value_or_exit(load_plugin(argv[1]));
  const Runtime runtime = value_or_exit(Runtime::open(backend, {.library = {}, .python_folders = {argv[3]}}));
  const LoadPlan plan = value_or_exit(plan_load({.threads = 1}, {argv[2], {}}, runtime.info(), 1));
  Session session = value_or_exit(Session::load(runtime, plan));
  if (session.has_compile()) value_or_exit(session.compile());
  const DataSet data = value_or_exit(make_data({}, session.inputs()));
  const std::vector<ItemValues> items = {data.items.front().inputs};
  Request inference = value_or_exit(Request::create(session, items));
  if (!inference.prepare(0)) return 1;

  const bool dwarf = std::string_view(argv[4]) == "dwarf";
  PerfSampler sampler =
      value_or_exit(PerfSampler::open(getpid(), dwarf ? PerfSampleForm::stack : PerfSampleForm::call_chain));
  const Drain drain(sampler);
  for (int i = 0; i < 10; ++i) seconds_of(inference);
  std::vector<double> medians[2];
  for (int window = 0; window < std::atoi(argv[5]); ++window) {
    const int first = window % 2;  // on off, off on, on off …: what drifts falls on both
    for (const int on : {first, 1 - first}) {
      on != 0 ? sampler.enable() : sampler.disable();
      std::vector<double> seconds;
      for (int i = 0; i < std::atoi(argv[6]); ++i) seconds.push_back(seconds_of(inference));
      medians[on].push_back(median(std::move(seconds)));
    }
  }
  std::printf("{\"on\": [%s], \"off\": [%s]}\n", list_of(medians[1]).c_str(), list_of(medians[0]).c_str());
}
