"""What the imaging back end says where FFTW is not what it needs: one sentence, before anything is measured."""

import shutil
import subprocess

import pytest

IMAGING = "imaging@imaging,preset=small"


@pytest.fixture(autouse=True)
def needs_the_back_end(build_dir):
    if not (build_dir / "lib/infermeter/backends/infermeter_backend_imaging.so").exists():
        pytest.skip("the back end imaging is not built: it needs FFTW")


def said(done):
    text = done.stdout + done.stderr
    assert "Traceback" not in text and "terminate" not in text
    return " ".join(text.split())


def system_library(name):
    """As the dynamic loader finds it."""
    for line in subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout.splitlines():
        if line.split()[:1] == [name]:
            return line.split("=>")[1].strip()
    return None


def test_a_library_that_is_not_there(run):
    done = run("run", IMAGING, "--backend-library", "no/libfftw3f.so.3", "--processes", 1)
    assert done.returncode == 2 and "no/libfftw3f.so.3" in said(done)


def test_a_library_that_is_another(run):
    other = system_library("libm.so.6")
    done = run("run", IMAGING, "--backend-library", other, "--processes", 1)
    assert done.returncode == 2
    assert "does not export fftwf_plan_dft_2d; FFTW 3.3 or newer is needed, in single precision" in said(done)


def test_a_system_without_it(run, build_dir, environment):
    library = system_library("libfftw3f.so.3")
    if library is None:
        pytest.skip("libfftw3f.so.3 is not where the loader looks")
    hide = ["unshare", "--mount", "--map-root-user"]
    if not shutil.which("unshare") or subprocess.run([*hide, "true"], capture_output=True).returncode != 0:
        pytest.skip("no mount namespace can be made here")
    command = (f"mount --bind /dev/null {library} && exec {build_dir}/bin/infermeter run {IMAGING} fast=mlp@fake --processes 1 "
               "--warmup 1 --iterations 3")
    done = subprocess.run([*hide, "sh", "-c", command], capture_output=True, text=True, cwd=run.folder, env=environment)
    assert done.returncode == 2, done.stderr
    text = said(done)
    assert "libfftw3f.so.3, was not found by the system; install it (Debian and Ubuntu: apt install libfftw3-single3)" in text
    assert not (run.folder / "results").exists()
