"""What a worker can do to what is not its own: tried from inside by a hostile C plug-in and a hostile Python subject, at
each level, as root and as an ordinary user, with Landlock and without. docs/sandbox.md says what comes of each attempt;
its table is read here, so that it cannot say anything else."""

import ctypes
import errno
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).parent
NOBODY = 65534
IDENTITIES = ["root", "user"] if os.geteuid() == 0 else ["user"]
LANDLOCK_CREATE_RULESET = 444


def refusing(call, number):
    """In a child before exec: as on a kernel that answers one system call so (a seccomp filter)."""
    def instruction(code, yes, no, value):
        return struct.pack("HBBI", code, yes, no, value)

    load, equal, give = 0x20, 0x15, 0x06
    program = b"".join([instruction(load, 0, 0, 0), instruction(equal, 0, 1, call),
                        instruction(give, 0, 0, 0x00050000 | number), instruction(give, 0, 0, 0x7FFF0000)])
    code = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code)))
    libc = ctypes.CDLL(None)

    def apply():
        libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
        if libc.prctl(22, 2, header, 0, 0) != 0:  # PR_SET_SECCOMP, a filter
            raise OSError("no filter")

    apply.keeps = code  # what the header points to
    return apply


UNSHARE = {"x86_64": 272, "aarch64": 97}.get(os.uname().machine)
KERNELS = {"whole": None, "no Landlock": refusing(LANDLOCK_CREATE_RULESET, errno.ENOSYS),
           "no namespaces": refusing(UNSHARE, errno.EPERM)}


@pytest.fixture
def place():
    """A folder that every user may enter: pytest's own ones are closed."""
    with tempfile.TemporaryDirectory(prefix="infermeter-wall-") as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@pytest.fixture(scope="session")
def plugin_folder(source_dir):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    with tempfile.TemporaryDirectory(prefix="infermeter-wall-") as folder:
        os.chmod(folder, 0o755)
        subprocess.run([compiler, "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", f"-I{source_dir}/backends", "-o",
                        f"{folder}/infermeter_backend_hostile.so", HERE / "infermeter_backend_hostile.c", "-lpthread"],
                       check=True)
        yield folder


class Victim:
    """What a hostile worker aims at: a process, files, and sockets that listen; all of the worker's own user."""

    def __init__(self, folder, user):
        self.folder = folder / "outside"
        self.folder.mkdir()
        (self.folder / "file").write_text("contents")
        (self.folder / "secret").write_text("secret")
        (self.folder / "mountable").mkdir()
        if user == "user" and os.geteuid() == 0:
            for path in [self.folder, *self.folder.iterdir()]:
                os.chown(path, NOBODY, NOBODY)
        self.process = subprocess.Popen(["sleep", "1000"], env={"SECRET": "of the victim"}, start_new_session=True,
                                        **identity(user))
        self.shared_name = f"infermeter-hostile-{self.process.pid}"
        self.segment_size = 1_000_000 + self.process.pid
        self.socket_name = str(folder / "socket")
        self.listeners = []
        os.mkfifo(self.folder / "pipe")
        if user == "user" and os.geteuid() == 0:
            os.chown(self.folder / "pipe", NOBODY, NOBODY)
        self.terminal = os.openpty()
        self.terminal_name = os.ttyname(self.terminal[1])
        if user == "user" and os.geteuid() == 0:
            os.chown(self.terminal_name, NOBODY, NOBODY)
        for name in (self.socket_name, "\0" + self.socket_name):
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            listener.bind(name)
            listener.listen()
            listener.setblocking(False)
            self.listeners.append(listener)
        os.chmod(self.socket_name, 0o777)
        # What a worker that measures a server may reach, and the same host's other port.
        self.server, self.other = (socket.create_server(("127.0.0.1", 0), backlog=1000) for _ in range(2))
        self.other.setblocking(False)
        self.listeners += [self.other]
        self.before = self.state()

    def state(self):
        files = {path.name: (os.lstat(path).st_mode, os.lstat(path).st_mtime_ns, os.lstat(path).st_ctime_ns,
                             os.lstat(path).st_nlink, path.read_bytes() if path.is_file() else b"")
                 for path in sorted(self.folder.iterdir())}
        pid = self.process.pid
        return {"files": files, "affinity": os.sched_getaffinity(pid), "policy": os.sched_getscheduler(pid),
                "priority": os.getpriority(os.PRIO_PROCESS, pid), "alive": self.process.poll() is None,
                "limits": Path(f"/proc/{pid}/limits").read_text(),
                # What the worker would leave, known by its name and its size: other programs make and remove theirs.
                "shared": Path("/dev/shm", self.shared_name).exists(),
                "system_v": [line for line in Path("/proc/sysvipc/shm").read_text().splitlines()
                             if line.split()[3] == str(self.segment_size)],
                "heard": [was_called(listener) for listener in self.listeners]}

    def end(self):
        self.process.kill()
        self.process.wait()
        for listener in [self.server, *self.listeners]:
            listener.close()
        Path("/dev/shm", self.shared_name).unlink(missing_ok=True)
        for end in self.terminal:
            os.close(end)
        if os.path.ismount(self.folder / "mountable"):
            ctypes.CDLL(None).umount2(os.fsencode(self.folder / "mountable"), 2)  # MNT_DETACH


def was_called(listener):
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def identity(user):
    if user == "root" or os.geteuid() != 0:
        return {}
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []}


@pytest.fixture
def attempt(infermeter, environment_in, plugin_folder, place):
    """attempt(what, user, level, kernel) -> {attempt: errno}, the victim."""
    victims = []

    def call(what, user, level, kernel):
        work = place / "work"
        work.mkdir()
        victim = Victim(place, user)
        victims.append(victim)
        environment = environment_in(place) | {"XDG_CACHE_HOME": str(place / "cache")}
        shutil.copy(HERE / "hostile.py", work)
        if user == "user" and os.geteuid() == 0:
            for path in [place, work, place / "home", place / "home/intel"]:
                os.chown(path, NOBODY, NOBODY)
        server = f"http://127.0.0.1:{victim.server.getsockname()[1]}"
        subject = {"c": "hostile@hostile", "python": "hostile:make@python,input_shape=1",
                   "served": f"anything@hostile,url={server}"}[what]
        done = subprocess.run(
            [infermeter, "run", subject, "--backend-path", plugin_folder, "--processes", "1", "--iterations", "3",
             "--warmup", "0", "--quiet", "--format", "json", "--sandbox", level,
             "--env", f"HOSTILE_VICTIM={victim.process.pid}", "--env", f"HOSTILE_FOLDER={victim.folder}",
             "--env", f"HOSTILE_PORT={victim.other.getsockname()[1]}",
             "--env", f"HOSTILE_SHARED={victim.shared_name}", "--env", f"HOSTILE_SEGMENT={victim.segment_size}",
             "--env", f"HOSTILE_SOCKET={victim.socket_name}", "--env", f"HOSTILE_TERMINAL={victim.terminal_name}"],
            cwd=work, env=environment, capture_output=True, text=True, timeout=120, check=False,
            preexec_fn=KERNELS[kernel], **identity(user))
        assert done.stdout, done.stderr
        record = json.loads(done.stdout)
        said = record["trials"][0]["stderr_tail"]
        found = {name: int(number) for name, number in re.findall(r"^attempt (\w+) (-?\d+)$", said, re.M)}
        assert found, record["trials"][0]["message"] + said + done.stderr
        return found, victim

    yield call
    for victim in victims:
        victim.end()


def table(source_dir):
    """{attempt: [auto and strict, auto without Landlock, off]} of docs/sandbox.md. Those that begin with url_ are of a
    worker that measures a server."""
    rows = re.findall(r"^\| `(\w+)` \|[^|\n]*\|([^|\n]*)\|([^|\n]*)\|([^|\n]*)\|$", (source_dir / "docs/sandbox.md").read_text(), re.M)
    return {name: [cell.strip() for cell in cells] for name, *cells in rows}


def can_have(user, kernel, column):
    """Whether this machine can show what the column says."""
    if column == 0:
        return ctypes.CDLL(None).syscall(LANDLOCK_CREATE_RULESET, None, 0, 1) > 0
    flags = "-m" if user == "root" else "-Urm"
    return column == 2 or subprocess.run(["unshare", flags, "true"], capture_output=True, check=False,
                                         preexec_fn=KERNELS[kernel], **identity(user)).returncode == 0


COLUMNS = [("strict", "whole", 0), ("auto", "whole", 0), ("strict", "no namespaces", 0), ("auto", "no Landlock", 1),
           ("off", "whole", 2)]


@pytest.mark.parametrize("level, kernel, column", COLUMNS)
@pytest.mark.parametrize("user", IDENTITIES)
@pytest.mark.parametrize("what", ["c", "python", "served"])
def test_the_table_of_the_documentation_is_true(attempt, source_dir, what, user, level, kernel, column):
    if not can_have(user, kernel, column):
        pytest.skip("this kernel cannot show it")
    expected = {name: cells for name, cells in table(source_dir).items() if what == "served" or not name.startswith("url_")}
    assert len(expected) > 50
    found, victim = attempt(what, user, level, kernel)
    after = victim.state()
    wrong = {}
    for name, number in found.items():
        allowed = number == 0 if name != "shared_memory" else after["shared"]
        cell = "yes" if (name, what) == ("execute", "python") else expected[name][column]
        if allowed != (cell == "yes" or (cell == "root" and user == "root")):
            wrong[name] = f"errno {number}, {cell} in the table"
    assert not wrong
    assert set(found) == set(expected)
    if level != "off":
        assert after == victim.before


def test_strict_is_refused_before_anything_is_asked_or_measured(infermeter, environment_in, place):
    """On a kernel without Landlock: by the look at the back end already."""
    done = subprocess.run([infermeter, "run", "mlp@fake", "--sandbox", "strict"], cwd=place, env=environment_in(place), text=True,
                          capture_output=True, timeout=120, check=False, preexec_fn=KERNELS["no Landlock"])
    assert done.returncode == 2 and "--sandbox strict was asked for" in done.stderr, done.stderr
    assert not (place / "results").exists()
