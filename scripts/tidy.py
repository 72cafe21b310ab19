"""Usage: scripts/tidy.py BUILD

clang-tidy of what the product is compiled of, as it is compiled: not of what a library or the page's bundler wrote. Where it
is built, ninja knows which files each object was made of. What was looked at without a finding, with the same
command, settings and contents of all these files, is not looked at again: digests are in ~/.cache/infermeter-tidy.
Prints the findings; exit 1 if there are any.
"""

import concurrent.futures
import functools
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
PROGRAM = "clang-tidy-19"
LOOKED_AT = re.compile(r"(?!.*(_test\.dir|/tests/|/simulation/|/bench/|nanobind|page\.cpp|libtorch)).*\.(cpp|cxx)$")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "infermeter-tidy"
KEPT_S = 60 * 24 * 3600


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@functools.cache
def digest(file: Path) -> bytes:
    """But for this clone's folder, which files that the build wrote name (those of several sources in one)."""
    return hashlib.sha256(file.read_bytes().replace(str(SOURCE).encode(), b"")).digest()


def read_files(build: Path):
    """{object: files it was made of}, as ninja has it from the compiler."""
    files, current = {}, []
    for line in output_of("ninja", "-C", str(build), "-t", "deps").splitlines():
        if line.startswith("    "):
            current.append(build / line.strip())
        elif ": #deps" in line:
            current = files.setdefault(line.split(": #deps")[0], [])
    return files


def key_of(entry, files, settings: bytes) -> str:
    """Of all that can change what is found; folders of this clone do not."""
    whole = hashlib.sha256(settings + entry["command"].replace(str(SOURCE), "").encode())
    for file in files:
        whole.update(str(file.resolve()).replace(str(SOURCE), "").encode() + digest(file))
    return whole.hexdigest()


def look_at(build: Path, file: str) -> str:
    done = subprocess.run([PROGRAM, "-p", str(build), "-quiet", "-extra-arg=-w", "-extra-arg=-Qunused-arguments", file],
                          capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def main():
    build = Path(sys.argv[1]).resolve()
    subprocess.run([PROGRAM, "--verify-config"], check=True, cwd=SOURCE)
    settings = output_of(PROGRAM, "--version").encode() + (SOURCE / ".clang-tidy").read_bytes()
    files = read_files(build)
    CACHE.mkdir(parents=True, exist_ok=True)
    todo = []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if not LOOKED_AT.match(entry["file"]):
            continue
        made = re.search(r" -o (\S+) ", entry["command"])[1]
        read = files.get(made)
        if read is None:  # not built, so that nobody knows what it is made of
            todo.append((0, entry["file"], None))
            continue
        mark = CACHE / key_of(entry, read, settings)
        if mark.exists():
            mark.touch()
        else:
            todo.append((sum(file.stat().st_size for file in read), entry["file"], mark))
    todo.sort(key=lambda one: -one[0])  # the longest first, so that none is waited for at the end
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        findings = [*pool.map(lambda one: look_at(build, one[1]), todo)]
    for (_, _, mark), text in zip(todo, findings):
        if mark is not None and not text:
            mark.touch()
    for mark in CACHE.iterdir():
        if time.time() - mark.stat().st_mtime > KEPT_S:
            mark.unlink(missing_ok=True)
    print("".join(findings), end="")
    return 1 if any(findings) else 0


if __name__ == "__main__":
    sys.exit(main())
