"""Ways round the limits of a worker, tried from inside: memory that no resident set shows, processes that make others faster
than they are killed. One run has them all: a subject each."""

import json
import os
import tempfile
from pathlib import Path

import pytest

GREEDY = '''
import ctypes, mmap, os, signal, socket, sys, time
import numpy as np

MB = 1 << 20
MANY = 600
LIBC = ctypes.CDLL(None, use_errno=True)
kept = []

def fill(descriptor, size):
    for _ in range(size // MB):
        os.write(descriptor, bytes(MB))

def shared_memory_of_an_ended_child():
    memory = mmap.mmap(-1, MANY * MB)
    kept.append(memory)
    child = os.fork()
    if child == 0:
        for _ in range(MANY):
            memory.write(bytes(MB))
        os._exit(0)
    os.waitpid(child, 0)

def shared_memory_that_is_let_go():
    memory = mmap.mmap(-1, MANY * MB)
    kept.append(memory)
    for begin in range(0, MANY * MB, 8 * MB):
        memory[begin:begin + 8 * MB] = bytes(8 * MB)
        memory.madvise(mmap.MADV_DONTNEED, begin, 8 * MB)

def files_that_only_a_mapping_holds():
    for _ in range(MANY // 20):
        file = os.memfd_create("held")
        fill(file, 20 * MB)
        kept.append(mmap.mmap(file, 20 * MB))
        os.close(file)

def files_that_wait_to_be_received():
    here, there = socket.socketpair()
    kept.extend([here, there])
    for _ in range(MANY // 20):
        file = os.memfd_create("in flight")
        fill(file, 20 * MB)
        socket.send_fds(here, [b"x"], [file])
        os.close(file)

def files_of_the_own_folder():
    with open("large", "wb", buffering=0) as file:
        fill(file.fileno(), MANY * MB)

def page_tables():
    LIBC.mmap.restype = ctypes.c_void_p
    LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    LIBC.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    size = 1 << 42
    begin = LIBC.mmap(None, size, mmap.PROT_READ, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, -1, 0)  # not reserved
    LIBC.madvise(begin, size, 15)  # no huge pages
    for offset in range(0, MANY * MB // 4096 * 2 * MB, 2 * MB):
        ctypes.c_char.from_address(begin + offset).value

def sockets():
    for _ in range(700):
        kept.append(socket.socketpair())

def make():
    case = os.environ["CASE"]
    done = []
    def call(x):
        if not done:
            done.append(1)
            globals()[case]()
        time.sleep(0.05)  # until the limit is noticed
        return np.ones(1, np.float32)
    return call
'''
MEMORY = ["shared_memory_of_an_ended_child", "shared_memory_that_is_let_go", "files_that_only_a_mapping_holds",
          "files_that_wait_to_be_received", "files_of_the_own_folder", "page_tables"]


@pytest.fixture(autouse=True)
def python_worker(build_dir):
    if not list(build_dir.glob("python/infermeter/_worker.*")):
        pytest.skip("the Python module is not built")


@pytest.fixture
def memory_folder():
    """A folder for temporary files whose contents are in memory."""
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="infermeter-test-") as folder:
        yield folder


def test_memory_that_no_resident_set_shows_counts(run, memory_folder):
    (run.folder / "greedy.py").write_text(GREEDY)
    subjects = [f"{case}=greedy:make@python,input_shape=1,env.CASE={case}" for case in [*MEMORY, "sockets"]]
    done = run("run", *subjects, "--processes", 1, "--iterations", 100000, "--warmup", 0, "--quiet", "--format", "json",
               "--memory-limit", "300MB", env={"TMPDIR": memory_folder})
    record = json.loads(done.stdout)
    ends = {record["plan"]["subjects"][trial["subject"]]["label"]: (trial["end"], trial["message"]) for trial in record["trials"]}
    assert {case: ends[case][0] for case in MEMORY} == dict.fromkeys(MEMORY, "out_of_memory"), ends
    assert ends["sockets"][0] == "crashed" and "sockets, more than 1024" in ends["sockets"][1]
    assert os.listdir(memory_folder) == []


FORKS = '''
import ctypes, os, sys
import numpy as np

def make():
    libc = ctypes.CDLL(None, use_errno=True)
    name = os.environ["NAME"].encode()
    done = []
    def call(x):
        if not done:
            done.append(1)
            libc.prctl(15, name)  # PR_SET_NAME
            made = refused = 0
            while made < 1500 and not refused:
                try:
                    if os.fork() == 0:
                        os._exit(0)  # nobody waits for it
                    made += 1
                except BlockingIOError:
                    refused = 1
            print(f"made {made} refused {refused}", file=sys.stderr, flush=True)
        return np.ones(1, np.float32)
    return call
'''


def named(name):
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and (process / "comm").read_text().strip() == name:
                found.append(process.name)
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


def test_processes_have_an_end_in_number_and_in_time(run):
    (run.folder / "forks.py").write_text(FORKS)
    name = f"swarm{os.getpid()}"
    done = run("run", "forks:make@python,input_shape=1", "--processes", 1, "--iterations", 3, "--warmup", 0, "--quiet",
               "--format", "json", "--env", f"NAME={name}")
    trial = json.loads(done.stdout)["trials"][0]
    assert trial["end"] == "ok", trial
    assert "refused 1" in trial["stderr_tail"]
    made = int(trial["stderr_tail"].split("made ")[1].split()[0])
    assert 900 < made <= 1024
    assert named(name) == []
