#!/usr/bin/python3
"""mempulse_demo inside an interpreter: the same tiers, flags and report file, with an interpreter's memory around them."""

import argparse
import ctypes
import json
import math
import mmap
import os
import signal
import threading
import time

PAGE = 4096
WORDS = PAGE // 8
ALIGNMENT_PAGES = 16
MAX_BEHIND = 2
FLAT_OUT_PASSES = 64
SHORTEST_SLEEP = 80_000  # ns
TIERS = {
    "hot": (math.inf, 4), "20khz": (20000.0, 2), "800hz": (800.0, 2), "warm": (200.0, 8),
    "cool": (5.0, 8), "0.2hz": (0.2, 8), "cold": (0.0, 2048),
}


class Population:
    def __init__(self, name, hertz, pages):
        self.name, self.hertz, self.pages = name, hertz, pages
        self.writes = self.reported_writes = self.missed = 0
        self.words = []  # index of the first word of each page

    def start(self, now, phase):
        if 0 < self.hertz < math.inf:
            self.period = 1e9 / self.hertz
            self.origin = now + phase * self.period
            self.next = 0
            self.due = self.origin
        elif self.hertz == 0:
            self.writes = 1

    def take_due(self, now):
        """True when a write is owed; who is more than MAX_BEHIND periods late gives the older ones up."""
        if now < self.due:
            return False
        behind = int((now - self.due) / self.period)
        if behind > MAX_BEHIND:
            self.missed += behind
            self.next += behind
        self.next += 1
        self.due = self.origin + self.next * self.period
        return True

    def write(self, memory, restore):
        self.writes += 1
        for word in self.words:
            before = memory[word]
            memory[word] = self.writes + 1
            if restore:
                memory[word] = before


def lay_out(populations):
    first = 0
    for population in populations:
        population.first = first
        population.words = [(first + page) * WORDS for page in range(population.pages)]
        first = (first + population.pages + ALIGNMENT_PAGES) // ALIGNMENT_PAGES * ALIGNMENT_PAGES
    return first


def build_report(populations, base, started, last, now, restore):
    seconds = max((now - started) / 1e9, 1e-9)
    since_last = max((now - last) / 1e9, 1e-9)
    tiers = []
    for p in populations:
        tiers.append({
            "name": p.name, "nominal_hertz": None if math.isinf(p.hertz) else p.hertz,
            "address": base + p.first * PAGE, "pages": p.pages, "writes": p.writes, "missed": p.missed,
            "hertz_last": (p.writes - p.reported_writes) / since_last, "hertz_total": p.writes / seconds,
        })
        p.reported_writes = p.writes
    return {"version": 1, "pid": os.getpid(), "monotonic_nanos": now, "seconds": seconds, "restores": restore,
            "tiers": tiers}


def replace_file(path, text):
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


def publish(report, flags):
    if flags.report:
        replace_file(flags.report, json.dumps(report, indent=1) + "\n")
    if flags.print:
        print(f"pid {report['pid']}, {report['seconds']:.1f} s")
        for t in report["tiers"]:
            print(f"{t['name']:16} {t['address']:<14x} {t['pages']:9} {t['hertz_last']:14.3f} "
                  f"{t['hertz_total']:14.3f} {t['missed']:8}", flush=True)


def sleep_until_due(paced, limit):
    due = min([p.due for p in paced] + [limit])
    ahead = due - time.perf_counter_ns()
    if ahead > SHORTEST_SLEEP:
        time.sleep(ahead / 1e9)


def write_until_stopped(populations, memory, base, flags, stop):
    started = last = now = time.perf_counter_ns()
    for index, population in enumerate(populations):
        population.start(now, math.fmod(0.618 * (index + 1), 1.0))
    flat_out = [p for p in populations if math.isinf(p.hertz)]
    paced = [p for p in populations if 0 < p.hertz < math.inf]
    end = started + flags.duration * 1e9 if flags.duration > 0 else math.inf
    report_due = started + 1e9
    while not stop.is_set() and now < end:
        for population in flat_out:
            for _ in range(FLAT_OUT_PASSES if not paced else 1):
                population.write(memory, flags.restore)
        for population in paced:
            while population.take_due(now):
                population.write(memory, flags.restore)
        if now >= report_due:
            publish(build_report(populations, base, started, last, now, flags.restore), flags)
            last = now
            report_due += 1e9
        if flags.sleep and not flat_out:
            sleep_until_due(paced, min(end, report_due))
        now = time.perf_counter_ns()
    publish(build_report(populations, base, started, last, time.perf_counter_ns(), flags.restore), flags)


def parse_flags():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiers", default=",".join(TIERS))
    parser.add_argument("--extra", action="append", default=[], metavar="HERTZxPAGES")
    parser.add_argument("--duration", type=float, default=0)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--total-pages", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--pid-file")
    parser.add_argument("--report")
    for name in ("--print", "--restore", "--sleep"):
        parser.add_argument(name, action="store_true")
    return parser.parse_args()


def choose_populations(flags):
    wanted = flags.tiers.split(",")
    unknown = [name for name in wanted if name not in TIERS]
    if unknown:
        raise SystemExit(f"tiers.py: unknown tier \"{unknown[0]}\"; known: {', '.join(TIERS)}")
    populations = [Population(name, hertz, pages) for name, (hertz, pages) in TIERS.items() if name in wanted]
    for text in flags.extra:
        hertz, pages = text.split("x")
        populations.append(Population("extra-" + text, float(hertz), int(pages)))
    for population in populations:
        population.hertz *= flags.scale
    pages = sum(p.pages for p in populations)
    if flags.total_pages > pages:
        populations.append(Population("filler", 0.0, flags.total_pages - pages))
    return populations


def main():
    flags = parse_flags()
    populations = choose_populations(flags)
    area = mmap.mmap(-1, lay_out(populations) * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    area.madvise(mmap.MADV_NOHUGEPAGE)
    base = ctypes.addressof(ctypes.c_char.from_buffer(area))
    memory = memoryview(area).cast("Q")
    for population in populations:
        for word in population.words:
            memory[word] = 1
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    for _ in range(flags.threads):
        threading.Thread(target=stop.wait, daemon=True).start()
    if flags.pid_file:
        replace_file(flags.pid_file, f"{os.getpid()}\n")
    write_until_stopped(populations, memory, base, flags, stop)


if __name__ == "__main__":
    main()
