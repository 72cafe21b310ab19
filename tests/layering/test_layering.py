"""Who may include whom, and who alone may do what: the code compared with infermeter/CMakeLists.txt and docs/architecture.md."""

import graphlib
import os
import re
import shutil
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
LIBRARY = SOURCE / "infermeter"
OUR_CODE = ("infermeter", "backends", "cli", "python", "bench", "simulation", "examples", "tests")
ABI = "infermeter_backend.h"
MAY_USE_ABI = {"trial", "worker"}

PROCESSES = re.compile(
    r"(?<![\w.>])(?:::|std::)?(?:v?fork|clone3?|posix_spawnp?|exec(?:l|lp|le|v|vp|ve|vpe)|fexecve|execveat|popen|system"
    r"|dlm?open)\s*\(")
CLOCKS = re.compile(
    r"\b(?:steady_clock|system_clock|high_resolution_clock|utc_clock|clock_gettime|gettimeofday|timespec_get|__rdtscp?)\b"
    r"|(?<![\w.>:])(?:std::|::)?(?:time|clock)\s*\(\s*(?:nullptr|NULL|0|&\w+)?\s*\)")
# What a public header may need beside the C++ standard library: what Debian's libc6-dev and g++ bring.
SYSTEM_HEADERS = {"time.h", "sys/types.h", "x86intrin.h"}


def sources(*folders, suffixes=(".hpp", ".cpp", ".h", ".c")):
    found = [file for folder in folders for file in (SOURCE / folder).rglob("*") if file.suffix in suffixes]
    assert found, f"no sources in {folders}: this test looks in the wrong place"
    return sorted(found)


def code_lines(text):
    """The lines of a C++ text, comments and the insides of string literals blanked: only what is executed is left."""
    text = re.sub(r"/\*.*?\*/", lambda match: "\n" * match[0].count("\n"), text, flags=re.DOTALL)
    token = re.compile(r'//.*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])+\'')
    return [token.sub(lambda match: "" if match[0].startswith("/") else '""', line) for line in text.split("\n")]


def includes(file):
    return re.findall(r'^\s*#\s*include\s*(["<][^">]+)[">]', file.read_text(), re.MULTILINE)


def own_includes(file):
    return [name[1:] for name in includes(file) if name.startswith('"')]


def layer_table():
    """{layer: layers it may include}, as infermeter/CMakeLists.txt has it."""
    calls = re.findall(r"^infermeter_layer\(([^)]*)\)", (LIBRARY / "CMakeLists.txt").read_text(), re.MULTILINE)
    table = {}
    for call in calls:
        name, *rest = re.sub(r"LIBRARIES.*", "", call, flags=re.DOTALL).split()
        table[name] = set(rest[rest.index("DEPENDS") + 1:]) if "DEPENDS" in rest else set()
    assert len(table) > 8, "infermeter/CMakeLists.txt is not read rightly"
    return table


def public_headers():
    """What infermeter.hpp includes, directly or through another: what is installed."""
    found, todo = [], ["infermeter/infermeter.hpp"]
    while todo:
        name = todo.pop()
        if name not in found and (SOURCE / name).exists():
            found.append(name)
            todo += [other for other in own_includes(SOURCE / name) if other.startswith("infermeter/")]
    return sorted(found)


def forbidden_include(layer, name, table):
    """Why a file of `layer` may not include `name`, or None."""
    if name == ABI:
        return None if layer in MAY_USE_ABI else f"only {sorted(MAY_USE_ABI)} may include {ABI}"
    if not name.startswith("infermeter/"):
        return "is neither infermeter/… nor the ABI"
    folder, _, rest = name.removeprefix("infermeter/").partition("/")
    if not rest:
        return None if name == "infermeter/version.hpp" else "is above all layers"
    if folder == "text" or folder == layer or folder in table[layer] or folder == "diagnostics" and layer != "text":
        return None
    return f"{layer} may include {sorted(table[layer] | {'text', 'diagnostics'})}"


def offenders(pattern, files):
    return [f"{file.relative_to(SOURCE)}:{number}: {line.strip()}" for file in files
            for number, line in enumerate(code_lines(file.read_text()), 1) if pattern.search(line)]


def layer_of(file):
    parts = file.relative_to(LIBRARY).parts if file.is_relative_to(LIBRARY) else ()
    return parts[0] if len(parts) > 1 else None


def test_layers_form_no_cycle():
    table = layer_table()
    done = set()
    while len(done) < len(table):
        free = {layer for layer in table if layer not in done and table[layer] <= done}
        assert free, f"a cycle among {sorted(set(table) - done)}"
        done |= free


def test_units_include_each_other_in_no_loop():
    """A unit is a header and the source of the same name; what two of them need of each other has a header of its own."""
    def is_part(file):
        return not file.stem.endswith("_test")

    graph = {}
    for file in filter(is_part, sources("infermeter", "cli", "python", "simulation", "backends", suffixes=(".hpp", ".cpp"))):
        needs = graph.setdefault(file.with_suffix(""), set())
        for name in own_includes(file):
            found = next((root / name for root in (SOURCE, SOURCE / "backends", file.parent) if (root / name).exists()), None)
            if found is not None and found.with_suffix("") != file.with_suffix(""):
                needs.add(found.with_suffix(""))
    assert sum(map(len, graph.values())) > 1000
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(str(unit.relative_to(SOURCE)) for unit in error.args[1]))


MOST_FILES = 40


def test_no_folder_is_crowded():
    files = [file for file in sources("infermeter", "cli", "python", "simulation") if not file.stem.endswith("_test")]
    count = Counter(str(file.parent.relative_to(SOURCE)) for file in files)
    assert max(count.values()) <= MOST_FILES, count.most_common(3)


def test_nothing_of_the_library_lies_outside_of_a_layer():
    assert [file.name for file in LIBRARY.glob("*.?pp")] == ["infermeter.hpp"]


def test_every_folder_of_the_library_is_a_layer():
    folders = {path.name for path in LIBRARY.iterdir() if path.is_dir() and any(path.iterdir())}
    assert folders == set(layer_table())
    assert not folders & {"utils", "util", "common", "helpers", "misc", "manager"}


def test_every_include_goes_one_way():
    table = layer_table()
    wrong = []
    for file in sources("infermeter"):
        layer = layer_of(file)
        for name in own_includes(file) if layer else []:
            why = forbidden_include(layer, name, table)
            if why:
                wrong.append(f'{file.relative_to(SOURCE)} includes "{name}": {why}')
    assert not wrong, "\n".join(wrong)


def test_back_ends_include_nothing_of_the_library():
    wrong = [f"{file.relative_to(SOURCE)}: {name}" for file in sources("backends") for name in includes(file)
             if re.match(r'["<](infermeter/|\.\.)', name)]
    assert not wrong, "\n".join(wrong)


def test_the_command_line_includes_public_headers_only():
    allowed = set(public_headers()) | {"infermeter/version.hpp"}
    wrong = [f"{file.relative_to(SOURCE)}: {name}" for file in sources("cli") for name in own_includes(file)
             if name.startswith("infermeter/") and name not in allowed]
    assert not wrong, "\n".join(wrong)


# Of the Python module: what hosts a trial in a worker, and what finds the file of a back end for a live object.
PYTHON_HOSTS = {"infermeter/worker/worker.hpp", "infermeter/worker/plugin.hpp"}


def test_the_python_module_includes_public_headers_only():
    allowed = set(public_headers()) | {"infermeter/version.hpp"} | PYTHON_HOSTS
    wrong = [f"{file.relative_to(SOURCE)}: {name}" for file in sources("python") for name in own_includes(file)
             if name.startswith("infermeter/") and name not in allowed]
    assert not wrong, "\n".join(wrong)


def test_only_the_worker_starts_processes_and_loads_libraries():
    loads_libpq = SOURCE / "infermeter/store/libpq.cpp"  # by a name that nobody gives
    files = [file for file in sources("infermeter", "cli", "python") if "worker" not in file.parts and file != loads_libpq]
    hits = offenders(PROCESSES, [file for file in files if not file.name.endswith("_test.cpp")])
    assert not hits, "\n".join(hits)


def test_only_trial_reads_the_clock():
    files = [file for file in sources("infermeter", "cli", "python") if layer_of(file) != "trial"]
    hits = offenders(CLOCKS, [file for file in files if not file.name.endswith("_test.cpp")])
    assert not hits, "\n".join(hits)


def test_only_the_store_speaks_sql():
    wrong = [str(file.relative_to(SOURCE)) for file in sources("infermeter", "cli", "python", "backends")
             if {"<sqlite3.h", "<libpq-fe.h"} & set(includes(file)) and layer_of(file) != "store"]
    assert not wrong, "\n".join(wrong)


def test_every_header_says_pragma_once():
    # HWY_TARGET_TOGGLE: what Highway compiles once per set of instructions has a guard that lets it in as often.
    wrong = [str(file.relative_to(SOURCE)) for file in sources(*OUR_CODE, suffixes=(".hpp", ".h"))
             if not re.search(r"^#pragma once$|HWY_TARGET_TOGGLE", file.read_text(), re.MULTILINE) and file.name != ABI]
    assert not wrong, "\n".join(wrong)
    assert "#ifndef INFERMETER_BACKEND_H" in (SOURCE / "backends" / ABI).read_text() or \
        "#pragma once" in (SOURCE / "backends" / ABI).read_text()


def test_public_headers_need_only_the_standard_library():
    wrong = [f"{name}: <{other[1:]}>" for name in public_headers() for other in includes(SOURCE / name)
             if other.startswith("<") and not re.fullmatch(r"<[a-z_]+", other) and other[1:] not in SYSTEM_HEADERS]
    assert not wrong, "\n".join(wrong)


def test_every_public_header_compiles_alone(build_dir):
    # ccache remembers what compiled: it wants a file, and the same name each time.
    folder = build_dir / "public-headers"
    folder.mkdir(exist_ok=True)
    command = [*([ccache] if (ccache := shutil.which("ccache")) else []), "g++", "-std=c++20", "-Wall", "-Wextra", "-Werror",
               f"-I{SOURCE}", f"-I{SOURCE / 'backends'}", f"-I{build_dir / 'generated'}", "-c"]
    environment = os.environ | {"CCACHE_BASEDIR": str(SOURCE), "CCACHE_NOHASHDIR": "1"}

    def compile_alone(name):
        file = folder / (name.replace("/", "-") + ".cpp")
        file.write_text(f'#include "{name}"\n#include "{name}"\n')
        done = subprocess.run([*command, str(file), "-o", str(file.with_suffix(".o"))], capture_output=True, text=True,
                              env=environment)
        return "" if done.returncode == 0 else f"{name}:\n{done.stderr[:2000]}"

    with ThreadPoolExecutor(2) as pool:
        wrong = [text for text in pool.map(compile_alone, public_headers()) if text]
    assert not wrong, "\n".join(wrong)


def test_the_abi_is_c11():
    command = ["gcc", "-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-x", "c",
               str(SOURCE / "backends" / ABI)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_documented_table_is_the_built_one():
    section = (SOURCE / "docs/architecture.md").read_text().split("## Who may include whom")[1].split("\n## ")[0]
    rows = re.findall(r"^\| *([a-z]+) *\| *([^|]*?) *\|", section, re.MULTILINE)
    table = layer_table()
    documented = {name: {word.strip() for word in what.split(",") if word.strip()} for name, what in rows if name in table}
    built = {name: set(layers) | ({f"`{ABI}`"} if name in MAY_USE_ABI else set()) for name, layers in table.items()}
    assert documented == built


# --- this test's own eyes: it must see what it is to find ---------------------------------------------------------------


@pytest.mark.parametrize("layer, name, fine", [
    ("plan", "infermeter/plan/subject.hpp", True),
    ("plan", "infermeter/diagnostics/result.hpp", True),
    ("plan", "infermeter/version.hpp", True),
    ("plan", "infermeter/data/tensor.hpp", False),
    ("plan", "infermeter/run/run.hpp", False),
    ("trial", ABI, True),
    ("stats", ABI, False),
    ("models", "infermeter/data/tensor.hpp", True),
    ("data", "infermeter/models/zoo/zoo.hpp", False),
    ("data", "../plan/plan.hpp", False),
    ("diagnostics", "infermeter/plan/plan.hpp", False),
])
def test_the_rule_of_includes(layer, name, fine):
    assert (forbidden_include(layer, name, layer_table()) is None) == fine


@pytest.mark.parametrize("pattern, code, seen", [
    (PROCESSES, "const pid_t child = fork();", True),
    (PROCESSES, "::execve(path, argv, env);", True),
    (PROCESSES, "void* handle = dlopen(name, RTLD_NOW);", True),
    (PROCESSES, "std::system(command);", True),
    (PROCESSES, "// fork() is for the worker", False),
    (PROCESSES, 'fail("fork() failed");', False),
    (PROCESSES, "machine.system();", False),
    (PROCESSES, "waitpid_and_fork_count(3);", False),
    (CLOCKS, "auto now = std::chrono::steady_clock::now();", True),
    (CLOCKS, "clock_gettime(CLOCK_MONOTONIC, &t);", True),
    (CLOCKS, "const auto ticks = __rdtsc();", True),
    (CLOCKS, "seed(std::time(nullptr));", True),
    (CLOCKS, "trial.time();", False),
    (CLOCKS, "double load_time_s = 0;", False),
    (CLOCKS, 'print("steady_clock");', False),
    (CLOCKS, "/* steady_clock */ int x;", False),
])
def test_the_rules_of_calls(pattern, code, seen):
    assert any(pattern.search(line) for line in code_lines(code)) == seen


def test_every_name_of_a_type_is_one_type():
    """Headers share a namespace: two types of one name are undefined behaviour that no linker reports."""
    found = {}
    for file in sources("infermeter", suffixes=(".hpp",)):
        if file.name.startswith("test_"):
            continue  # of a test program alone
        text = "\n".join(code_lines(file.read_text()))
        space = "::".join(re.findall(r"^namespace ([\w:]+) \{", text, re.MULTILINE))
        for name in re.findall(r"^(?:struct|class|enum class) (\w+)(?: final)?(?: : [^;]*)? \{", text, re.MULTILINE):
            found.setdefault(f"{space}::{name}", set()).add(str(file.relative_to(SOURCE)))
    assert len(found) > 200
    assert not {name: sorted(files) for name, files in found.items() if len(files) > 1}


# What a file has for itself, or a header declares, at the beginning of a line: functions, types, constants.
DEFINED = (
    re.compile(r"^(?:struct|class|enum class|enum|union|concept) (\w+)"), re.compile(r"^using (\w+) ="),
    re.compile(r"^(?!using |return |namespace |template |static_assert|#|//|\}|INFERMETER_)[^=({;]*?\b(\w+)(?:\[[^\]]*\])*(?: =|\{|;|\()"))
SAME_IN_ALL = {"fs", "Json"}  # one alias of one thing, wherever it stands


def own_names(lines):
    """Names in a file's unnamed namespace."""
    inside = False
    for line in lines:
        if line.startswith("namespace {"):
            inside = True
        elif line == "}  // namespace":
            inside = False
        elif (inside or line.startswith("static ")) and not line.startswith((" ", "//")):
            match = next((found for pattern in DEFINED if (found := pattern.match(line))), None)
            if match and match[1] not in SAME_IN_ALL:
                yield match[1]


@pytest.mark.parametrize("folder", [*(f"infermeter/{layer}" for layer in layer_table()), "cli", "python", "simulation",
                                    *(f"backends/{path.parent.name}" for path in (SOURCE / "backends").glob("*/CMakeLists.txt"))])
def test_a_name_is_used_once_in_what_is_compiled_as_one_file(folder):
    """Two functions of one name would be overloads of each other."""
    seen: dict[str, str] = {}
    for file in sorted((SOURCE / folder).rglob("*.cpp")):
        if file.stem.endswith("_test") or file.stem.startswith("peak_kernels_"):  # in namespaces of their own; one is compiled
            continue
        for name in sorted(set(own_names(file.read_text().split("\n")))):
            if (folder, name) == ("infermeter/verdict", "Kind"):  # the same alias each time
                continue
            assert seen.setdefault(name, str(file)) == str(file), f"{name} is in {seen[name]} and in {file}"
