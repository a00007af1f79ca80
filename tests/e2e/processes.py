"""Starts programs for an end-to-end test and ends exactly those, whatever happens."""

import contextlib
import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

SKIPPED = 77


def skip(reason):
    print(reason)
    sys.exit(SKIPPED)


def require_programs(*names):
    missing = [name for name in names if shutil.which(name) is None]
    if missing:
        skip(f"not installed: {', '.join(missing)}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def running(command, log, **how):
    """The program, until the end of the block; its output in `log` is shown when the block fails. `how` goes to Popen."""
    with open(log, "w", encoding="utf-8") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                   **how)
    try:
        yield process
    except BaseException:
        with open(log, encoding="utf-8", errors="replace") as output:
            print(f"---- {command[0]}\n{output.read()[-4000:]}", file=sys.stderr)
        raise
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def fetch(url):
    """Status and body; (0, "") while nobody answers."""
    try:
        with urllib.request.urlopen(url, timeout=5) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return 0, ""


def fetch_json(url):
    status, body = fetch(url)
    return json.loads(body) if status == 200 else None


def wait_until(what, seconds, condition):
    """The first true value of condition(), asked twice a second; fails with `what` after `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.5)
