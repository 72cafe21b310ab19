"""scripts/setup on machines that lack something: programs it calls are replaced by ones that tell what the test needs."""

import os
import re
import shutil
import subprocess

import pytest

NOBODY = 65534
ALL_INSTALLED = 'shift 3; for name; do echo "installed $name"; done'
UNREACHABLE = 'echo "E: Unable to locate package" >&2; exit 100'


NODE = {"node": "echo 20", "npm": ":"}


@pytest.fixture
def clone(source_dir, tmp_path):
    folder = tmp_path / "clone"
    (folder / "scripts").mkdir(parents=True)
    shutil.copy(source_dir / "scripts/setup", folder / "scripts")
    for file in source_dir.glob("requirements*.txt"):
        shutil.copy(file, folder)
    return folder


@pytest.fixture
def setup(clone, tmp_path):
    """setup("--check", programs={"dpkg-query": "shell text"}) runs the clone's script with these programs first on PATH."""
    fakes = tmp_path / "fakes"

    def call(*options, programs=None, before=(), **environment):
        fakes.mkdir(exist_ok=True)
        for name, text in {**NODE, **(programs or {})}.items():
            (fakes / name).write_text(f"#!/bin/sh\n{text}\n")
            (fakes / name).chmod(0o755)
        return subprocess.run(
            [*before, clone / "scripts/setup", *options], capture_output=True, text=True, stdin=subprocess.DEVNULL,
            env={"PATH": f"{fakes}:/usr/bin:/bin", "HOME": str(tmp_path), **environment}, timeout=100)

    return call


def one_sentence(done):
    assert done.returncode == 1
    assert done.stderr.startswith("setup: ") and done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def a_venv(clone, *pins, stamp="9.9"):
    """What find_missing_requirements looks at: a python that shows its version, a stamp, dist-info folders."""
    packages = clone / f".venv/lib/python{stamp}/site-packages"
    packages.mkdir(parents=True)
    (clone / ".venv/bin").mkdir()
    (clone / ".venv/bin/python").write_text("#!/bin/sh\necho 9.9\n")
    (clone / ".venv/bin/python").chmod(0o755)
    (clone / ".venv/.setup-complete").write_text(f"{stamp}\n")
    for pin in pins:
        name, version = pin.split("==")
        (packages / f"{name.replace('-', '_')}-{version}.dist-info").mkdir()
    headers = clone / ".deps/onnxruntime-dev/usr/include/onnxruntime"
    headers.mkdir(parents=True)
    (headers / "onnxruntime_c_api.h").touch()


def without_network(clone):
    (clone / ".venv/bin/python").write_text(
        '#!/bin/sh\ncase "$*" in *pip*) echo "ERROR: offline"; exit 1;; esac; echo 9.9\n')


def pins(clone, name="requirements.txt"):
    return [line.split()[0] for line in (clone / name).read_text().splitlines() if not line.startswith("#")]


def test_check_tells_what_is_missing_and_changes_nothing(clone, setup):
    before = sorted(clone.rglob("*"))
    done = setup("--check", programs={"dpkg-query": ALL_INSTALLED.replace("installed $name", "not-installed $name")})
    assert done.returncode == 1
    assert " cmake " in done.stdout and " openvino==" in done.stdout and "ONNX Runtime's C headers" in done.stdout
    assert "libgtest-dev" not in done.stdout and "pytest" not in done.stdout
    assert sorted(clone.rglob("*")) == before


def test_nothing_missing_changes_nothing(clone, setup):
    a_venv(clone, *pins(clone))
    before = sorted(clone.rglob("*"))
    for options in ((), ("--check",)):
        done = setup(*options, programs={"dpkg-query": ALL_INSTALLED})
        assert (done.returncode, done.stdout) == (0, "setup: nothing is missing\n")
    assert sorted(clone.rglob("*")) == before


@pytest.mark.parametrize("node", ["echo 18", "exit 127"])
def test_an_old_node_is_helped_out(clone, setup, node):
    a_venv(clone, *pins(clone))
    done = setup("--check", programs={"dpkg-query": ALL_INSTALLED, "node": node})
    assert (done.returncode, done.stdout) == (1, f"setup: missing in .venv: {' '.join(pins(clone, 'requirements-node.txt'))} "
                                                 "(about 208 MB)\n")


def test_tests_and_bench_need_more(clone, setup):
    a_venv(clone, *pins(clone))
    some = ALL_INSTALLED.replace("do echo", "do case $name in *benchmark*|*gtest*) continue; esac; echo")
    done = setup("--check", "--tests", "--bench", programs={"dpkg-query": some})
    assert done.returncode == 1
    assert "libgtest-dev libbenchmark-dev libbenchmark-tools\n" in done.stdout
    assert all(f"{name}==" in done.stdout for name in ("pytest", "matplotlib", "pyperf"))
    assert done.stdout.count("scipy==") == 1
    assert "onnxruntime==" not in done.stdout and " cmake" not in done.stdout


def test_lint_gets_what_a_build_with_tests_is_configured_with(setup, build_dir):
    """Found on this machine, whoever installed it: on a fresh one `make lint` comes first."""
    folders = re.findall(r"^\w+_DIR:PATH=(/usr/.*/cmake/.*)$", (build_dir / "CMakeCache.txt").read_text(), re.M)
    owners = subprocess.run(["dpkg", "-S", *folders], capture_output=True, text=True, check=True).stdout
    needed = {package for line in owners.splitlines() for package in re.sub(r": /.*", "", line).split(", ")}
    assert any("rapidcheck" in package for package in needed)
    done = setup("--check", "--lint", programs={"dpkg-query": ALL_INSTALLED.replace("installed $name", "not-installed $name")})
    listed = done.stdout.split("missing Debian packages: ")[1].splitlines()[0].split()
    # A name without its version's number: libboost-dev brings libboost1.74-dev.
    plain = {re.sub(r":\w+$", "", package) for package in needed}
    assert not {package for package in plain if re.sub(r"[\d.]+", "", package) not in {re.sub(r"[\d.]+", "", name) for name in listed}}


def test_tests_need_a_server_of_exactly_these_packages(clone, setup, source_dir):
    (clone / "tests/serving").mkdir(parents=True)
    shutil.copy(source_dir / "tests/serving/mlserver.txt", clone / "tests/serving")
    missing = "setup: missing: MLServer in .deps/mlserver"
    assert missing in setup("--tests", "--check", programs={"dpkg-query": ALL_INSTALLED}).stdout
    assert missing not in setup("--check", programs={"dpkg-query": ALL_INSTALLED}).stdout
    (clone / ".deps/mlserver").mkdir(parents=True)
    shutil.copy(source_dir / "tests/serving/mlserver.txt", clone / ".deps/mlserver/.installed")
    assert missing not in setup("--tests", "--check", programs={"dpkg-query": ALL_INSTALLED}).stdout


@pytest.mark.parametrize("break_it", [
    lambda venv: (venv / ".setup-complete").unlink(),                          # stopped half-way
    lambda venv: (venv / ".setup-complete").write_text("3.1\n"),               # the system's Python became another
    lambda venv: (venv / "bin/python").unlink(),                               # ... or went away
])
def test_a_venv_that_is_not_whole_is_not_trusted(clone, setup, break_it):
    a_venv(clone, *pins(clone))
    break_it(clone / ".venv")
    done = setup("--check", programs={"dpkg-query": ALL_INSTALLED})
    assert done.returncode == 1
    assert all(f" {pin}" in done.stdout for pin in pins(clone))


def test_another_version_is_missing(clone, setup):
    a_venv(clone, *[pin.replace("numpy==", "numpy==1") for pin in pins(clone)])
    done = setup("--check", programs={"dpkg-query": ALL_INSTALLED})
    assert done.returncode == 1
    assert done.stdout.startswith("setup: missing in .venv: numpy==") and done.stdout.count("==") == 1
    assert done.stdout.endswith(" (about 75 MB)\n")


FRAMEWORKS = {"pytorch": "torch", "jax": "jax", "litert": "ai-edge-litert", "plot": "matplotlib", "variants": "nncf", "generation": "openvino-genai"}


@pytest.mark.parametrize("options, environment", [
    (["--with", "pytorch,jax"], {}),
    (["--with", "pytorch", "--with=jax"], {}),
    ([], {"INFERMETER_WITH": "pytorch,jax"}),
    (["--with=jax"], {"INFERMETER_WITH": "pytorch"}),
])
def test_frameworks_are_asked_for_by_name(clone, setup, options, environment):
    a_venv(clone, *pins(clone), *[pin for pin in pins(clone, "requirements-jax.txt") if not pin.startswith("jaxlib==")])
    done = setup("--check", *options, programs={"dpkg-query": ALL_INSTALLED}, **environment)
    assert done.returncode == 1
    assert " torch==" in done.stdout and " jaxlib==" in done.stdout
    assert " jax==" not in done.stdout and "ai-edge-litert" not in done.stdout and "pytest" not in done.stdout


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_check_tells_the_one_framework_that_is_missing(clone, setup, name):
    present = {pin for other in FRAMEWORKS if other != name for pin in pins(clone, f"requirements-{other}.txt")}
    a_venv(clone, *{*pins(clone), *present})
    done = setup("--check", "--with", ",".join(FRAMEWORKS), programs={"dpkg-query": ALL_INSTALLED})
    assert done.returncode == 1
    assert f" {FRAMEWORKS[name]}==" in done.stdout
    assert not any(f" {package}==" in done.stdout for package in FRAMEWORKS.values() if package != FRAMEWORKS[name])


def test_all_frameworks_are_there(clone, setup):
    a_venv(clone, *pins(clone), *{pin for name in FRAMEWORKS for pin in pins(clone, f"requirements-{name}.txt")})
    done = setup("--check", "--with", ",".join(FRAMEWORKS), programs={"dpkg-query": ALL_INSTALLED})
    assert (done.returncode, done.stdout) == (0, "setup: nothing is missing\n")


@pytest.mark.parametrize("options, environment, where", [
    (["--with", "jax,tensorflow"], {}, "--with names tensorflow"),
    (["--with=tensorflow"], {}, "--with names tensorflow"),
    ([], {"INFERMETER_WITH": "tensorflow"}, "INFERMETER_WITH names tensorflow"),
    (["--with"], {}, "--with needs a name"),
])
def test_unknown_framework(setup, options, environment, where):
    done = setup(*options, **environment)
    assert done.returncode == 2 and done.stdout == ""
    assert where in done.stderr and all(name in done.stderr for name in FRAMEWORKS) and done.stderr.count("\n") == 1


def test_the_size_is_told_before_anything_is_downloaded(clone, setup):
    a_venv(clone, *pins(clone))
    without_network(clone)
    done = setup("--with", "pytorch", programs={"dpkg-query": ALL_INSTALLED})
    assert "about 5.7 GB, most of it CUDA libraries" in done.stdout
    assert "ERROR: offline" in one_sentence(done)


def test_a_download_that_fails_leaves_what_is_installed(clone, setup):
    a_venv(clone, *pins(clone))
    without_network(clone)
    one_sentence(setup("--with", "pytorch", programs={"dpkg-query": ALL_INSTALLED}))
    assert (clone / ".venv/.setup-complete").exists() and not (clone / ".deps/wheels").exists()
    done = setup("--check", programs={"dpkg-query": ALL_INSTALLED})
    assert (done.returncode, done.stdout) == (0, "setup: nothing is missing\n")


@pytest.mark.parametrize("error, kept", [("error: Failed to fetch: x", True), ("error: Failed to install: x", False)])
def test_uv_takes_pips_settings_and_what_it_leaves_is_known(clone, setup, tmp_path, error, kept):
    a_venv(clone, *pins(clone))
    (clone / ".venv/bin/python").write_text(
        "#!/bin/sh\ncase \"$*\" in *'config list'*) echo \"global.index-url='http://index/simple'\";; *) echo 9.9;; esac\n")
    (clone / ".venv/bin/uv").write_text(f'#!/bin/sh\necho "$UV_DEFAULT_INDEX $*" >{tmp_path}/told\necho "{error}"\nexit 2\n')
    (clone / ".venv/bin/uv").chmod(0o755)
    sentence = one_sentence(setup("--with", "plot", programs={"dpkg-query": ALL_INSTALLED}))
    assert error in sentence and sentence.startswith("setup: uv could not get the Python packages")
    reported = (tmp_path / "told").read_text()
    assert reported.startswith("http://index/simple pip install ") and "--no-deps" in reported and "matplotlib==" in reported
    assert (clone / ".venv/.setup-complete").exists() == kept


@pytest.mark.parametrize("free_mb, enough", [(9000, False), (11000, True)])
def test_the_disk_must_hold_a_framework_and_its_download(clone, setup, free_mb, enough):
    a_venv(clone, *pins(clone))
    without_network(clone)
    done = setup("--with", "pytorch", programs={
        "dpkg-query": ALL_INSTALLED, "df": f"echo header; echo /dev/vda 100000 5 {free_mb} 95% /"})
    expected = "ERROR: offline" if enough else f"the disk of . has {free_mb} MB left"
    assert expected in one_sentence(done)


def test_unknown_option(setup):
    done = setup("--chekc")
    assert done.returncode == 2
    assert "--chekc" in done.stderr and "--check" in done.stderr


def test_no_network_for_packages(setup):
    sudo = {"sudo": 'while [ "$1" = -n ]; do shift; done; exec "$@"'}
    done = setup(programs={"dpkg-query": "exit 1", "apt-get": UNREACHABLE} | (sudo if os.geteuid() else {}))
    sentence = one_sentence(done)
    assert "Debian archive" in sentence and "Unable to locate package" in sentence


def test_neither_root_nor_sudo(clone, setup):
    before = ()
    if os.geteuid() == 0:
        if not os.stat("/").st_mode & 0o001:
            pytest.skip("the root folder is closed to other users")
        before = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
        clone.chmod(0o777)
        for folder in clone.parents:  # pytest's folders are its user's alone
            if folder.stat().st_mode & 0o055 != 0o055:
                folder.chmod(0o755)
    done = setup(before=before, programs={"dpkg-query": ALL_INSTALLED.replace("do echo", "do [ $name = cmake ] || echo"),
                                          "sudo": "exit 1"})
    assert "apt-get install --no-install-recommends cmake\n" in one_sentence(done)


def test_no_network_for_python_packages(clone, setup):
    done = setup(programs={"dpkg-query": ALL_INSTALLED}, PIP_INDEX_URL="http://127.0.0.1:9/simple", PIP_RETRIES="0",
                 PIP_CONFIG_FILE="/dev/null")
    sentence = one_sentence(done)
    assert "package index" in sentence and "ERROR: No matching distribution" in sentence
    assert not (clone / ".venv/.setup-complete").exists()


def test_no_network_for_headers(clone, setup):
    a_venv(clone, *pins(clone))
    shutil.rmtree(clone / ".deps")
    apt = 'case "$*" in indextargets*) echo "http://127.0.0.1:9/debian Debian Debian main";; *) ' + UNREACHABLE + "; esac"
    sentence = one_sentence(setup(programs={"dpkg-query": ALL_INSTALLED, "apt-get": apt}))
    assert "libonnxruntime-dev" in sentence and "Debian 13's archive" in sentence
    assert not (clone / ".deps/onnxruntime-dev").exists()


def test_no_disk(setup):
    full = "echo header; echo /dev/vda 100 95 5 95% /"
    sentence = one_sentence(setup(programs={"dpkg-query": ALL_INSTALLED, "df": full}))
    assert "5 MB left" in sentence


def test_not_debian(clone, setup, tmp_path):
    other = tmp_path / "os-release"
    other.write_text('ID=fedora\nVERSION_ID=44\nPRETTY_NAME="Fedora Linux 44"\n')
    mounted = ("unshare", "--mount", "sh", "-c", f'mount --bind {other} /etc/os-release && exec "$@"', "sh")
    if subprocess.run([*mounted, "true"], capture_output=True).returncode != 0:
        pytest.skip("may not mount here")
    sentence = one_sentence(setup("--check", before=mounted))
    assert "Fedora Linux 44" in sentence and "libsqlite3-dev" in sentence
