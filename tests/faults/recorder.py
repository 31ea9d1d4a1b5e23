"""The command under test: `recorder.py FOLDER SECONDS|gate [stubborn]`, a run on standard input.

Notes its start and end in FOLDER/log, works until FOLDER/gate is there (or for so many seconds), and
holds a lock of the run's all the while: what finds it taken is a run that is executed twice at once.
"""

import fcntl
import json
import os
import signal
import sys
import time
from pathlib import Path

run = json.load(sys.stdin)
folder = Path(sys.argv[1])


def note(what: str) -> None:
    line = f"{what} {run['id']} {run['attempt']} {run['worker_id']}\n".encode()
    log = os.open(folder / "log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    os.write(log, line)
    os.close(log)


lock = (folder / f"{run['id']}.lock").open("a")
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    note("doubled")
note("start")
if "stubborn" in sys.argv:  # it takes its time to end
    signal.signal(signal.SIGTERM, lambda *_: (time.sleep(2), os._exit(1)))
until = float("inf") if sys.argv[2] == "gate" else time.monotonic() + float(sys.argv[2])
while not (folder / "gate").exists() and time.monotonic() < until:
    time.sleep(0.02)
note("end")
print(json.dumps({"attempt": run["attempt"]}))
