"""samples/greeks.sh does what it says: against closed forms of the normal distribution."""

import csv
import json
import os
import shutil
import subprocess
import sys
from math import erf, exp, log, pi, sqrt
from pathlib import Path

import pytest
from pyarrow import parquet

SAMPLES = Path(__file__).parents[2] / "samples"


def normal(x: float) -> float:
    return (1 + erf(x / sqrt(2))) / 2


def black_scholes(s: float, k: float, t: float, v: float, r: float = 0.03) -> tuple[float, float, float, float]:
    """Price, delta, vega and gamma."""
    d = (log(s / k) + (r + v * v / 2) * t) / (v * sqrt(t))
    density = exp(-d * d / 2) / sqrt(2 * pi)
    price = s * normal(d) - k * exp(-r * t) * normal(d - v * sqrt(t))
    return price, normal(d), s * sqrt(t) * density, density / (s * v * sqrt(t))


def test_the_script(tmp_path: Path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = ["sh", str(SAMPLES / "greeks.sh"), str(SAMPLES / "options.csv"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PATH": path}, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    with open(tmp_path / "greeks.csv") as file:
        rows = list(csv.DictReader(file))
    gammas = parquet.read_table(tmp_path / "gamma.parquet").to_pylist()
    worth = 0.0
    for row, second in zip(rows, gammas, strict=True):
        found = black_scholes(*(float(row[name]) for name in ("S", "K", "T", "v")))
        assert [float(row[name]) for name in ("value", "d_S", "d_v")] == pytest.approx(found[:3], rel=1e-12)
        assert second["H.S.S"] == pytest.approx(found[3], rel=1e-11)
        worth += int(row["quantity"]) * found[0]
    assert float(done.stdout.split()[1]) == pytest.approx(worth, rel=1e-11)
    implied = json.loads((tmp_path / "implied.json").read_text())["optimum"]["v"]
    assert black_scholes(100, 105, 0.5, implied)[0] == pytest.approx(6, rel=1e-9)
    if compiler := shutil.which("cc"):
        main = '#include <stdio.h>\nint main(void) { printf("%.17g", d_v(100, 105, 0.03, 0.2, 0.5)); return 0; }\n'
        (tmp_path / "vega.c").write_text((tmp_path / "vega.c").read_text() + main)
        subprocess.run([compiler, "vega.c", "-o", "vega", "-lm"], cwd=tmp_path, check=True)
        vega = float(subprocess.run([tmp_path / "vega"], capture_output=True, check=True).stdout)
        assert vega == pytest.approx(black_scholes(100, 105, 0.5, 0.2)[2], rel=1e-12)
