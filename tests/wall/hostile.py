"""A subject in Python that tries to get out of its worker and to harm others: as infermeter_backend_hostile.c does, with
what Python has for it."""

import ctypes
import fcntl
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading

import numpy as np

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC_NUMBERS = {"x86_64": {"rt_sigqueueinfo": 129, "clone": 56, "tgkill": 234, "ioprio_set": 251},
                "aarch64": {"rt_sigqueueinfo": 138, "clone": 220, "tgkill": 131, "ioprio_set": 30}}[os.uname().machine]


def libc(name, *arguments):
    if getattr(LIBC, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)


def reach(family, address, kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as connection:
        try:
            connection.connect(address)
        except ConnectionRefusedError:
            pass


def reach_from_pair(address):
    for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM):
        try:
            end.connect(address)
        except OSError as error:
            if error.errno not in (91, 111):  # EPROTOTYPE, ECONNREFUSED: it got there
                raise


def open_and_read(path):
    with open(path, "rb", buffering=0) as file:
        file.read(1)


def cut(path):
    os.close(os.open(path, os.O_RDONLY | os.O_TRUNC))


def put(path, flags=0):
    os.close(os.open(path, os.O_WRONLY | flags, 0o600))


def chmod_by_descriptor(path):
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)


def set_attribute(path):
    try:
        os.setxattr(path, "user.hostile", b"x")
    except OSError as error:
        if error.errno != 95:  # EOPNOTSUPP: the file system's own answer
            raise


def in_child(call):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            call()
            os.write(writing, b"0")
        except OSError as error:
            os.write(writing, str(error.errno).encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    number = int(os.read(reading, 16))
    os.close(reading)
    if number:
        raise OSError(number, "in the child")


def own_thread():
    ready, go = threading.Event(), threading.Event()
    numbers = []

    def wait():
        numbers.append(threading.get_native_id())
        ready.set()
        go.wait()

    thread = threading.Thread(target=wait)
    thread.start()
    ready.wait()
    try:
        os.sched_setaffinity(numbers[0], os.sched_getaffinity(0))
    finally:
        go.set()
        thread.join()


def own_child():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    try:
        os.sched_setaffinity(child.pid, os.sched_getaffinity(0))
        child.terminate()
    finally:
        child.kill()
        child.wait()


def own_file():
    with open("mine", "w") as file:
        file.write("x")
    os.mkdir("folder")
    os.rename("mine", "folder/renamed")
    os.unlink("folder/renamed")


def own_pair():
    for end in socket.socketpair():
        end.close()


def set_priority_of_nobody():
    """Of a user who has no process: nobody is harmed where it is allowed."""
    try:
        os.setpriority(os.PRIO_USER, 1999999999, 0)
    except ProcessLookupError:
        pass


def make_segment():
    made = LIBC.shmget(0, ctypes.c_size_t(int(os.environ["HOSTILE_SEGMENT"])), 0o1600)
    if made < 0:
        raise OSError(ctypes.get_errno(), "shmget")
    libc("shmctl", made, 0, None)


def lock_record():
    """Of a file of the system, which everybody may read."""
    with open("/etc/ld.so.cache", "rb") as file:
        fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)


def watch(path):
    made = LIBC.inotify_init1(0)
    if made < 0:
        raise OSError(ctypes.get_errno(), "inotify_init1")
    try:
        libc("inotify_add_watch", made, path.encode(), 0xFFF)
    finally:
        os.close(made)


def make_setuid_file():
    os.close(os.open("setuid", os.O_CREAT | os.O_WRONLY, 0o4700))


def hide():
    libc("prctl", 4, 0, 0, 0, 0)  # PR_SET_DUMPABLE


def queue_signal(process):
    libc("syscall", LIBC_NUMBERS["rt_sigqueueinfo"], process, int(signal.SIGCONT),
         struct.pack("iii116x", signal.SIGCONT, 0, -1))  # SI_QUEUE


def own_a_descriptor(process):
    reading, writing = os.pipe()
    try:
        fcntl.fcntl(reading, 8, process)  # F_SETOWN
    finally:
        os.close(reading)
        os.close(writing)


def trace(process):
    libc("ptrace", 0x4206, process, None, None)  # PTRACE_SEIZE
    libc("ptrace", 0x4207, process, None, None)  # PTRACE_INTERRUPT
    os.waitpid(process, 0x40000000)  # __WALL
    libc("ptrace", 17, process, None, None)  # PTRACE_DETACH


def read_memory(process):
    byte = ctypes.create_string_buffer(1)
    here = ctypes.create_string_buffer(struct.pack("PN", ctypes.addressof(byte), 1))
    there = ctypes.create_string_buffer(struct.pack("PN", 4096, 1))
    try:
        libc("process_vm_readv", process, here, 1, there, 1, 0)
    except OSError as error:
        if error.errno != 14:  # EFAULT: nothing is there
            raise


def show_capabilities():
    with open("/proc/self/status", encoding="ascii") as status:
        have = int(next(line for line in status if line.startswith("CapEff")).split()[1], 16)
    if have & ~4 == 0:  # CAP_DAC_READ_SEARCH
        raise OSError(1, "none")


def clone_into_a_user_namespace():
    child = LIBC.syscall(LIBC_NUMBERS["clone"], 0x10000000 | signal.SIGCHLD, None, None, None, None)
    if child < 0:
        raise OSError(ctypes.get_errno(), "clone")
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def raise_signal():
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    signal.raise_signal(signal.SIGUSR1)


def make_attempts():
    victim, folder = int(os.environ["HOSTILE_VICTIM"]), os.environ["HOSTILE_FOLDER"]
    path = os.environ["HOSTILE_SOCKET"]
    file, secret = f"{folder}/file", f"{folder}/secret"
    attempts = {
        "inet": lambda: reach(socket.AF_INET, ("127.0.0.1", 9)),
        "unix_path": lambda: reach(socket.AF_UNIX, path),
        "unix_abstract": lambda: reach(socket.AF_UNIX, "\0" + path),
        "unix_pair": lambda: reach_from_pair("\0" + path),
        "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close(),
        "kill": lambda: os.kill(victim, signal.SIGCONT),
        "kill_thread": lambda: libc("syscall", LIBC_NUMBERS["tgkill"], victim, victim, int(signal.SIGCONT)),
        "queue_signal": lambda: queue_signal(victim),
        "descriptor_signal": lambda: own_a_descriptor(victim),
        "kill_group": lambda: os.killpg(os.getpgid(victim), signal.SIGCONT),
        "kill_all": lambda: os.kill(-1, 0),
        "kill_parent": lambda: os.kill(os.getppid(), signal.SIGCONT),
        "pidfd": lambda: signal.pidfd_send_signal(os.pidfd_open(victim), signal.SIGCONT),
        "affinity": lambda: os.sched_setaffinity(victim, {0}),
        "scheduler": lambda: os.sched_setscheduler(victim, os.SCHED_BATCH, os.sched_param(0)),
        "priority": lambda: os.setpriority(os.PRIO_PROCESS, victim, 10),
        "user_priority": lambda: set_priority_of_nobody(),
        "io_priority": lambda: libc("syscall", LIBC_NUMBERS["ioprio_set"], 1, victim, 3 << 13),
        "ptrace": lambda: trace(victim),
        "memory": lambda: read_memory(victim),
        "limit": lambda: resource.prlimit(victim, resource.RLIMIT_NOFILE, (100, 1000)),
        "memory_file": lambda: os.close(os.open(f"/proc/{victim}/mem", os.O_RDWR)),
        "environment": lambda: open_and_read(f"/proc/{victim}/environ"),
        "read": lambda: open_and_read(secret),
        "write": lambda: put(file),
        "create": lambda: put(f"{folder}/second", os.O_CREAT),
        "open_truncate": lambda: cut(file),
        "truncate": lambda: os.truncate(file, 1),
        "chmod": lambda: os.chmod(file, 0o600),
        "chmod_descriptor": lambda: chmod_by_descriptor(file),
        "chown": lambda: os.chown(file, os.getuid(), os.getgid()),
        "times": lambda: os.utime(file, (1, 1)),
        "attribute": lambda: set_attribute(file),
        "link": lambda: os.link(file, f"{folder}/link"),
        "folder": lambda: os.mkdir(f"{folder}/folder"),
        "fifo": lambda: os.mkfifo(f"{folder}/fifo"),
        "symlink": lambda: os.symlink("file", f"{folder}/symlink"),
        "rename": lambda: os.rename(file, f"{folder}/renamed"),
        "unlink": lambda: os.unlink(secret),
        "record_lock": lock_record,
        "watch": lambda: watch(folder),
        "named_pipe": lambda: os.close(os.open(f"{folder}/pipe", os.O_RDWR | os.O_NONBLOCK)),
        "terminal": lambda: os.close(os.open(os.environ["HOSTILE_TERMINAL"], os.O_WRONLY | os.O_NOCTTY)),
        "proc_write": lambda: os.close(os.open("/proc/self/oom_score_adj", os.O_WRONLY)),
        "mount": lambda: libc("mount", b"none", f"{folder}/mountable".encode(), b"tmpfs", 0, None),
        "user_namespace": lambda: in_child(lambda: libc("unshare", 0x10000000)),
        "user_namespace_clone": clone_into_a_user_namespace,
        "execute": lambda: subprocess.run(["/bin/true"], check=True),
        "capability": show_capabilities,
        "shared_memory": lambda: put("/dev/shm/" + os.environ["HOSTILE_SHARED"], os.O_CREAT),
        "system_v": lambda: make_segment(),
        "setuid_file": make_setuid_file,
        "undumpable": lambda: in_child(hide),
        "own_thread": own_thread,
        "own_limit": lambda: resource.prlimit(os.getpid(), resource.RLIMIT_NOFILE,
                                              resource.getrlimit(resource.RLIMIT_NOFILE)),
        "own_child": own_child,
        "own_raise": lambda: in_child(raise_signal),
        "own_file": own_file,
        "own_pair": own_pair,
    }
    for name, attempt in attempts.items():
        try:
            attempt()
            number = 0
        except OSError as error:
            number = error.errno
        print(f"attempt {name} {number}", file=sys.stderr, flush=True)


def make():
    make_attempts()
    return lambda x: np.ones(1, np.float32)
