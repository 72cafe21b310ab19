#include "infermeter/worker/wall/process_tree.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

#include "infermeter/trial/machine/memory_probe.hpp"
#include "infermeter/trial/machine/proc_file.hpp"
#include "infermeter/worker/wall/shared_pages.hpp"

namespace infermeter {
namespace {

constexpr double times_its_cost = 49;     // what is read of processes is read for at most 2 % of the time
constexpr double between_files_s = 0.25;  // a look at descriptors takes some 100 us
constexpr double between_sizes_s = 0.1;   // a look at /proc/PID/status some 30 us
constexpr double between_searches_s = 0.25;

void add_numbers(std::string_view text, std::vector<pid_t>& numbers) {
  while (!text.empty()) {
    pid_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc()) numbers.push_back(number);
    const std::size_t used = error == std::errc() ? static_cast<std::size_t>(end - text.data()) : 1;
    text.remove_prefix(std::min(used, text.size()));
  }
}

// The last field of /proc/loadavg (proc(5)): the number that was given to a process or thread last.
std::string last_made() {
  const std::string text = read_proc_file("/proc/loadavg");
  return text.substr(std::min(text.rfind(' '), text.size()));
}

// resident and shared of /proc/PID/statm, in bytes.
struct Statm {
  std::uint64_t resident = 0, shared = 0;
};
std::optional<Statm> statm_of(pid_t process) {
  const std::string text = read_proc_file(fmt::format("/proc/{}/statm", process));
  std::vector<pid_t> pages;
  add_numbers(text, pages);
  if (pages.size() < 3) return std::nullopt;
  const auto bytes = [page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))](pid_t count) {
    return static_cast<std::uint64_t>(count) * page;
  };
  return Statm{bytes(pages[1]), bytes(pages[2])};
}

std::optional<std::uint64_t> proportional_bytes(pid_t process) {
  return kilobytes_field(read_proc_file(fmt::format("/proc/{}/smaps_rollup", process)), "\nPss:");
}

// A process may forbid others to read its maps; its resident set can be read by everyone.
std::uint64_t bytes_of_descendant(pid_t process) {
  if (const auto bytes = proportional_bytes(process)) return *bytes;
  return statm_of(process).value_or(Statm{}).resident;
}

}  // namespace

std::optional<std::vector<pid_t>> children_of(pid_t process) {
  std::vector<pid_t> children;
  std::error_code error;
  bool readable = false;
  for (std::filesystem::directory_iterator thread(fmt::format("/proc/{}/task", process), error), end;
       !error && thread != end; thread.increment(error)) {
    const std::string file = (thread->path() / "children").string();
    readable = readable || access(file.c_str(), R_OK) == 0;
    add_numbers(read_proc_file(file), children);
  }
  if (!readable) return std::nullopt;
  return children;
}

std::vector<pid_t> descendants_of(pid_t process) {
  std::vector<pid_t> found = children_of(process).value_or(std::vector<pid_t>());
  for (std::size_t i = 0; i < found.size() && found.size() < most_worker_threads; ++i) {
    const auto children = children_of(found[i]).value_or(std::vector<pid_t>());
    found.insert(found.end(), children.begin(), children.end());
  }
  return found;
}

void Seldom::run(const std::function<void()>& what, double pause_s) {
  const double begin_s = clock_();
  what();
  const double end_s = clock_();
  again_s_ = end_s + std::max(pause_s, times_its_cost * (end_s - begin_s));
}

std::uint64_t SeldomSum::at(std::uint64_t cheap, std::uint64_t limit, const std::function<std::uint64_t()>& take) {
  const std::uint64_t grown = cheap > cheap_ ? taken_ + (cheap - cheap_) : taken_ - std::min(taken_, cheap_ - cheap);
  if (!pace_.is_due() && (limit == 0 || grown <= limit)) return grown;
  pace_.run([&] { taken_ = take(); });
  cheap_ = cheap;
  return taken_;
}

ProcessTree::ProcessTree(pid_t worker, pid_t supervisor, std::filesystem::path folder, Seldom::Clock clock)
    : worker_(worker),
      supervisor_(supervisor),
      folder_(std::move(folder)),
      search_(clock),
      quiet_(clock),
      shared_before_(shared_memory_in_use()) {}

void ProcessTree::search() {
  descendants_ = descendants_of(supervisor_ > 0 ? supervisor_ : worker_);
  std::erase(descendants_, worker_);
}

const std::vector<pid_t>& ProcessTree::descendants() {
  if (!search_.is_due()) return descendants_;
  // A number is given some time before its process is anyone's child, and an orphan is nobody's while it changes
  // parents: that no number is new does not show that all were found.
  std::string last = last_made();
  if (!last.empty() && last == last_made_ && !quiet_.is_due()) return descendants_;
  last_made_ = std::move(last);
  quiet_.run([this] { search_.run([this] { search(); }); }, between_searches_s);
  return descendants_;
}

void ProcessTree::look_at_files() {
  const auto look = [this] {
    HeldFiles held;
    held.add(worker_);
    for (const pid_t process : descendants_) held.add(process);
    in_files_ = held.bytes + bytes_of_own_shared_memory(worker_);
    sockets_ = held.sockets;
  };
  if (files_.is_due()) files_.run(look, between_files_s);
}

void ProcessTree::look_at_sizes() {
  const auto look = [this] {
    ProcessSize sum = size_of_process(worker_);
    for (const pid_t process : descendants_) {
      const ProcessSize size = size_of_process(process);
      sum.beside_bytes += size.beside_bytes;
      sum.threads += size.threads;
    }
    beside_bytes_ = sum.beside_bytes;
    threads_ = sum.threads;
    const std::uint64_t shared = shared_memory_in_use();
    shared_growth_ = shared - std::min(shared, shared_before_);
  };
  if (sizes_.is_due()) sizes_.run(look, between_sizes_s);
}

// Of what shared memory has grown by on this machine, what could be theirs and is in no other sum.
std::uint64_t ProcessTree::hidden_bytes() {
  std::vector<pid_t> all = descendants_;
  all.push_back(worker_);
  std::uint64_t counted = not_mapped_;
  for (const pid_t process : all) counted += mapped_shared_memory_of(process);
  const std::uint64_t held = std::min(shared_growth_, most_shared_memory_of(all, folder_));
  return held - std::min(held, counted);
}

std::uint64_t ProcessTree::bytes_beside(std::uint64_t counted, std::uint64_t limit) {
  look_at_sizes();
  if (limit == 0) return beside_bytes_;
  if (counted + beside_bytes_ + shared_growth_ <= limit) return beside_bytes_;
  if (hidden_.is_due()) hidden_.run([this] { hidden_bytes_ = hidden_bytes(); });
  return beside_bytes_ + hidden_bytes_;
}

std::string ProcessTree::excess() const {
  if (threads_ > most_worker_threads)
    return fmt::format("{} threads and processes, more than {}", threads_, most_worker_threads);
  if (sockets_ > most_worker_sockets) return fmt::format("{} sockets, more than {}", sockets_, most_worker_sockets);
  return {};
}

std::optional<std::uint64_t> ProcessTree::resident_bytes(std::uint64_t own_bytes, std::uint64_t limit) {
  const auto worker = statm_of(worker_);
  if (!worker) return std::nullopt;
  const std::uint64_t own = std::min(own_bytes, worker->shared);
  // Pages of memory files that are mapped are in the resident set already.
  look_at_files();
  not_mapped_ = in_files_ - std::min(in_files_, std::max(own_bytes, worker->shared));
  const std::uint64_t of_worker = worker->resident - own + not_mapped_;
  std::uint64_t of_others = 0;
  for (const pid_t process : descendants()) of_others += statm_of(process).value_or(Statm{}).resident;
  if (of_others == 0) return of_worker;
  const auto sum_of_others = [this] {
    std::uint64_t sum = 0;
    for (const pid_t process : descendants_) sum += bytes_of_descendant(process);
    return sum;
  };
  const std::uint64_t room = limit > of_worker ? limit - of_worker : 0;
  const std::uint64_t bytes = of_worker + others_.at(of_others, room, sum_of_others);
  if (limit == 0 || bytes <= limit) return bytes;
  // Pages that a child has inherited are in both: counted in parts, they are counted once.
  return all_.at(of_worker + of_others, limit, [&] {
    const std::uint64_t exact = proportional_bytes(worker_).value_or(worker->resident);
    return exact - std::min(own, exact) + not_mapped_ + sum_of_others();
  });
}

}  // namespace infermeter
