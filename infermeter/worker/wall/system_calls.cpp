#include "infermeter/worker/wall/system_calls.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "infermeter/trial/machine/proc_file.hpp"
#include "infermeter/worker/wall/process_tree.hpp"

namespace infermeter {
namespace {

// Numbers that the libseccomp of older distributions does not know; the same on every architecture.
constexpr int call_open_tree = 428, call_move_mount = 429, call_fsopen = 430, call_fsconfig = 431, call_fsmount = 432,
              call_fspick = 433, call_pidfd_getfd = 438, call_openat2 = 437, call_process_madvise = 440,
              call_mount_setattr = 442, call_memfd_secret = 447, call_process_mrelease = 448, call_fchmodat2 = 452,
              call_setxattrat = 463, call_removexattrat = 466, call_open_tree_attr = 467, call_file_setattr = 469;

// Answered with EPERM rather than death: a runtime that tries and goes on without is none the worse.
constexpr int program_calls[] = {SCMP_SYS(execve), SCMP_SYS(execveat)};
constexpr int denied_calls[] = {
    // Other processes: their memory, descriptors and signals.
    SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(kcmp),
    SCMP_SYS(pidfd_send_signal), call_pidfd_getfd, call_process_madvise, call_process_mrelease,
    // Connections: what was handed over stays, nothing is added. Also what outlives its maker.
    SCMP_SYS(socket), SCMP_SYS(connect), SCMP_SYS(bind), SCMP_SYS(listen), SCMP_SYS(accept), SCMP_SYS(accept4),
    SCMP_SYS(shmget), SCMP_SYS(shmat), SCMP_SYS(shmctl), SCMP_SYS(semget), SCMP_SYS(semop), SCMP_SYS(semtimedop),
    SCMP_SYS(semctl), SCMP_SYS(msgget), SCMP_SYS(msgsnd), SCMP_SYS(msgrcv), SCMP_SYS(msgctl), SCMP_SYS(mq_open),
    SCMP_SYS(mq_unlink), SCMP_SYS(io_uring_setup), SCMP_SYS(io_uring_enter), SCMP_SYS(io_uring_register),
    // What belongs to a file beside its contents, which Landlock leaves alone.
    SCMP_SYS(chmod), SCMP_SYS(fchmod), SCMP_SYS(fchmodat), call_fchmodat2, SCMP_SYS(chown), SCMP_SYS(fchown),
    SCMP_SYS(lchown), SCMP_SYS(fchownat), SCMP_SYS(utime), SCMP_SYS(utimes), SCMP_SYS(futimesat), SCMP_SYS(utimensat),
    SCMP_SYS(setxattr), SCMP_SYS(lsetxattr), SCMP_SYS(fsetxattr), call_setxattrat, SCMP_SYS(removexattr),
    SCMP_SYS(lremovexattr), SCMP_SYS(fremovexattr), call_removexattrat, call_file_setattr, SCMP_SYS(truncate),
    SCMP_SYS(mknod), SCMP_SYS(mknodat), SCMP_SYS(open_by_handle_at), SCMP_SYS(fanotify_init), SCMP_SYS(inotify_init),
    SCMP_SYS(inotify_init1),
    // Memory that nobody can count.
    call_memfd_secret,
    // Namespaces and file systems.
    SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(pivot_root), SCMP_SYS(chroot), SCMP_SYS(setns), SCMP_SYS(unshare),
    call_open_tree, call_move_mount, call_fsopen, call_fsconfig, call_fsmount, call_fspick, call_mount_setattr,
    call_open_tree_attr,
    // The machine.
    SCMP_SYS(bpf), SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(delete_module), SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load), SCMP_SYS(reboot), SCMP_SYS(swapon), SCMP_SYS(swapoff), SCMP_SYS(add_key),
    SCMP_SYS(request_key), SCMP_SYS(keyctl), SCMP_SYS(userfaultfd), SCMP_SYS(acct), SCMP_SYS(settimeofday),
    SCMP_SYS(clock_settime), SCMP_SYS(clock_adjtime), SCMP_SYS(adjtimex), SCMP_SYS(sethostname),
    SCMP_SYS(setdomainname), SCMP_SYS(iopl), SCMP_SYS(ioperm), SCMP_SYS(syslog), SCMP_SYS(quotactl), SCMP_SYS(vhangup)};

// SOCK_SEQPACKET sends to nobody but whom it is connected to.
constexpr int listening_calls[] = {SCMP_SYS(socket), SCMP_SYS(bind), SCMP_SYS(listen), SCMP_SYS(accept),
                                   SCMP_SYS(accept4)};

// TCP over IPv4 and IPv6: nothing is sent before a connect(2) that was judged.
constexpr int connecting_calls[] = {SCMP_SYS(socket), SCMP_SYS(connect)};

// Those make a process where their flags do not say that it is a thread.
constexpr int making_calls[] = {SCMP_SYS(fork), SCMP_SYS(vfork), SCMP_SYS(clone)};
constexpr int namespace_flags[] = {CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                   CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET};

// Their arguments are in memory, where no filter can look: libraries that are told so use the call before it.
constexpr int hidden_calls[] = {SCMP_SYS(clone3), call_openat2};

scmp_arg_cmp argument(unsigned index, scmp_compare how, scmp_datum_t value, scmp_datum_t second = 0) {
  return {.arg = index, .op = how, .datum_a = value, .datum_b = second};
}
scmp_arg_cmp argument_has(unsigned index, scmp_datum_t bits, scmp_datum_t value) {
  return argument(index, SCMP_CMP_MASKED_EQ, bits, value);
}

constexpr scmp_datum_t bits_of_int = 0xffff'ffffU, bits_of_socket_type = 0xf;
constexpr int ioprio_of_process = 1, ioprio_of_group = 2;  // ioprio_set(2)

// Which of its arguments names a process; group: it does where the argument before it is `kind`.
enum class Names { process, group_or_process, by_kind };
struct NamingCall {
  int call;
  unsigned argument;
  Names names = Names::process;
};
constexpr NamingCall naming_calls[] = {
    {SCMP_SYS(kill), 0, Names::group_or_process},
    {SCMP_SYS(tgkill), 0},
    {SCMP_SYS(tkill), 0},
    {SCMP_SYS(rt_sigqueueinfo), 0},
    {SCMP_SYS(rt_tgsigqueueinfo), 0},
    {SCMP_SYS(sched_setaffinity), 0},
    {SCMP_SYS(sched_setparam), 0},
    {SCMP_SYS(sched_setscheduler), 0},
    {SCMP_SYS(sched_setattr), 0},
    {SCMP_SYS(prlimit64), 0},
    {SCMP_SYS(migrate_pages), 0},
    {SCMP_SYS(move_pages), 0},
    {SCMP_SYS(setpriority), 1, Names::by_kind},
    {SCMP_SYS(ioprio_set), 1, Names::by_kind},
};
// Those stay with the process itself where they name 0 or, the signal that abort() sends, the process.
bool is_signal_to_a_thread(int call) { return call == SCMP_SYS(tgkill) || call == SCMP_SYS(rt_tgsigqueueinfo); }

bool is_among(int call, std::span<const int> calls) { return std::ranges::find(calls, call) != calls.end(); }

class CallFilter {
 public:
  explicit CallFilter(std::uint32_t for_naming) : filter_(seccomp_init(SCMP_ACT_ALLOW)), for_naming_(for_naming) {
    good_ = filter_ != nullptr;
  }
  ~CallFilter() {
    if (filter_ != nullptr) seccomp_release(filter_);
  }
  CallFilter(const CallFilter&) = delete;
  CallFilter& operator=(const CallFilter&) = delete;

  void add_rules(const CallNeeds& needs) {
    if (!good_) return;
    constexpr std::uint32_t sorted_by_number = 2;
    seccomp_attr_set(filter_, SCMP_FLTATR_CTL_OPTIMIZE, sorted_by_number);
    for (const int call : denied_calls)
      if (!(needs.listening && is_among(call, listening_calls)) &&
          !(needs.connecting && is_among(call, connecting_calls)))
        deny(call);
    if (needs.listening) deny_sockets_that_send();
    if (needs.connecting) deny_all_but_tcp();
    if (!needs.programs)
      for (const int call : program_calls) deny(call);
    for (const int call : hidden_calls) add(SCMP_ACT_ERRNO(ENOSYS), call);
    deny_arguments();
    for (const NamingCall& each : naming_calls) add_naming(each);
    add_making();
  }

  bool load() { return good_ && seccomp_load(filter_) == 0; }
  FileDescriptor listener() { return FileDescriptor(seccomp_notify_fd(filter_)); }

 private:
  void add(std::uint32_t action, int call, std::span<const scmp_arg_cmp> when = {}) {
    const int added = seccomp_rule_add_array(filter_, action, call, static_cast<unsigned>(when.size()), when.data());
    // A call that this architecture does not have needs no rule.
    good_ = good_ && (added == 0 || added == -EDOM || call < 0);
  }
  void deny(int call) { add(SCMP_ACT_ERRNO(EPERM), call); }
  void deny(int call, scmp_arg_cmp when) { add(SCMP_ACT_ERRNO(EPERM), call, {&when, 1}); }

  void deny_sockets_that_send() {
    deny(SCMP_SYS(socket), argument(0, SCMP_CMP_NE, AF_UNIX));
    for (const int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_RDM})
      deny(SCMP_SYS(socket), argument_has(1, bits_of_socket_type, static_cast<scmp_datum_t>(type)));
  }

  void deny_all_but_tcp() {
    const auto deny_all_but = [&](unsigned index, std::initializer_list<scmp_datum_t> allowed) {
      for (scmp_datum_t value = 0; value <= std::max(allowed); ++value)
        if (std::ranges::find(allowed, value) == allowed.end())
          deny(SCMP_SYS(socket), argument(index, SCMP_CMP_EQ, value));
      deny(SCMP_SYS(socket), argument(index, SCMP_CMP_GT, std::max(allowed)));
    };
    deny_all_but(0, {AF_INET, AF_INET6});
    deny_all_but(2, {0, IPPROTO_TCP});
    for (scmp_datum_t type = 0; type <= bits_of_socket_type; ++type)
      if (type != SOCK_STREAM) deny(SCMP_SYS(socket), argument_has(1, bits_of_socket_type, type));
    // It connects by itself; that of sendto(2) is refused with its address.
    deny(SCMP_SYS(sendmsg), argument_has(2, MSG_FASTOPEN, MSG_FASTOPEN));
    deny(SCMP_SYS(sendmmsg), argument_has(3, MSG_FASTOPEN, MSG_FASTOPEN));
    for_naming_ == SCMP_ACT_NOTIFY ? add(for_naming_, SCMP_SYS(connect)) : deny(SCMP_SYS(connect));
  }

  void deny_arguments() {
    for (const int bit : namespace_flags)
      deny(SCMP_SYS(clone), argument_has(0, static_cast<scmp_datum_t>(bit), static_cast<scmp_datum_t>(bit)));
    // A pair of sockets leads nowhere else unless its ends can be addressed (SOCK_DGRAM).
    deny(SCMP_SYS(socketpair), argument(0, SCMP_CMP_NE, AF_UNIX));
    for (const int type : {SOCK_DGRAM, SOCK_RAW, SOCK_RDM})
      deny(SCMP_SYS(socketpair), argument_has(1, bits_of_socket_type, static_cast<scmp_datum_t>(type)));
    deny(SCMP_SYS(sendto), argument(4, SCMP_CMP_NE, 0));
    // A descriptor that sends a signal to whom it likes, or that keeps others from opening or writing its file: who may
    // only read a store can lock it.
    for (const int command :
         {F_SETOWN, F_SETOWN_EX, F_SETSIG, F_SETLEASE, F_NOTIFY, F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW})
      deny(SCMP_SYS(fcntl), argument_has(1, bits_of_int, static_cast<scmp_datum_t>(command)));
    constexpr scmp_datum_t socket_owner = 0x8901, socket_group = 0x8902, set_flags = 0x40086602,
                           set_flags_32 = 0x40046602, set_attributes = 0x401c5820;
    for (const scmp_datum_t request : {socket_owner, socket_group, set_flags, set_flags_32, set_attributes,
                                       scmp_datum_t{TIOCSTI}, scmp_datum_t{TIOCLINUX}})
      deny(SCMP_SYS(ioctl), argument_has(1, bits_of_int, request));
    deny(SCMP_SYS(perf_event_open), argument(1, SCMP_CMP_NE, 0));
    // Who cannot be looked into cannot be counted.
    add(SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prctl),
        std::vector{argument_has(0, bits_of_int, PR_SET_DUMPABLE), argument(1, SCMP_CMP_NE, 1)});
    for (const int buffer : {SO_SNDBUF, SO_RCVBUF, SO_SNDBUFFORCE, SO_RCVBUFFORCE})
      add(SCMP_ACT_ERRNO(EPERM), SCMP_SYS(setsockopt),
          std::vector{argument(1, SCMP_CMP_EQ, SOL_SOCKET),
                      argument_has(2, bits_of_int, static_cast<scmp_datum_t>(buffer))});
    // A file that makes whoever executes it its owner.
    for (const mode_t bit : {S_ISUID, S_ISGID}) deny_new_files(bit);
    // Kernels before 6.2 let it cut files that may only be read.
    // Those that are opened for neither (access mode 3) as well.
    for (const scmp_datum_t mode : {O_RDONLY, O_ACCMODE}) {
      deny(SCMP_SYS(openat), argument_has(2, O_ACCMODE | O_TRUNC, mode | O_TRUNC));
      deny(SCMP_SYS(open), argument_has(1, O_ACCMODE | O_TRUNC, mode | O_TRUNC));
    }
  }

  void deny_new_files(mode_t bit) {
    for (const scmp_datum_t flag : {scmp_datum_t{O_CREAT}, scmp_datum_t{O_TMPFILE & ~O_DIRECTORY}}) {
      add(SCMP_ACT_ERRNO(EPERM), SCMP_SYS(openat), std::vector{argument_has(2, flag, flag), argument_has(3, bit, bit)});
      add(SCMP_ACT_ERRNO(EPERM), SCMP_SYS(open), std::vector{argument_has(1, flag, flag), argument_has(2, bit, bit)});
    }
    deny(SCMP_SYS(creat), argument_has(1, bit, bit));
  }

  // Where nobody decides, processes are made freely.
  void add_making() {
    if (for_naming_ != SCMP_ACT_NOTIFY) return;
    add(for_naming_, SCMP_SYS(fork));
    add(for_naming_, SCMP_SYS(vfork));
    add(for_naming_, SCMP_SYS(clone), std::vector{argument_has(0, CLONE_THREAD, 0)});
  }

  // Of the calls that name a process only those wait that name another one: nothing that a runtime does for itself.
  void add_naming(const NamingCall& each) {
    const auto self = is_signal_to_a_thread(each.call) || each.call == SCMP_SYS(kill) ? getpid() : 0;
    std::vector<scmp_arg_cmp> when = {argument(each.argument, SCMP_CMP_NE, static_cast<scmp_datum_t>(self))};
    if (each.call == SCMP_SYS(prlimit64)) when.push_back(argument(2, SCMP_CMP_NE, 0));  // only looks otherwise
    if (each.names != Names::by_kind) return add(for_naming_, each.call, when);
    const bool is_ioprio = each.call == SCMP_SYS(ioprio_set);
    const auto process = static_cast<scmp_datum_t>(is_ioprio ? ioprio_of_process : static_cast<int>(PRIO_PROCESS));
    when.push_back(argument(0, SCMP_CMP_EQ, process));
    add(for_naming_, each.call, when);
    // Groups, and all processes of a user.
    add(SCMP_ACT_ERRNO(EPERM), each.call, std::vector{argument(0, SCMP_CMP_NE, process)});
  }

  scmp_filter_ctx filter_;
  std::uint32_t for_naming_;
  bool good_ = false;
};

// Number of a field of /proc/PID/status; nothing: no such process, or no /proc.
std::optional<pid_t> field_of(pid_t process, std::string_view field) {
  const std::string text = read_proc_file(fmt::format("/proc/{}/status", process));
  const auto value = number_after(text, field);
  if (!value) return std::nullopt;
  return static_cast<pid_t>(*value);
}

// Also of a thread's number.
bool is_own(pid_t process) {
  constexpr int deepest = 1024;
  const pid_t self = getpid();
  std::optional<pid_t> at = process > 0 ? field_of(process, "\nTgid:\t") : std::nullopt;
  if (at == self) return false;
  for (int depth = 0; at && *at > 1 && depth < deepest; ++depth) {
    at = field_of(*at, "\nPPid:\t");
    if (at == self) return true;
  }
  return false;
}

// Sessions are made by descendants or by us for them, so that a group with one of them in it has no others.
bool is_own_group(pid_t group) {
  return std::ranges::any_of(descendants_of(getpid()), [&](pid_t process) { return getpgid(process) == group; });
}

bool may_go_on(const seccomp_data& call) {
  const auto* const found = std::find_if(std::begin(naming_calls), std::end(naming_calls),
                                         [&](const NamingCall& each) { return each.call == call.nr; });
  if (found == std::end(naming_calls)) return false;
  const auto named = static_cast<pid_t>(call.args[found->argument]);
  if (named == 0) return true;  // the caller itself, or its group
  if (named < 0) return found->names == Names::group_or_process && named < -1 && is_own_group(-named);
  return is_own(named);
}

bool makes_process(const seccomp_data& call) { return is_among(call.nr, making_calls); }

// What is at an address of another process; nullopt: it cannot be read.
std::optional<SocketAddress> address_of(pid_t process, std::uint64_t place, std::uint64_t size) {
  SocketAddress address;
  if (size > sizeof address.storage) return std::nullopt;
  const iovec here{&address.storage, static_cast<std::size_t>(size)},
      there{reinterpret_cast<void*>(place), static_cast<std::size_t>(size)};  // NOLINT(performance-no-int-to-ptr)
  if (process_vm_readv(process, &here, 1, &there, 1, 0) != static_cast<ssize_t>(size)) return std::nullopt;
  address.size = static_cast<socklen_t>(size);
  return address;
}

bool makes_namespace(const seccomp_data& call) {
  return call.nr == SCMP_SYS(clone) && std::ranges::any_of(namespace_flags, [&](int bit) {
           return (call.args[0] & static_cast<unsigned>(bit)) != 0;
         });
}

}  // namespace

CallRestriction restrict_system_calls(const CallNeeds& needs) {
  for (const std::uint32_t for_naming : {SCMP_ACT_NOTIFY, SCMP_ACT_ERRNO(EPERM)}) {
    CallFilter filter(for_naming);
    filter.add_rules(needs);
    if (!filter.load()) continue;  // without SCMP_ACT_NOTIFY: an old kernel, or somebody listens already
    return {.good = true, .listener = for_naming == SCMP_ACT_NOTIFY ? filter.listener() : FileDescriptor()};
  }
  return {};
}

bool has_call_filters() { return prctl(PR_GET_SECCOMP) >= 0; }

bool has_call_listeners() {
  const std::uint32_t action = SECCOMP_RET_USER_NOTIF;
  return has_call_filters() && syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

// Counted again only when there could be too many: whoever starts one program after the other does not wait for that.
bool CallJudge::has_room() {
  if (room_ == 0 && count_.is_due()) {
    count_.run([this] {
      const std::size_t now = descendants_of(getpid()).size();
      room_ = now < most_worker_processes ? most_worker_processes - now : 0;
    });
  }
  if (room_ == 0) return false;
  --room_;
  return true;
}

int CallJudge::refusal_of(const seccomp_data& call) {
  if (!makes_process(call)) return may_go_on(call) ? 0 : EPERM;
  if (makes_namespace(call)) return EPERM;
  return has_room() ? 0 : EAGAIN;
}

int CallJudge::connect_for(const seccomp_notif& asked) const {
  const auto wanted = address_of(static_cast<pid_t>(asked.pid), asked.data.args[1], asked.data.args[2] & bits_of_int);
  // It still waits, so that what was read was its own.
  if (!wanted || seccomp_notify_id_valid(listener_.get(), asked.id) != 0) return EPERM;
  const auto server = std::ranges::find_if(servers_, [&](const auto& each) { return is_same_place(each, *wanted); });
  if (server == servers_.end()) return EPERM;
  const FileDescriptor made(socket(server->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!made) return errno;
  const int now = 1;  // options set on the caller's own socket are lost with it
  setsockopt(made.get(), IPPROTO_TCP, TCP_NODELAY, &now, sizeof now);
  const int error =
      connect(made.get(), reinterpret_cast<const sockaddr*>(&server->storage), server->size) == 0 ? 0 : errno;
  if (error != 0 && error != EINPROGRESS) return error;
  seccomp_notif_addfd replacement{};
  replacement.id = asked.id;
  replacement.flags = SECCOMP_ADDFD_FLAG_SETFD;
  replacement.srcfd = static_cast<std::uint32_t>(made.get());
  replacement.newfd = static_cast<std::uint32_t>(asked.data.args[0]);
  replacement.newfd_flags = O_CLOEXEC;
  return ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_ADDFD, &replacement) < 0 ? EPERM : error;
}

void CallJudge::answer() {
  seccomp_notif* asked = nullptr;
  seccomp_notif_resp* answered = nullptr;
  if (seccomp_notify_alloc(&asked, &answered) != 0) return listener_.reset();
  if (seccomp_notify_receive(listener_.get(), asked) == 0) {
    const bool connects = asked->data.nr == SCMP_SYS(connect);
    const int refusal = connects ? connect_for(*asked) : refusal_of(asked->data);
    answered->id = asked->id;
    answered->val = 0;
    answered->error = -refusal;
    answered->flags = refusal == 0 && !connects ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0;
    seccomp_notify_respond(listener_.get(), answered);  // the caller may have been killed meanwhile
  } else if (errno != EINTR && errno != ENOENT) {
    listener_.reset();
  }
  seccomp_notify_free(asked, answered);
}

}  // namespace infermeter
