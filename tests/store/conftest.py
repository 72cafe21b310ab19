"""Stores of each kind: an SQLite file, and a database of a PostgreSQL server that is started once per session."""

import os
import socket
import subprocess
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

SERVER = Path(__file__).resolve().parent.parent / "postgres/server"


@pytest.fixture(scope="session")
def postgres():
    """postgres.psql(SQL, database), postgres.url(database, user), postgres.new() -> the name of an empty database."""
    started = subprocess.run([SERVER, "start", str(os.getpid())], capture_output=True, text=True)
    if started.returncode == 3:
        pytest.skip(started.stderr.strip())
    assert started.returncode == 0, started.stderr
    folder = started.stdout.strip()
    count = 0

    def psql(sql, database="postgres"):
        done = subprocess.run(["psql", "-h", folder, "-U", "infermeter", "-qAtX", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", sql],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def new():
        nonlocal count
        count += 1
        psql(f"CREATE DATABASE team{count}")
        return f"team{count}"

    def url(database, user="infermeter"):
        return f"postgresql:///{database}?host={folder}&user={user}"

    def manage(*verb):
        subprocess.run([SERVER, verb[0], folder, *verb[1:]], check=True, capture_output=True)

    @contextmanager
    def over_tls():
        """The port on localhost where it listens, for TLS alone, with the certificate FOLDER/data/server.crt."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        manage("tls", str(port))
        try:
            yield port
        finally:
            manage("no_tls")

    yield SimpleNamespace(psql=psql, new=new, url=url, folder=folder, crash=lambda: manage("crash"), again=lambda: manage("again"), over_tls=over_tls)
    manage("stop")


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, run):
    """A value of --store."""
    if request.param == "sqlite":
        return str(run.folder / "team.db")
    postgres = request.getfixturevalue("postgres")
    return postgres.url(postgres.new())
