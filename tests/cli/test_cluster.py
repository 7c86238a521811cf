"""A Dask cluster: what its workers answer is what is answered here, whatever becomes of one of them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .conftest import COMMAND, Completed

pytest.importorskip("distributed")
SLOW = "y = x\nfor i in range(300):\n    y = y + 0.001*sin(y)\ny"
# A scheduler and two workers in processes of their own; the numbers of these are printed.
CLUSTER = """
if __name__ == "__main__":
    import sys
    from distributed import LocalCluster
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50)
    print(cluster.scheduler_address, *(worker.pid for worker in cluster.workers.values()), flush=True)
    sys.stdin.read()
    cluster.close()
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[int]]]:
    """The address of a scheduler, and the processes of its two workers."""
    (tmp_path / "cluster.py").write_text(CLUSTER)
    process = subprocess.Popen(
        [sys.executable, "cluster.py"], cwd=tmp_path, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin
    assert process.stdout
    address, *workers = process.stdout.readline().split()
    yield address, list(map(int, workers))
    process.stdin.close()
    process.wait(60)


@pytest.mark.skipif("ADIFF_LONG_TESTS" not in os.environ, reason="a cluster takes half a minute")
def test_a_worker_is_lost_and_no_byte_differs(
    adiff: Callable[..., Completed], folder: Path, cluster: tuple[str, list[int]]
) -> None:
    address, workers = cluster
    (folder / "slow.adiff").write_text(SLOW)
    (folder / "t.csv").write_text("k,x\n" + "".join(f"{k},{k / 7 if k % 50 else ''}\n" for k in range(3000)))
    lines = [f"grad -f {folder}/slow.adiff --at x={k} --engine tape" for k in range(300)]
    (folder / "lines.txt").write_text("\n".join([*lines, "value (", "value 1/3\n"]))
    here = [
        ("grad", "-f", "slow.adiff", "--rows", "t.csv", "--engine", "tape", "-o", "rows.csv"),
        ("check", "x**2*k", "--rows", "t.csv", "--engine", "tape", "-o", "check.csv"),
        ("batch", "lines.txt", "-o", "batch.ndjson"),
    ]
    said = [adiff(*line) for line in here]
    from distributed import Client

    client = Client(address, set_as_default=False)
    for number, (line, before) in enumerate(zip(here, said)):
        name = line[-1]
        command = [*COMMAND, *line[:-1], "c-" + name, "--scheduler", address]
        started = subprocess.Popen(command, cwd=folder, text=True, stderr=subprocess.PIPE)
        if number == 2:  # while lines are under way
            while not client.processing() or not any(client.processing().values()):
                assert started.poll() is None
                time.sleep(0.01)
            os.kill(workers[0], signal.SIGKILL)
        _, told = started.communicate(timeout=120)
        assert (started.returncode, told) == (before.returncode, before.stderr)
        assert (folder / f"c-{name}").read_bytes() == (folder / name).read_bytes()
    client.close()


def test_a_scheduler_that_is_not_there(adiff: Callable[..., Completed]) -> None:
    done = adiff("value", "x", "--over", "x=0:1/3", "--engine", "dask", "--scheduler", "tcp://127.0.0.1:9")
    assert (done.returncode, done.stdout) == (4, "")
    assert "no Dask scheduler answers" in done.stderr
    done = adiff("value", "x", "--over", "x=0:1/3", "--engine", "dask")
    assert (done.returncode, "--scheduler tcp://HOST:8786" in done.stderr) == (2, True)
    assert adiff("value", "1", "--scheduler", "tcp://127.0.0.1:9").returncode == 2
