from __future__ import annotations

import email
import importlib.util
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "regretless"
# What stands beside the code and is needed at run time.
DATA = (".toml", ".csv", ".css", ".js", ".npz", ".json", ".html", ".svg")
SECRETS = re.compile(
    rb"-----BEGIN [A-Z ]*PRIVATE KEY|AKIA[0-9A-Z]{16}|ghp_[A-Za-z0-9]{36}|xox[baprs]-[A-Za-z0-9-]{10,}"
    rb"|(?i:api[_-]?key|secret|password|token)\s*[:=]\s*['\"][A-Za-z0-9+/_-]{16,}['\"]"
)
# Folders of one machine; /dev, /tmp in prose and the like are nobody's home.
PATHS = re.compile(rb"(?<![\w.:/])/(?:home|root|Users|work|mnt|workspace|builds)/[A-Za-z0-9_.-]+|[A-Z]:\\\\Users\\\\")

needs_hatchling = pytest.mark.skipif(
    importlib.util.find_spec("hatchling") is None, reason="hatchling is not installed: pip install hatchling"
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built as a release builds it, with no network."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet",
               "--disable-pip-version-check", "--wheel-dir", str(folder), str(ROOT)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    (built,) = folder.glob("*.whl")
    return built


def _tracked(*patterns: str) -> set[str]:
    """Files that belong to the project, as git knows them; all files where there is no git."""
    done = subprocess.run(["git", "ls-files", "src"], cwd=ROOT, capture_output=True, text=True, check=False)
    found = done.stdout.split("\n") if done.returncode == 0 and done.stdout else [
        str(path.relative_to(ROOT)) for path in SOURCE.rglob("*") if path.is_file()
    ]  # fmt: skip
    return {name.removeprefix("src/") for name in found if name.endswith(patterns)}


@needs_hatchling
def test_the_wheel_holds_the_package_its_data_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    inside = {name for name in names if name.startswith("regretless/")}
    about = names - inside
    assert all(re.fullmatch(r"regretless-[^/]+\.dist-info/.+", name) for name in about), about
    assert "regretless/py.typed" in inside
    existing = {name for name in _tracked(*DATA, ".py", "py.typed") if (ROOT / "src" / name).is_file()}
    assert existing <= inside, f"missing: {sorted(existing - inside)[:5]}"
    assert {Path(name).suffix for name in inside} <= {".py", ".typed", *DATA}, "no caches, no binaries"
    assert not [name for name in inside if Path(name).name.startswith(("test", "conftest")) or "/tests/" in name]
    assert wheel.stat().st_size < 2 * 2**20


@needs_hatchling
def test_the_wheel_holds_no_secret_and_no_path_of_a_machine(wheel: Path) -> None:
    found = []
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            found += [(name, match.group()[:60]) for rule in (SECRETS, PATHS) for match in rule.finditer(content)]
    assert found == []


@needs_hatchling
def test_the_metadata_is_valid_and_complete(wheel: Path) -> None:
    checks = pytest.importorskip("packaging.metadata", reason="packaging is not installed")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        content = archive.read(name)
    parsed = checks.Metadata.from_email(content, validate=True)
    described = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (parsed.name, str(parsed.version)) == (described["name"], described["version"])
    assert str(parsed.requires_python) == described["requires-python"]
    assert parsed.description_content_type == "text/markdown"
    assert len(parsed.description or "") > 500, "the page on PyPI is the README"
    assert parsed.license_expression == "MIT"
    assert {str(r).partition(";")[0].strip() for r in parsed.requires_dist or [] if "extra" not in str(r)}
    assert email.message_from_bytes(content)["Metadata-Version"] in ("2.3", "2.4", "2.5")


@needs_hatchling
def test_twine_has_no_complaint(wheel: Path) -> None:
    if importlib.util.find_spec("twine") is None:
        pytest.skip("twine is not installed: pip install twine")
    command = [sys.executable, "-m", "twine", "check", "--strict", str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_tree_holds_no_secret() -> None:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        pytest.skip("this is no git checkout")
    found = []
    for name in filter(None, done.stdout.decode().split("\0")):
        path = ROOT / name
        if path.is_file() and path.stat().st_size < 2**20 and path != Path(__file__):
            found += [(name, match.group()[:40]) for match in SECRETS.finditer(path.read_bytes())]
    assert found == []


def _pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pairs = [
        re.split(r"[=<>~!]=?", line.split("#")[0].strip(), maxsplit=1) for line in lines if line.split("#")[0].strip()
    ]
    return {re.sub(r"[-_.]+", "-", pair[0]).lower(): pair[1].lstrip("=") for pair in pairs if len(pair) == 2}


# Lowest versions without a published weakness that the library could meet, with its number.
KNOWN_WEAK = {
    "torch": ("2.6.0", "CVE-2025-32434: torch.load with weights_only=True could run code"),
    "jinja2": ("3.1.6", "CVE-2025-27516: sandbox breakout"),
    "scikit-learn": ("1.5.0", "CVE-2024-5206: sensitive data kept in attributes"),
    "pyarrow": ("14.0.1", "CVE-2023-47248: code execution from IPC and Parquet files"),
    "numpy": ("1.22.0", "CVE-2021-41496: buffer overflow"),
    "requests": ("2.32.4", "CVE-2024-47081: credentials leak"),
    "pillow": ("11.3.0", "CVE-2025-48379: buffer overflow"),
}


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def test_no_pinned_or_installed_dependency_has_a_known_weakness() -> None:
    version = pytest.importorskip("packaging.version", reason="packaging is not installed").Version
    pins = _pins()
    assert "torch" in pins, "constraints.txt pins what is installed"
    found = {name: pins.get(name) or _installed(name) for name in KNOWN_WEAK}
    weak = [f"{name} {have}: {why}" for name, (safe, why) in KNOWN_WEAK.items()
            if (have := found[name]) and version(have) < version(safe)]  # fmt: skip
    assert weak == []


@pytest.mark.slow
def test_pip_audit_has_no_complaint() -> None:
    if importlib.util.find_spec("pip_audit") is None:
        pytest.skip("pip-audit is not installed, and needs the network: pip install pip-audit")
    command = [sys.executable, "-m", "pip_audit", "-r", str(ROOT / "constraints.txt"), "--no-deps", "--disable-pip"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if "ConnectionError" in done.stderr or "Max retries" in done.stderr:
        pytest.skip("the database of weaknesses cannot be reached from here")
    assert done.returncode == 0, done.stdout + done.stderr
