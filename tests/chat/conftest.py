from pathlib import Path

import pytest

REAL = Path(__file__).resolve().parents[3] / "shared" / "data"


def real_transcripts() -> list[Path]:
    return sorted([*REAL.glob("chat/**/*.cha"), *REAL.glob("paired/*.cha")])


@pytest.fixture(scope="session")
def real_files() -> list[Path]:
    files = real_transcripts()
    if not files:
        pytest.skip("no real transcripts beside the project (../shared/data)")
    return files
