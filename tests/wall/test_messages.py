"""What a worker can make infermeter itself do by what it sends: nothing without an end, and nothing larger than a limit."""

import json

import pytest

SENDER = '''
import ctypes, fcntl, json, mmap, os, socket, struct, zlib
import numpy as np

SOCKET = 3
PORTS, FACTS, OUTPUTS, RESULT, INFO = 2, 4, 5, 6, 7

def send(kind, payload, descriptor=None):
    flag = 0 if descriptor is None else 0x100
    head = b"INFM" + struct.pack("<III", kind | flag, len(payload), zlib.crc32(payload))
    with socket.socket(fileno=os.dup(SOCKET)) as connection:
        if descriptor is not None:
            socket.send_fds(connection, [head[:1]], [descriptor])
            head = head[1:]
        connection.sendall(head + payload)

def sparse(size, sealed=True):
    memory = os.memfd_create("outputs", os.MFD_ALLOW_SEALING)
    os.ftruncate(memory, size)
    if sealed:
        fcntl.fcntl(memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
    return memory

def second_ports():
    send(PORTS, b'{"inputs": [], "outputs": []}')

def long_facts():
    send(FACTS, b" " * (20 << 20))

def sparse_outputs():
    send(OUTPUTS, b"1", sparse(1 << 30))
    os._exit(0)

def outputs_that_may_shrink():
    send(OUTPUTS, b"1", sparse(4096, sealed=False))
    os._exit(0)

def outputs_larger_than_the_limit():
    send(OUTPUTS, b"1", sparse(1 << 50))
    os._exit(0)

def record(**members):
    usual = {"subject": 0, "process": 0, "end": "ok", "phase": "done"}
    send(RESULT, json.dumps(usual | members).encode())
    os._exit(0)

def unreadable_record():
    record(subject="none")

def usage_of_nobody():
    send(RESULT, b'{"usage": true}')
    os._exit(0)

def long_record():
    send(RESULT, b" " * (9 << 20))

def many_counters():
    record(counters=[{"name": f"n{i}", "value": i} for i in range(1001)])

def said_to_be_interrupted():
    record(end="interrupted")

def wild_block():
    with mmap.mmap(5, 4096) as header:
        header[:] = os.urandom(4096)

def make():
    done = []
    def call(x):
        if not done:
            done.append(1)
            try:
                globals()[os.environ["CASE"]]()
            except BrokenPipeError:
                pass
        return np.ones(1, np.float32)
    return call
'''


@pytest.mark.parametrize("case, sentence", [
    ("second_ports", "of a kind that comes once a second time"),
    ("long_facts", "its length is 20971520"),
    ("sparse_outputs", "are said to take 1073741824 bytes and are not there"),
    ("outputs_that_may_shrink", "could shrink"),
    ("outputs_larger_than_the_limit", "too many"),
    ("unreadable_record", "'subject' should be a whole number"),
    ("usage_of_nobody", "'subject' is missing"),
    ("long_record", "its length is 9437184"),
    ("many_counters", "has 1001 counters, more than 1000"),
    ("said_to_be_interrupted", "nobody has interrupted it"),
    ("wild_block", "nobody has interrupted it"),
])
def test_a_message_that_is_too_much_ends_the_worker_and_nothing_else(run, build_dir, case, sentence):
    if not list(build_dir.glob("python/infermeter/_worker.*")):
        pytest.skip("the Python module is not built")
    (run.folder / "sender.py").write_text(SENDER)
    done = run("run", "bad=sender:make@python,input_shape=1", "good=mlp@fake", "--processes", 1, "--iterations", 3,
               "--warmup", 0, "--quiet", "--format", "json", "--env", f"CASE={case}")
    assert done.returncode == 4, done.stderr
    record = json.loads(done.stdout)
    bad = [trial for trial in record["trials"] if trial["subject"] == 0]
    assert [trial["end"] for trial in bad] == ["crashed"] and sentence in bad[0]["message"], bad[0]["message"]
    assert [trial["end"] for trial in record["trials"] if trial["subject"] == 1] == ["ok"]


LINKER = """
import os
import numpy as np
def make():
    done = []
    def call(x):
        if not done and os.path.isdir("profile"):
            done.append(1)
            for name in os.listdir("profile"):
                os.unlink(f"profile/{name}")
            os.rmdir("profile")
            os.symlink(os.environ["OUTSIDE"], "profile")
        return np.ones(1, np.float32)
    return call
"""


def test_a_profile_is_read_from_the_workers_own_folder_only(run, build_dir, tmp_path):
    if not list(build_dir.glob("python/infermeter/_worker.*")):
        pytest.skip("the Python module is not built")
    (run.folder / "linker.py").write_text(LINKER)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "cprofile.txt").write_text("main;secret_of_somebody_else 77\n")
    done = run("profile", "linker:make@python,input_shape=1", "--processes", 1, "--iterations", 3, "--warmup", 0, "--quiet",
               "--python-profiler", "cprofile", "--format", "json", "--env", f"OUTSIDE={outside}")
    assert json.loads(done.stdout)["trials"], done.stderr
    assert "secret_of_somebody_else" not in done.stdout


def test_memory_files_count_for_the_limit(run, build_dir):
    if not list(build_dir.glob("python/infermeter/_worker.*")):
        pytest.skip("the Python module is not built")
    (run.folder / "keeper.py").write_text("""
import os
import numpy as np
kept = []
def make():
    def call(x):
        memory = os.memfd_create("kept")
        os.write(memory, bytes(50 << 20))
        kept.append(memory)
        return np.ones(1, np.float32)
    return call
""")
    done = run("run", "keeper:make@python,input_shape=1", "--processes", 1, "--iterations", 100000, "--warmup", 0,
               "--quiet", "--format", "json", "--memory-limit", "800MB")
    assert done.returncode == 4, done.stderr
    assert json.loads(done.stdout)["trials"][0]["end"] == "out_of_memory"
