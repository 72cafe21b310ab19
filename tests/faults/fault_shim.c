/* Preloaded into infermeter's driver: at the n-th call of a kind, something goes wrong.
 *
 * FAULT_CALL   sync (fsync, fdatasync), write (write, pwrite; of regular files), malloc (and its kin)
 * FAULT_AT     which call, from 1; 0: none, calls are only counted
 * FAULT_WHAT   kill, stop (SIGSTOP), eio, enospc, short (half of what was to be written), null (malloc fails)
 * FAULT_BYTES  the disk takes so many bytes more; then every write fails with ENOSPC
 * FAULT_COUNT  a file that gets the number of calls at exit: "sync write malloc bytes"
 *
 * Workers, and whatever else is started, are left alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum call { SYNC, WRITE, MALLOC, CALLS };
enum what { NOTHING, KILL, STOP, FAIL_IO, FAIL_SPACE, SHORT, NULL_POINTER };

static int active, wanted_call = -1;
static pid_t driver;
static enum what wanted = NOTHING;
static long wanted_at, counted[CALLS], bytes_written, bytes_left = -1;

static long number(const char* name, long otherwise) {
  const char* text = getenv(name);
  return text == NULL ? otherwise : strtol(text, NULL, 10);
}

static int is(const char* name, const char* value) {
  const char* text = getenv(name);
  return text != NULL && strcmp(text, value) == 0;
}

static void begin(void) {
  if (strcmp(program_invocation_short_name, "infermeter") != 0) return;
  static const char* const calls[] = {"sync", "write", "malloc"};
  static const char* const whats[] = {"", "kill", "stop", "eio", "enospc", "short", "null"};
  for (int i = 0; i < CALLS; ++i)
    if (is("FAULT_CALL", calls[i])) wanted_call = i;
  for (int i = 1; i < (int)(sizeof whats / sizeof *whats); ++i)
    if (is("FAULT_WHAT", whats[i])) wanted = (enum what)i;
  wanted_at = number("FAULT_AT", 0);
  bytes_left = number("FAULT_BYTES", -1);
  driver = getpid();
  active = 1;
}

__attribute__((destructor)) static void end(void) {
  const char* file = active ? getenv("FAULT_COUNT") : NULL;
  active = 0;
  if (file == NULL) return;
  char text[200];
  const int size =
      snprintf(text, sizeof text, "%ld %ld %ld %ld\n", counted[SYNC], counted[WRITE], counted[MALLOC], bytes_written);
  const int descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0 || write(descriptor, text, (size_t)size) != size) abort();
  close(descriptor);
}

/* From main on: what libraries allocate while they are loaded is not ours to guard. */
static int (*real_main)(int, char**, char**);

static int counted_main(int count, char** arguments, char** environment) {
  begin();
  return real_main(count, arguments, environment);
}

int __libc_start_main(int (*program)(int, char**, char**), int count, char** arguments, void (*initialise)(void),
                      void (*finish)(void), void (*finish_loader)(void), void* stack_end) {
  int (*const real)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void), void (*)(void), void*) =
      (int (*)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void), void (*)(void), void*))dlsym(
          RTLD_NEXT, "__libc_start_main");
  real_main = program;
  return real(counted_main, count, arguments, initialise, finish, finish_loader, stack_end);
}

/* What is to happen to this call. */
static enum what due(enum call call) {
  /* A child that borrows the driver's memory until it executes its program is none. */
  if (!active || getpid() != driver) return NOTHING;
  const long now = __atomic_add_fetch(&counted[call], 1, __ATOMIC_RELAXED);
  if ((int)call != wanted_call || now != wanted_at) return NOTHING;
  if (wanted == KILL || wanted == STOP) {
    kill(getpid(), wanted == KILL ? SIGKILL : SIGSTOP);
    return NOTHING;
  }
  return wanted;
}

static int sync_file(int file, const char* name) {
  int (*const real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  if (due(SYNC) == FAIL_IO) {
    /* The bytes may be on the disk all the same. */
    errno = EIO;
    return -1;
  }
  return real(file);
}

int fsync(int file) { return sync_file(file, "fsync"); }
int fdatasync(int file) { return sync_file(file, "fdatasync"); }

static int is_file(int descriptor) {
  struct stat file;
  return fstat(descriptor, &file) == 0 && S_ISREG(file.st_mode) && file.st_nlink > 0;
}

/* How much of `size` is to be written; -1: it fails, errno says why. */
static ssize_t allowed(int descriptor, size_t size) {
  if (!active || !is_file(descriptor)) return (ssize_t)size;
  const enum what now = due(WRITE);
  if (now == FAIL_IO || now == FAIL_SPACE) {
    errno = now == FAIL_IO ? EIO : ENOSPC;
    return -1;
  }
  if (now == SHORT && size > 1) size /= 2;
  if (bytes_left >= 0) {
    if (bytes_written >= bytes_left) {
      errno = ENOSPC;
      return -1;
    }
    if ((long)size > bytes_left - bytes_written) size = (size_t)(bytes_left - bytes_written);
  }
  bytes_written += (long)size;
  return (ssize_t)size;
}

ssize_t write(int file, const void* bytes, size_t size) {
  static ssize_t (*real)(int, const void*, size_t);
  if (real == NULL) real = (ssize_t(*)(int, const void*, size_t))dlsym(RTLD_NEXT, "write");
  const ssize_t some = allowed(file, size);
  return some < 0 ? -1 : real(file, bytes, (size_t)some);
}

static ssize_t write_at(int file, const void* bytes, size_t size, off64_t offset) {
  static ssize_t (*real)(int, const void*, size_t, off64_t);
  if (real == NULL) real = (ssize_t(*)(int, const void*, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
  const ssize_t some = allowed(file, size);
  return some < 0 ? -1 : real(file, bytes, (size_t)some, offset);
}

ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) { return write_at(file, bytes, size, offset); }
ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t offset) {
  return write_at(file, bytes, size, offset);
}

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* block, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);

static int refused(void) {
  if (due(MALLOC) != NULL_POINTER) return 0;
  errno = ENOMEM;
  return 1;
}

void* malloc(size_t size) { return refused() ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return refused() ? NULL : __libc_calloc(count, size); }
void* realloc(void* block, size_t size) { return refused() ? NULL : __libc_realloc(block, size); }
void* aligned_alloc(size_t alignment, size_t size) { return refused() ? NULL : __libc_memalign(alignment, size); }
void* memalign(size_t alignment, size_t size) { return refused() ? NULL : __libc_memalign(alignment, size); }
int posix_memalign(void** block, size_t alignment, size_t size) {
  if (refused()) return ENOMEM;
  *block = __libc_memalign(alignment, size);
  return *block == NULL ? ENOMEM : 0;
}
