"""Programs that the language accepts, for every test that needs some."""

from pathlib import Path

ACCEPTED = (Path(__file__).parent / "accepted.txt").read_text(encoding="utf-8").split("-----\n")


def pytest_generate_tests(metafunc: object) -> None:
    if "accepted" in metafunc.fixturenames:  # type: ignore[attr-defined]
        metafunc.parametrize("accepted", ACCEPTED)  # type: ignore[attr-defined]
