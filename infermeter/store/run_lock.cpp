#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "infermeter/store/sqlite.hpp"
#include "infermeter/store/store_impl.hpp"

namespace infermeter {
namespace {

// A byte of the lock file stands for a run. Locks of open files end with the process that has them, however it ends,
// and hold between any two programs of one kernel.
struct flock byte_of(std::string_view run) {
  const auto place = crc32_z(0, reinterpret_cast<const unsigned char*>(run.data()), run.size());
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(place);
  lock.l_len = 1;
  return lock;
}

struct flock whole_file() {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

std::string lock_file_of(const SqliteDatabase& store) { return store.path() + "-lock"; }

// Of a file that was removed meanwhile no lock is worth anything.
bool is_still_there(int descriptor, const std::string& file) {
  struct stat open_one{}, named{};
  return ::fstat(descriptor, &open_one) == 0 && ::stat(file.c_str(), &named) == 0 && open_one.st_dev == named.st_dev &&
         open_one.st_ino == named.st_ino;
}

enum class Taken { yes, no, file_removed };

Taken take(int descriptor, const std::string& file, std::string_view run) {
  struct flock lock = byte_of(run);
  if (::fcntl(descriptor, F_OFD_SETLK, &lock) == 0) {
    return is_still_there(descriptor, file) ? Taken::yes : Taken::file_removed;
  }
  if (errno != EAGAIN && errno != EACCES) return Taken::no;
  // Who has all of it is about to remove the file.
  struct flock other = byte_of(run);
  const bool all = ::fcntl(descriptor, F_OFD_GETLK, &other) == 0 && (other.l_type == F_UNLCK || other.l_len != 1);
  errno = EAGAIN;
  return all ? Taken::file_removed : Taken::no;
}

// The last one to leave removes the file.
class LockedFile {
 public:
  LockedFile(int descriptor, std::string file) : descriptor_(descriptor), file_(std::move(file)) {}
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;
  ~LockedFile() {
    struct flock all = whole_file();
    if (::fcntl(descriptor_, F_OFD_SETLK, &all) == 0 && is_still_there(descriptor_, file_)) ::unlink(file_.c_str());
    ::close(descriptor_);
  }

 private:
  int descriptor_;
  std::string file_;
};

// A process that dies while it starts a worker leaves a copy of its lock in the child, until that executes the worker's
// program: a run that was just killed is free a moment later. Asks `is_held` until it is free, for a second.
bool stays_held(const std::function<bool()>& is_held) {
  using namespace std::chrono_literals;
  constexpr int most_questions = 200;
  for (int i = 0; i < most_questions; ++i) {
    if (!is_held()) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

}  // namespace

Result<std::shared_ptr<void>> SqliteDatabase::take_run_lock(std::string_view run) const {
  const std::string file = lock_file_of(*this);
  while (true) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0644);
    if (descriptor < 0) {
      return io_error(fmt::format("cannot make the file {}, which marks for others that run {} is being measured: {}",
                                  file, run, std::strerror(errno)));
    }
    const Taken taken = take(descriptor, file, run);
    if (taken == Taken::yes) return std::shared_ptr<void>(std::make_shared<LockedFile>(descriptor, file));
    const int error = errno;
    ::close(descriptor);
    if (taken == Taken::file_removed) continue;
    if (error == EAGAIN || error == EACCES) return std::shared_ptr<void>();
    return io_error(fmt::format("cannot lock the file {}: {}", file, std::strerror(error)));
  }
}

bool SqliteDatabase::is_run_locked(std::string_view run) const {
  const int descriptor = ::open(lock_file_of(*this).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (descriptor < 0) return false;
  struct flock lock = byte_of(run);
  const bool held = ::fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK && lock.l_len == 1;
  ::close(descriptor);
  return held;
}

Result<Done> Store::Impl::check_own(std::string_view run) const {
  const auto others = fmt::format("SELECT count(*) FROM runs WHERE id = ?1 AND NOT {}", database().own_run());
  INFERMETER_TRY(const auto is_anothers, database().integer(others, run));
  if (is_anothers == 0) return Done{};
  return usage_error(fmt::format(
      "run {} is another user's: only who wrote it, and the owner of the store {}, may change it", run, name));
}

Result<RunLock> Store::lock_run(std::string_view id) {
  INFERMETER_TRY_DONE(impl_->check_own(id));
  INFERMETER_TRY(auto held, impl_->database().take_run_lock(id));
  if (!held && !stays_held([&] { return is_being_measured(id); })) {
    INFERMETER_TRY(held, impl_->database().take_run_lock(id));
  }
  if (held) return RunLock(std::move(held));
  return usage_error(
      fmt::format("run {} is being measured by another infermeter: wait until that ends, or end it", id));
}

bool Store::is_being_measured(std::string_view id) const { return impl_->database().is_run_locked(id); }

Result<std::string> Store::latest_unfinished() {
  INFERMETER_TRY(const auto runs, list_runs());
  bool any_measured = false;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    if (run->finished) continue;
    if (!stays_held([&] { return is_being_measured(run->id); })) return run->id;
    any_measured = true;
  }
  return usage_error(fmt::format("there is no unfinished run in {}{} ({}); `infermeter runs` lists them", impl_->name,
                                 any_measured ? " but what another infermeter is measuring" : "", impl_->flag));
}

Result<std::string> Store::id_of_run(std::string_view run) { return impl_->find(run); }

}  // namespace infermeter
