/* A back end that tries to get out of its worker and to harm others. Each attempt is a line on standard error:
 * "attempt NAME ERRNO", 0 where it succeeded. What it aims at comes in its environment: HOSTILE_VICTIM (a process of
 * the same user), HOSTILE_FOLDER (not the worker's; with a file `file`, one `secret`), HOSTILE_SOCKET (a Unix socket's
 * path, and its abstract name). */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "infermeter_backend.h"

static pid_t victim;
static char paths[4][512];

/* A new name in the folder that is not the worker's. */
static const char* new_name(const char* what) {
  static char path[512];
  snprintf(path, sizeof path, "%s/%s", getenv("HOSTILE_FOLDER"), what);
  return path;
}
static const char *file, *second, *secret, *mountable;

static int said(long result) { return result < 0 ? errno : 0; }

static int closed(int descriptor) {
  if (descriptor < 0) return errno;
  close(descriptor);
  return 0;
}

/* --- connections --- */

static int reach(int family, int type, const void* address, socklen_t size) {
  const int made = socket(family, type | SOCK_CLOEXEC, 0);
  if (made < 0) return errno;
  const int error = said(connect(made, address, size));
  close(made);
  return error == ECONNREFUSED ? 0 : error;
}

static int try_inet(void) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return reach(AF_INET, SOCK_STREAM, &to, sizeof to);
}

static socklen_t unix_address(struct sockaddr_un* to, int is_abstract) {
  const char* const name = getenv("HOSTILE_SOCKET");
  *to = (struct sockaddr_un){.sun_family = AF_UNIX};
  strncpy(to->sun_path + is_abstract, name, sizeof to->sun_path - 2);
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name) + 1);
}

static int try_unix_path(void) {
  struct sockaddr_un to;
  const socklen_t size = unix_address(&to, 0);
  return reach(AF_UNIX, SOCK_STREAM, &to, size);
}

static int try_unix_abstract(void) {
  struct sockaddr_un to;
  const socklen_t size = unix_address(&to, 1);
  return reach(AF_UNIX, SOCK_STREAM, &to, size);
}

/* An end of a pair of datagram sockets can be addressed to anybody. */
static int try_unix_pair(void) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0) return errno;
  struct sockaddr_un to;
  const socklen_t size = unix_address(&to, 1);
  const int error = said(connect(pair[0], (struct sockaddr*)&to, size));
  close(pair[0]);
  close(pair[1]);
  return error == ECONNREFUSED || error == EPROTOTYPE ? 0 : error;
}

static int try_netlink(void) { return closed(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0)); }

/* --- the server of url= --- */

static struct sockaddr_in server; /* where imb_load.server_addresses says that it is; port 0: nowhere */

static int connected(const struct sockaddr_in* to, int* made) {
  *made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (*made < 0) return errno;
  const int error = said(connect(*made, (const struct sockaddr*)to, sizeof *to));
  return error == ECONNREFUSED || error == EINPROGRESS ? 0 : error;
}
static int reach_server(const struct sockaddr_in* to) {
  int made;
  const int error = connected(to, &made);
  if (made >= 0) close(made);
  return error;
}
static struct sockaddr_in other_port(void) {
  struct sockaddr_in to = server;
  to.sin_port = htons((uint16_t)atoi(getenv("HOSTILE_PORT")));
  return to;
}

static int try_url_server(void) { return reach_server(&server); }
static int try_url_port(void) {
  const struct sockaddr_in to = other_port();
  return reach_server(&to);
}
static int try_url_address(void) {
  struct sockaddr_in to = server;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
  return reach_server(&to);
}
static int try_url_datagram(void) { return closed(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)); }
static int try_url_raw(void) { return closed(socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP)); }
static int try_url_other_protocol(void) {
  const int error = closed(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 262 /* MPTCP */));
  return error == EPROTONOSUPPORT ? 0 : error; /* the kernel's own answer */
}
static int try_url_unix(void) { return closed(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }
static int try_url_fast_open(void) {
  struct sockaddr_in to = other_port();
  const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made < 0) return errno;
  struct iovec bytes = {.iov_base = (char[]){"x"}, .iov_len = 1};
  struct msghdr message = {.msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &bytes, .msg_iovlen = 1};
  const int error = said(sendmsg(made, &message, MSG_FASTOPEN | MSG_NOSIGNAL));
  close(made);
  return error == EOPNOTSUPP || error == EINPROGRESS ? 0 : error; /* the kernel's own answer */
}
/* The socket that is connected already is connected to somebody else. */
static int try_url_connect_again(void) {
  int made;
  int error = connected(&server, &made);
  const struct sockaddr_in to = other_port();
  const struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
  if (error == 0) error = said(connect(made, &nowhere, sizeof nowhere));
  if (error == 0) error = said(connect(made, (const struct sockaddr*)&to, sizeof to));
  if (made >= 0) close(made);
  return error;
}
static int try_url_listen(void) {
  const struct sockaddr_in here = {.sin_family = AF_INET};
  const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made < 0) return errno;
  int error = said(bind(made, (const struct sockaddr*)&here, sizeof here));
  if (error == 0) error = said(listen(made, 1));
  close(made);
  return error;
}

/* The address changes while it is judged. */
static volatile int racing;
static volatile struct sockaddr_in raced;
static void* change_address(void* ports) {
  const in_port_t* const both = ports;
  for (unsigned i = 0; racing; ++i) {
    raced.sin_port = both[i & 1u];
    if (i % 17 == 0) sched_yield(); /* on a busy machine, too, the address changes between two calls */
  }
  return NULL;
}
static int try_url_race(void) {
  in_port_t both[] = {server.sin_port, other_port().sin_port};
  int reached_other = EPERM;
  pthread_t changer;
  raced = server;
  racing = 1;
  if (pthread_create(&changer, NULL, change_address, both) != 0) return errno;
  for (int i = 0; i < 500 && reached_other != 0; ++i) {
    struct sockaddr_in peer;
    socklen_t size = sizeof peer;
    int made;
    if (connected((const struct sockaddr_in*)&raced, &made) == 0 &&
        getpeername(made, (struct sockaddr*)&peer, &size) == 0 && peer.sin_port == both[1])
      reached_other = 0;
    if (made >= 0) close(made);
    sched_yield(); /* or all of them pass before the other thread has begun */
  }
  racing = 0;
  pthread_join(changer, NULL);
  return reached_other;
}

/* --- other processes --- */

static int try_kill(void) { return said(kill(victim, SIGCONT)); }
static int try_kill_thread(void) { return said(syscall(SYS_tgkill, victim, victim, SIGCONT)); }
static int try_kill_group(void) { return said(kill(-getpgid(victim), SIGCONT)); }
static int try_kill_all(void) { return said(kill(-1, 0)); }
static int try_queue_signal(void) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  info.si_signo = SIGCONT;
  info.si_code = SI_QUEUE;
  return said(syscall(SYS_rt_sigqueueinfo, victim, SIGCONT, &info));
}
static int try_pidfd(void) {
  const int named = (int)syscall(SYS_pidfd_open, victim, 0);
  if (named < 0) return errno;
  const int error = said(syscall(SYS_pidfd_send_signal, named, SIGCONT, NULL, 0));
  close(named);
  return error;
}
static int try_descriptor_signal(void) {
  int pipes[2];
  if (pipe(pipes) != 0) return errno;
  const int error = said(fcntl(pipes[0], F_SETOWN, victim));
  close(pipes[0]);
  close(pipes[1]);
  return error;
}
static int try_affinity(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(0, &set);
  return said(sched_setaffinity(victim, sizeof set, &set));
}
static int try_scheduler(void) {
  const struct sched_param none = {0};
  return said(sched_setscheduler(victim, SCHED_BATCH, &none));
}
static int try_priority(void) { return said(setpriority(PRIO_PROCESS, (id_t)victim, 10)); }
/* Of a user who has no process: nobody is harmed where it is allowed. */
static int try_user_priority(void) {
  const int error = said(setpriority(PRIO_USER, 1999999999, 0));
  return error == ESRCH ? 0 : error;
}
static int try_io_priority(void) { return said(syscall(SYS_ioprio_set, 1, victim, 3 << 13)); }
static int try_limit(void) {
  const struct rlimit fewer = {100, 1000};
  return said(prlimit(victim, RLIMIT_NOFILE, &fewer, NULL));
}
static int try_ptrace(void) {
  if (ptrace(PTRACE_SEIZE, victim, NULL, NULL) != 0) return errno;
  ptrace(PTRACE_INTERRUPT, victim, NULL, NULL);
  waitpid(victim, NULL, __WALL);
  ptrace(PTRACE_DETACH, victim, NULL, NULL);
  return 0;
}
static int try_memory(void) {
  char byte;
  struct iovec here = {&byte, 1}, there = {(void*)4096, 1};
  const int error = said(process_vm_readv(victim, &here, 1, &there, 1, 0));
  return error == EFAULT ? 0 : error;
}
static int read_of(pid_t process, const char* name, int flags) {
  char path[64], byte;
  snprintf(path, sizeof path, "/proc/%d/%s", process, name);
  const int opened = open(path, flags | O_CLOEXEC);
  if (opened < 0) return errno;
  const int error = said(read(opened, &byte, 1));
  close(opened);
  return error == EIO ? 0 : error; /* nothing at address 0 */
}
static int try_environment(void) { return read_of(victim, "environ", O_RDONLY); }
static int try_memory_file(void) { return read_of(victim, "mem", O_RDWR); }
static int try_parent(void) { return said(kill(getppid(), SIGCONT)); }

/* --- files --- */

static int try_read(void) { return closed(open(secret, O_RDONLY | O_CLOEXEC)); }
static int try_write(void) { return closed(open(file, O_WRONLY | O_CLOEXEC)); }
static int try_create(void) { return closed(open(second, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)); }
static int try_truncate(void) { return said(truncate(file, 1)); }
static int try_open_truncate(void) { return closed(open(file, O_RDONLY | O_TRUNC | O_CLOEXEC)); }
static int try_chmod(void) { return said(chmod(file, 0600)); }
static int try_fchmod(void) {
  const int opened = open(file, O_RDONLY | O_PATH | O_CLOEXEC);
  if (opened < 0) return errno;
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", opened);
  const int error = said(chmod(path, 0600));
  close(opened);
  return error;
}
static int try_chown(void) { return said(chown(file, getuid(), getgid())); }
static int try_times(void) {
  const struct timespec times[2] = {{1, 0}, {1, 0}};
  return said(utimensat(AT_FDCWD, file, times, 0));
}
static int try_attribute(void) {
  const int error = said(setxattr(file, "user.hostile", "x", 1, 0));
  return error == EOPNOTSUPP ? 0 : error;
}
static int try_link(void) { return said(link(file, new_name("link"))); }
static int try_symlink(void) { return said(symlink("file", new_name("symlink"))); }
static int try_rename(void) { return said(rename(file, new_name("renamed"))); }
static int try_unlink(void) { return said(unlink(secret)); }
static int try_folder(void) { return said(mkdir(new_name("folder"), 0700)); }
static int try_fifo(void) { return said(mkfifo(new_name("fifo"), 0600)); }
/* A file of the system, which everybody may read. */
static int try_record_lock(void) {
  const int opened = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
  if (opened < 0) return errno;
  const struct flock shared = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
  const int error = said(fcntl(opened, F_OFD_SETLK, &shared));
  close(opened);
  return error;
}
static int try_watch(void) {
  const int made = inotify_init1(IN_CLOEXEC);
  if (made < 0) return errno;
  const int error = said(inotify_add_watch(made, getenv("HOSTILE_FOLDER"), IN_ALL_EVENTS));
  close(made);
  return error;
}
static int try_named_pipe(void) { return closed(open(new_name("pipe"), O_RDWR | O_NONBLOCK | O_CLOEXEC)); }
static int try_terminal(void) { return closed(open(getenv("HOSTILE_TERMINAL"), O_WRONLY | O_NOCTTY | O_CLOEXEC)); }
static int try_setuid_file(void) { return closed(open("setuid", O_CREAT | O_WRONLY | O_CLOEXEC, 04700)); }
static int try_sysctl(void) { return closed(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)); }

/* --- the system --- */

static int try_mount(void) { return said(mount("none", mountable, "tmpfs", 0, NULL)); }

static int in_child(int (*attempt)(void)) {
  const pid_t child = fork();
  if (child < 0) return errno;
  if (child == 0) _exit(attempt());
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
}
static int hide(void) { return said(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)); }
static int try_undumpable(void) { return in_child(hide); }
static int unshare_user(void) { return said(unshare(CLONE_NEWUSER)); }
static int try_user_namespace(void) { return in_child(unshare_user); }
static int try_user_namespace_clone(void) {
  const long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);
  if (child < 0) return errno;
  if (child == 0) _exit(0);
  waitpid((pid_t)child, NULL, 0);
  return 0;
}
static int execute(void) {
  execl("/bin/true", "true", (char*)NULL);
  return errno;
}
static int try_execute(void) { return in_child(execute); }
static int try_shared_memory(void) {
  const int made = shm_open(getenv("HOSTILE_SHARED"), O_RDWR | O_CREAT, 0600);
  if (made < 0) return errno;
  return closed(made);
}
static int try_system_v(void) {
  const int made = shmget(IPC_PRIVATE, (size_t)atol(getenv("HOSTILE_SEGMENT")), IPC_CREAT | 0600);
  return made < 0 ? errno : said(shmctl(made, IPC_RMID, NULL));
}
/* Whether it has any that would let it change what is not its own. */
static int try_capability(void) {
  unsigned long long have = 0;
  char line[256];
  FILE* const status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) sscanf(line, "CapEff: %llx", &have);
  if (status != NULL) fclose(status);
  return (have & ~(1ULL << 2)) == 0 ? EPERM : 0; /* CAP_DAC_READ_SEARCH */
}

/* --- its own: all of this must work --- */

static volatile int go;
static pid_t thread_number;
static void* wait_here(void* unused) {
  __atomic_store_n(&thread_number, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
  while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE)) sched_yield();
  return unused;
}
static int own_thread_affinity(void) {
  pthread_t thread;
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  if (pthread_create(&thread, NULL, wait_here, NULL) != 0) return EAGAIN;
  while (__atomic_load_n(&thread_number, __ATOMIC_ACQUIRE) == 0) sched_yield();
  int error = said(sched_setaffinity(thread_number, sizeof set, &set));
  if (error == 0) error = said(setpriority(PRIO_PROCESS, (id_t)thread_number, getpriority(PRIO_PROCESS, 0)));
  __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
  pthread_join(thread, NULL);
  return error;
}
static int own_limit(void) {
  struct rlimit now;
  if (getrlimit(RLIMIT_NOFILE, &now) != 0) return errno;
  return said(prlimit(getpid(), RLIMIT_NOFILE, &now, NULL));
}
static int own_child(void) {
  const pid_t child = fork();
  if (child == 0)
    for (;;) pause();
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  const int error = said(sched_setaffinity(child, sizeof set, &set)), killed = said(kill(child, SIGTERM));
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  return error != 0 ? error : killed;
}
static int raise_in_child(void) {
  signal(SIGUSR1, SIG_IGN);
  return raise(SIGUSR1) == 0 ? 0 : errno;
}
static int own_raise(void) { return in_child(raise_in_child); }
static int own_file(void) {
  const int made = open("mine", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (made < 0) return errno;
  close(made);
  if (mkdir("folder", 0700) != 0 || rename("mine", "folder/renamed") != 0) return errno;
  return said(unlink("folder/renamed"));
}
static int own_pair(void) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return errno;
  close(pair[0]);
  return closed(pair[1]);
}

static const struct {
  const char* name;
  int (*attempt)(void);
} attempts[] = {{"inet", try_inet},
                {"unix_path", try_unix_path},
                {"unix_abstract", try_unix_abstract},
                {"unix_pair", try_unix_pair},
                {"netlink", try_netlink},
                {"kill", try_kill},
                {"kill_thread", try_kill_thread},
                {"kill_group", try_kill_group},
                {"kill_all", try_kill_all},
                {"kill_parent", try_parent},
                {"queue_signal", try_queue_signal},
                {"pidfd", try_pidfd},
                {"descriptor_signal", try_descriptor_signal},
                {"affinity", try_affinity},
                {"scheduler", try_scheduler},
                {"priority", try_priority},
                {"user_priority", try_user_priority},
                {"io_priority", try_io_priority},
                {"limit", try_limit},
                {"ptrace", try_ptrace},
                {"memory", try_memory},
                {"memory_file", try_memory_file},
                {"environment", try_environment},
                {"read", try_read},
                {"write", try_write},
                {"create", try_create},
                {"open_truncate", try_open_truncate},
                {"truncate", try_truncate},
                {"chmod", try_chmod},
                {"chmod_descriptor", try_fchmod},
                {"chown", try_chown},
                {"times", try_times},
                {"attribute", try_attribute},
                {"link", try_link},
                {"folder", try_folder},
                {"fifo", try_fifo},
                {"symlink", try_symlink},
                {"rename", try_rename},
                {"unlink", try_unlink},
                {"record_lock", try_record_lock},
                {"watch", try_watch},
                {"named_pipe", try_named_pipe},
                {"terminal", try_terminal},
                {"proc_write", try_sysctl},
                {"mount", try_mount},
                {"user_namespace", try_user_namespace},
                {"user_namespace_clone", try_user_namespace_clone},
                {"execute", try_execute},
                {"shared_memory", try_shared_memory},
                {"system_v", try_system_v},
                {"capability", try_capability},
                {"setuid_file", try_setuid_file},
                {"undumpable", try_undumpable},
                {"own_thread", own_thread_affinity},
                {"own_limit", own_limit},
                {"own_child", own_child},
                {"own_raise", own_raise},
                {"own_file", own_file},
                {"own_pair", own_pair},
                {"url_server", try_url_server},
                {"url_port", try_url_port},
                {"url_address", try_url_address},
                {"url_datagram", try_url_datagram},
                {"url_raw", try_url_raw},
                {"url_protocol", try_url_other_protocol},
                {"url_unix", try_url_unix},
                {"url_fast_open", try_url_fast_open},
                {"url_again", try_url_connect_again},
                {"url_listen", try_url_listen},
                {"url_race", try_url_race}};

static void make_attempts(void) {
  if (getenv("HOSTILE_VICTIM") == NULL) return;
  static const char* const names[] = {"file", "second", "secret", "mountable"};
  victim = atoi(getenv("HOSTILE_VICTIM"));
  for (int i = 0; i < 4; ++i) snprintf(paths[i], sizeof paths[i], "%s/%s", getenv("HOSTILE_FOLDER"), names[i]);
  file = paths[0], second = paths[1], secret = paths[2], mountable = paths[3];
  for (size_t i = 0; i < sizeof attempts / sizeof *attempts; ++i) {
    if (server.sin_port == 0 && strncmp(attempts[i].name, "url_", 4) == 0) continue;
    const int error = attempts[i].attempt();
    fprintf(stderr, "attempt %s %d\n", attempts[i].name, error);
  }
}

/* --- the least that a back end has --- */

struct imb_runtime {
  imb_runtime_info info;
};
struct imb_session {
  int unused;
};
struct imb_request {
  int unused;
};

static const char* const devices[] = {"cpu"};
static const char* const dtypes[] = {"float32"};
static const imb_option options[] = {{"url", "URL", "a server"}};
static const char* const names[] = {""};
static const int64_t shape[] = {1};
static const imb_port port = {.name = "x",
                              .kind = IMB_TENSOR,
                              .dtype = IMB_FLOAT32,
                              .rank_known = 1,
                              .rank = 1,
                              .shape = shape,
                              .dimension_names = names};
static const float result = 1;

static imb_status open_runtime(const imb_environment* environment, imb_runtime** runtime, imb_message message) {
  (void)environment, (void)message;
  static imb_runtime made = {.info = {.struct_size = sizeof(imb_runtime_info),
                                      .name = "hostile",
                                      .runtime_name = "hostile (test)",
                                      .runtime_version = "1",
                                      .library = "",
                                      .model_formats = "workload:hostile,server",
                                      .device_count = 1,
                                      .devices = devices,
                                      .dtype_count = 1,
                                      .dtypes = dtypes,
                                      .option_count = 1,
                                      .options = options,
                                      .concurrent_requests = 1}};
  *runtime = &made;
  return IMB_OK;
}
static const imb_runtime_info* runtime_info(imb_runtime* runtime) { return &runtime->info; }
static void close_runtime(imb_runtime* runtime) { (void)runtime; }
static imb_status load(imb_runtime* runtime, const imb_load* wanted, imb_session** session, imb_message message) {
  static imb_session made;
  (void)runtime, (void)message;
  if (wanted->server_addresses != NULL) { /* "127.0.0.1:8000" */
    char address[64];
    snprintf(address, sizeof address, "%s", wanted->server_addresses);
    char* const colon = strchr(address, ':');
    if (colon != NULL) {
      *colon = 0;
      server.sin_family = AF_INET;
      server.sin_port = htons((uint16_t)atoi(colon + 1));
      inet_pton(AF_INET, address, &server.sin_addr);
    }
  }
  *session = &made;
  return IMB_OK;
}
static void close_session(imb_session* session) { (void)session; }
static size_t port_count(imb_session* session) { return (void)session, 1; }
static const imb_port* port_at(imb_session* session, size_t index) { return (void)session, (void)index, &port; }
static imb_status create_request(imb_session* session, imb_request** request, imb_message message) {
  static imb_request made;
  (void)session, (void)message;
  *request = &made;
  return IMB_OK;
}
static void destroy_request(imb_request* request) { (void)request; }
static imb_status bind_input(imb_request* request, size_t index, const imb_value* value, imb_message message) {
  return (void)request, (void)index, (void)value, (void)message, IMB_OK;
}
static imb_status run(imb_request* request, imb_message message) {
  static int has_run;
  (void)request, (void)message;
  if (!has_run) make_attempts();
  has_run = 1;
  return IMB_OK;
}
static imb_status output_value(imb_request* request, size_t index, imb_value* value, imb_message message) {
  (void)request, (void)index, (void)message;
  *value = (imb_value){.kind = IMB_TENSOR,
                       .dtype = IMB_FLOAT32,
                       .rank = 1,
                       .shape = shape,
                       .data = &result,
                       .size_bytes = sizeof result};
  return IMB_OK;
}
static imb_status executed(imb_session* session, imb_pair_sink sink, void* user, imb_message message) {
  (void)session, (void)message;
  sink(user, "device", "cpu");
  sink(user, "dtype", "float32");
  sink(user, "threads", "1");
  return IMB_OK;
}

static const imb_backend backend = {.abi_version = IMB_ABI_VERSION,
                                    .struct_size = sizeof(imb_backend),
                                    .open_runtime = open_runtime,
                                    .runtime_info = runtime_info,
                                    .close_runtime = close_runtime,
                                    .load = load,
                                    .close = close_session,
                                    .input_count = port_count,
                                    .output_count = port_count,
                                    .input = port_at,
                                    .output = port_at,
                                    .create_request = create_request,
                                    .destroy_request = destroy_request,
                                    .bind_input = bind_input,
                                    .run = run,
                                    .output_value = output_value,
                                    .executed = executed};

uint32_t infermeter_backend_abi_version(void) { return IMB_ABI_VERSION; }
const imb_backend* infermeter_backend(void) { return &backend; }
