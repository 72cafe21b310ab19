// Many who write one store at once: how many trials a second are acknowledged, and whether all are there.
//   build/release/bench/store_writers PLACE [WRITERS RUNS TRIALS]
// PLACE: as --store takes it; an empty database or a new file. Each writer has a connection of its own and begins,
// measures and finishes RUNS runs of TRIALS trials with 10 iterations each. Exit 1: a trial is missing.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "infermeter/infermeter.hpp"

namespace {

using namespace infermeter;
using Clock = std::chrono::steady_clock;

RunRecord run_of(int writer, int run, int trials) {
  RunRecord record;
  record.id = "writer-" + std::to_string(writer) + "-" + std::to_string(run);
  record.created_at = 1795261320.0 + run;
  Subject subject;
  subject.label = subject.model = "mlp";
  subject.backend = "fake";
  record.plan.subjects = {subject};
  record.plan.processes = trials;
  order_trials(record.plan);
  record.models.resize(1);
  return record;
}

Samples trial_at(int position) {
  Samples trial;
  trial.process = trial.position = position;
  trial.end = TrialEnd::ok;
  for (int i = 0; i < 10; ++i) {
    trial.begin_s.push_back(0.001 * i);
    trial.end_s.push_back(0.001 * i + 0.0005);
  }
  return trial;
}

// The seconds that each trial took until it was acknowledged.
Result<std::vector<double>> write(const StorePlace& place, int writer, int runs, int trials) {
  INFERMETER_TRY(auto store, Store::open(place, Store::Mode::write));
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    RunRecord record = run_of(writer, i, trials);
    INFERMETER_TRY(const RunLock lock, store.lock_run(record.id));
    INFERMETER_TRY_DONE(store.begin_run(record));
    for (int position = 0; position < trials; ++position) {
      record.trials.push_back(trial_at(position));
      const auto begin = Clock::now();
      INFERMETER_TRY_DONE(store.add_trial(record.id, record.trials.back()));
      times.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    }
    record.finished = true;
    INFERMETER_TRY_DONE(store.finish_run(record));
  }
  return times;
}

int fail(const Error& error) {
  std::fprintf(stderr, "store_writers: %s\n", error.message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fputs("usage: store_writers PLACE [WRITERS RUNS TRIALS]\n", stderr), 2;
  const auto number = [&](int i, int otherwise) { return argc > i ? std::max(1, std::atoi(argv[i])) : otherwise; };
  const int writers = number(2, 32), runs = number(3, 10), trials = number(4, 20);
  const auto place = StorePlace::from_text(argv[1]);
  if (!place.ok()) return fail(place.error());
  std::vector<Result<std::vector<double>>> written(static_cast<std::size_t>(writers), std::vector<double>());
  std::vector<std::thread> threads;
  const auto begin = Clock::now();
  for (int writer = 0; writer < writers; ++writer) {
    threads.emplace_back(
        [&, writer] { written[static_cast<std::size_t>(writer)] = write(*place, writer, runs, trials); });
  }
  for (auto& thread : threads) thread.join();
  const double wall_s = std::chrono::duration<double>(Clock::now() - begin).count();
  std::vector<double> times;
  for (const auto& one : written) {
    if (!one.ok()) return fail(one.error());
    times.insert(times.end(), one->begin(), one->end());
  }
  std::ranges::sort(times);
  auto store = Store::open(*place, Store::Mode::read);
  if (!store.ok()) return fail(store.error());
  int found = 0;
  for (int writer = 0; writer < writers; ++writer) {
    for (int i = 0; i < runs; ++i) {
      const auto record = store->load_run(run_of(writer, i, trials).id);
      if (!record.ok()) return fail(record.error());
      found += record->finished ? static_cast<int>(record->trials.size()) : 0;
    }
  }
  const auto at = [&](double share) {
    return 1e3 * times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
  };
  std::printf(
      "%d writers, %d runs of %d trials each: %d of %d trials are there, %.0f trials/s; acknowledged after %.1f ms "
      "(median), %.1f ms (p99)\n",
      writers, runs, trials, found, writers * runs * trials, static_cast<double>(times.size()) / wall_s, at(0.5),
      at(0.99));
  return found == writers * runs * trials ? 0 : 1;
}
