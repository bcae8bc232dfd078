"""Feed spoiled inputs to readers, in a process of its own: a crash, a hang or a foreign error is then seen for sure.

Usage: ``python -m tests.robustness.fuzz FOLDER COUNT SEED [READER ...]``; prints one JSON object.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

MEMORY = 8 * 2**30  # that reading may take; the libraries have their own, with CUDA much
LONGEST = 5.0
# Events of Python's audit that name a path which is written, or start something.
WRITES = ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "shutil.rmtree")
STARTS = ("os.system", "os.exec", "os.posix_spawn", "subprocess.Popen", "socket.connect")


class Guard:
    """Notes whatever writes outside of the folders, or runs something, while it is on."""

    def __init__(self, *folders: Path) -> None:
        self.folders = [str(folder.resolve()) for folder in folders]
        self.on, self.seen = False, []
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event in STARTS:
            self.seen.append(f"{event} {arguments[:1]}")
        elif event == "open" and isinstance(arguments[0], str | bytes):
            mode, flags = arguments[1] or "", arguments[2] or 0
            if any(letter in mode for letter in "wax+") or flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                self._note(event, arguments[0])
        elif event in WRITES and isinstance(arguments[0], str | bytes) and -1 in (*arguments[1:], -1)[:1]:
            # a name that is relative to an open folder is that of a temporary folder being cleared
            self._note(event, arguments[0])

    def _note(self, event: str, path: str | bytes) -> None:
        place = os.path.abspath(os.fsdecode(path))
        device = place.startswith("/dev/") and not place.startswith("/dev/shm/")  # which holds files
        if not any(place.startswith(folder) for folder in self.folders) and not device:
            self.seen.append(f"{event} {place}")


def main(folder: Path, count: int, seed: int, wanted: list[str]) -> dict[str, Any]:
    """Spoil ``count`` inputs, spread over the readers, and say what came of each."""
    from regretless.errors import RegretlessError
    from regretless.storage import load_state, save_state

    from .mutate import spoiled, spoiled_archive, spoiled_state
    from .readers import readers

    warnings.simplefilter("ignore")
    temporary = folder / "tmp"
    temporary.mkdir(parents=True)
    os.environ |= {"HOME": str(folder), "TMPDIR": str(temporary)}
    tempfile.tempdir = None  # an import may have asked for the folder before
    table = readers(folder / "sound")
    names = wanted or list(table)
    states = {}
    for name in names:
        for content in table[name].sound:  # what is sound must be read, or nothing is tested
            _place(folder, table[name].name, content)
            table[name].read(folder / "input" / table[name].name)
        if table[name].kind:
            states[name] = load_state(folder / "input" / table[name].name, kind=table[name].kind, version=99)
    if (pages := Path("/proc/self/statm")).exists():  # only Linux tells
        limit = int(pages.read_text().split()[0]) * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    guard = Guard(folder)
    found: dict[str, dict[str, Any]] = {name: {"read": 0, "refused": 0, "slowest": 0.0, "bad": []} for name in names}
    for k in range(count):
        name = names[k % len(names)]
        reader, row, chance = table[name], found[name], random.Random(f"{seed}:{name}:{k}")
        path = folder / "input" / reader.name
        if name in states and chance.random() < 0.6:
            save_state(path, spoiled_state(states[name], chance), kind=reader.kind)
        elif name.startswith("npz") and chance.random() < 0.7:
            _place(folder, reader.name, spoiled_archive(chance.choice(reader.sound), chance))
        else:
            _place(folder, reader.name, spoiled(chance.choice(reader.sound), chance))
        start = time.perf_counter()
        guard.on = True
        try:
            reader.read(path)
            row["read"] += 1
        except RegretlessError:
            row["refused"] += 1
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            where = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames][-4:]
            row["bad"].append(f"{k}: {type(error).__name__}: {str(error)[:200]} at {' > '.join(where)}")
            shutil.copy(path, folder / f"bad-{name.replace(' ', '-')}-{k}")
        guard.on = False
        seconds = time.perf_counter() - start
        row["slowest"] = max(row["slowest"], round(seconds, 3))
        if seconds > LONGEST:
            row["bad"].append(f"{k}: took {seconds:.1f} s")
    return {"readers": found, "outside": sorted(set(guard.seen)), "inputs": count}


def _place(folder: Path, name: str, content: bytes) -> None:
    (folder / "input").mkdir(exist_ok=True)
    (folder / "input" / name).write_bytes(content)


if __name__ == "__main__":
    import torch

    torch.set_num_threads(1)
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])))
