"""A database that is reached over TLS, with the certificate that libpq is told to trust."""

import subprocess
from pathlib import Path

import pytest

QUICK = ("--processes", 1, "--warmup", 0, "--iterations", 5, "--quiet")


@pytest.fixture(scope="module")
def tls(postgres, tmp_path_factory):
    """A place, and files with the server's certificate and with another one of the same name."""
    database, folder = postgres.new(), tmp_path_factory.mktemp("tls")
    with postgres.over_tls() as port:
        (folder / "root.crt").write_text((Path(postgres.folder) / "data/server.crt").read_text())
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                        "/CN=localhost", "-keyout", folder / "other.key", "-out", folder / "other.crt"], check=True, capture_output=True)
        yield f"postgresql://infermeter@localhost:{port}/{database}", folder


def test_a_run_is_stored_and_read_over_tls(run, tls):
    """The server takes nothing else: pg_hba.conf says hostssl."""
    url, folder = tls
    place = f"{url}?sslmode=verify-full&sslrootcert={folder}/root.crt"
    done = run("run", "mlp@fake", *QUICK, "--store", place)
    assert done.returncode == 0, done.stderr
    assert run("report", "--store", place).stdout == done.stdout
    variables = {"PGSSLMODE": "verify-full", "PGSSLROOTCERT": f"{folder}/root.crt"}
    assert "finished" in run("runs", "--store", url, env=variables).stdout


@pytest.mark.parametrize("host, words, said", [
    ("localhost", "sslmode=verify-full&sslrootcert={folder}/other.crt", "certificate verify failed"),
    ("localhost", "sslmode=verify-full&sslrootcert={folder}/none.crt", "none.crt"),
    ("127.0.0.1", "sslmode=verify-full&sslrootcert={folder}/root.crt", 'does not match host name "127.0.0.1"'),
    ("localhost", "sslmode=disable", "no encryption"),
])
def test_what_is_not_trusted_is_said_in_one_sentence(run, tls, host, words, said):
    url, folder = tls
    place = f"{url.replace('localhost', host)}?{words.format(folder=folder)}"
    for verb in (("runs",), ("run", "mlp@fake", *QUICK)):
        done = run(*verb, "--store", place)
        assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1, done.stderr
        assert "cannot connect to the store" in done.stderr and said in done.stderr, done.stderr
    assert not (run.folder / "results").exists()
