"""A store of many runs, made from one."""

import json
import sqlite3

DAY = 86400.0
BEGIN = 1793491200.0  # 2026-11-01

# One part in five hundred up and down, the same in every test.
WOBBLE = [1, 1.002, 0.999, 1.001, 0.998, 1.0005, 1.0015]


class CopiedRuns:
    """A store that one real run has made; further runs are copies of it, each with a value of its own."""

    def __init__(self, file):
        self.file = file
        self.database = sqlite3.connect(self.file, isolation_level=None)
        self.template = self.database.execute("SELECT id FROM runs").fetchone()[0]
        self.count = 0
        # As an infermeter wrote them that kept no checksums.
        for table in ("runs", "trials", "figures"):
            self.database.execute(f"UPDATE {table} SET checksum = NULL")
        # The oldest of them.
        self.database.execute("UPDATE runs SET records = NULL, listing_checksum = NULL, created_at = ?", [BEGIN])
        # Not to be seen itself.
        self.database.execute("UPDATE figures SET metric = 'template' WHERE metric = 'latency_p50'")

    def columns(self, table):
        return [row[1] for row in self.database.execute(f"PRAGMA table_info({table})")]

    def copy(self, table, key, changes, where=""):
        columns = self.columns(table)
        chosen = ", ".join("?" if name in changes else f'"{name}"' for name in columns)
        self.database.execute(
            f"INSERT INTO {table} SELECT {chosen} FROM {table} WHERE {key} = ? {where}",
            [changes[name] for name in columns if name in changes] + [self.template])

    def add(self, value, library=None, run=None, **figure):
        """A run a day; `run`: its id; `figure`: columns of its figure that are not the template's."""
        self.count += 1
        run = run or f"run-{self.count:03}"
        at = BEGIN + self.count * DAY
        self.database.execute("BEGIN")
        self.copy("runs", "id", {"id": run, "created_at": at})
        self.copy("trials", "run", {"run": run})
        if library:
            self.database.execute("""UPDATE trials SET samples = replace(samples, '["library",""]', ?) WHERE run = ?""",
                                  (json.dumps(["library", str(library)], separators=(",", ":")), run))
        self.copy("figures", "run", {"run": run, "created_at": at, "metric": "latency_p50", "value": value, **figure},
                  "AND metric = 'template'")
        self.database.execute("COMMIT")
        return run

    def step(self, before, after, factor, first=None, then=None):
        for i in range(before + after):
            value = 1e-3 * WOBBLE[i % len(WOBBLE)] * (1 if i < before else factor)
            self.add(value, **((first if i < before else then) or {}))
