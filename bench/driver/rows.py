"""The rows of RESULTS.md: what is run for each, its targets, and the tables made of the JSON files."""

import dataclasses
import json
from collections.abc import Callable

BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


@dataclasses.dataclass
class Target:
    """The maximum or minimum of a figure."""
    what: str
    figure: str | Callable[[dict], float]  # its path in the row's JSON, or how it is computed from that
    limit: float
    unit: str = "x"
    by: float = 1  # which the figure is divided by
    at_least: bool = False

    def value(self, found):
        return (look_up(found, self.figure) if isinstance(self.figure, str) else self.figure(found)) / self.by

    def interval(self, found):
        figure = self.figure if isinstance(self.figure, str) else ""
        if figure.endswith("_ratio"):
            return "[{:.3f}, {:.3f}]".format(*(look_up(found, f"{figure}_{end}") for end in ("low", "high")))
        if figure.endswith(".by_xla"):
            what, way, _ = figure.split(".")
            return ", ".join(f"{found[what][one]['p50_ns'] / 1e9:.2f} s" for one in (way, "xla"))
        return ""

    def is_met(self, value):
        return value >= self.limit if self.at_least else value <= self.limit

    def limit_text(self):
        return f"{'at least' if self.at_least else 'at most'} {self.text(self.limit)}"

    def text(self, value):
        if self.unit == "x":
            return f"{value:.3f} x" if value < 1 else f"{value:.2f} x"
        is_coarse = abs(value) >= 100 or value == round(value)
        return f"{value:,.{0 if is_coarse else 2}f} {self.unit}".rstrip()


def look_up(found, path):
    for key in path.split("."):
        found = found[key]
    return found


def p50(limit, what="last arrival to last release"):
    return Target(what, "p50_ratio", limit)


def cpu(limit, what="server CPU"):
    return Target(what, "server_cpu_ratio", limit)


def rate(limit, what):
    return Target(what, "rate_ratio", limit, at_least=True)


def memory(limit, what):
    return Target(what, "coxswain.server_bytes_per_task", limit, "B")


def by_xla(latency, server_cpu):
    """Beside XLA's own service."""
    return [Target(f"{what}, by that of XLA's service", key, limit) for what, key, limit in (
        ("latency", "p50_ratio", latency), ("server CPU", "server_cpu_ratio", server_cpu)) if limit]


def kill(figure, what, serve, relay):
    """A time of real JAX processes."""
    return [Target(f"{text}, by that of XLA's service", f"{figure}.{way}.by_xla", limit)
            for text, way, limit in ((what, "serve", serve), ("the same behind a relay", "relay", relay))]


def added_time(found):
    """What a journal adds to the median of a release, in nanoseconds."""
    return found["coxswain"]["release_ns"]["p50"] - found["native"]["release_ns"]["p50"]


def polling(what):
    return [p50(0.6, f"{what}, polling for 1 ms, by a baseline that sleeps")]


WITHOUT = "by the same without a journal"
JOURNALLED = [p50(1.05, f"last arrival to last release, {WITHOUT}"), cpu(1.1, f"server CPU per task, {WITHOUT}")]
PIPELINED = "--connections 64 --outstanding 16"
OF_REDIS = cpu(0.85, "server CPU, by that of Redis")
PLAIN = "server CPU, by a barrier and plain send of the same bytes"

# Each: its name, what coxswain-load measures for it, and its targets.
ROWS = {name: (arguments, targets) for name, arguments, targets in [
    ("barrier-1024", "barrier --tasks 1024 --baseline", [p50(1.15), cpu(1.1, "server CPU per task")]),
    ("barrier-10000", "barrier --tasks 10000 --baseline", [p50(1.15), cpu(1.2, "server CPU per task")]),
    ("barrier-10000-sessions", "barrier --tasks 10000 --sessions 100 --baseline", [p50(0.10)]),
    ("barrier-100000-sessions", "barrier --tasks 100000 --sessions 1000 --baseline-tasks 10000 --baseline",
     [p50(1.0)]),
    ("barrier-unix", "barrier --tasks 1024 --transport unix --baseline --baseline-transport tcp",
     [cpu(0.45, "server CPU per task, by that of the TCP baseline")]),
    ("gather", "barrier-data --tasks 1024 --bytes 64 --baseline", [cpu(1.5, PLAIN)]),
    ("reduce", "barrier-data --tasks 1024 --reduce --baseline", [cpu(1.5, PLAIN)]),
    ("kv", "kv --baseline", [p50(1.05, "round trip of a get"), cpu(1.1)]),
    ("kv-put", "kv --operation put --baseline", [p50(1.05, "round trip of a put"), cpu(1.1)]),
    ("kv-pipelined", f"kv {PIPELINED} --baseline", [rate(0.4, "rate of gets")]),
    ("kv-redis", f"kv --operation get {PIPELINED} --vs redis", [rate(1.0, "rate of gets, by that of Redis"), OF_REDIS]),
    ("kv-put-redis", f"kv --operation put {PIPELINED} --vs redis", [OF_REDIS]),
    ("fan-out", "fan-out --waiters 1024 --bytes 1048576 --baseline", [
        cpu(1.2, "server CPU, by plain send"),
        Target("growth of the server", "coxswain.server_growth_bytes", 8 + 1024 * 1000 / 2**20, "MiB", 2**20)]),
    ("fan-out-1k", "fan-out --waiters 1024 --bytes 1024 --baseline", [cpu(1.15, "server CPU, by plain send")]),
    ("join", "join --tasks 10000 --baseline", [
        p50(1.25, "first connect to the start of the job"), cpu(1.5), rate(0.6, "rate of connecting and joining"),
        memory(3000, "memory per idle task")]),
    ("join-sessions", "join --tasks 10000 --sessions 100", [memory(400, "memory per idle task, 100 to a session")]),
    ("heartbeat", "heartbeat --tasks 10000 --period 10 --pairs 45 --baseline",
     [p50(1.05, "round trip of a heartbeat"), cpu(1.1)]),
    ("failure", "failure --tasks 1024 --reconnect-grace 0 --baseline",
     [p50(1.5, "kill to the last survivor, by a release to all")]),
    ("failure-grace", "failure --tasks 1024 --reconnect-grace 2 --rounds 5",
     [Target("kill to the last survivor, with a grace of 2 s", "coxswain.told_ns.max", 2050, "ms", 1e6)]),
    ("kv-spin", "kv --spin 1000 --baseline", polling("round trip of a get")),
    ("barrier-2-spin", "barrier --tasks 2 --spin 1000 --baseline",
     polling("barrier of 2, last arrival to last release")),
    ("barrier-8-spin", "barrier --tasks 8 --spin 1000 --baseline",
     polling("barrier of 8, last arrival to last release")),
    ("barrier-1024-process", "barrier --tasks 1024 --durability process --vs native", JOURNALLED),
    ("barrier-10000-process", "barrier --tasks 10000 --durability process --vs native", JOURNALLED),
    ("barrier-2-process", "barrier --tasks 2 --durability process --vs native",
     [Target("what a journal adds to a barrier of 2", added_time, 30, "µs", 1e3)]),
    ("barrier-1024-disk", "barrier --tasks 1024 --pairs 8 --durability disk --vs native",
     [Target("what a synchronized journal adds to a barrier of 1,024, in times of one synchronization",
             lambda found: added_time(found) / found["synchronization_ns"], 1)]),
    ("barrier-1024-xla", "barrier --tasks 1024 --protocol xla --vs native", [
        p50(1.3, "last arrival to last release, by native"), cpu(1.6, "server CPU per task, by native")]),
    ("barrier-4096-xla", "barrier --tasks 4096 --protocol xla --vs native",
     [cpu(1.6, "server CPU per task, by native")]),
    ("kv-xla", f"kv {PIPELINED} --protocol xla --vs native",
     [Target("gets in a second", "coxswain.rate_per_s", 450_000, "/s", at_least=True)]),
    ("join-xla", "join --tasks 10000 --pairs 5 --protocol xla --vs native",
     [memory(40_000, "memory per idle task with its three open calls")]),
    ("join-xla-sessions", "join --tasks 10000 --sessions 1250 --pairs 5 --protocol xla --vs native",
     [memory(8_000, "the same, 8 to a connection")]),
    ("kv-xla-growth", "kv --outstanding 16 --protocol xla --rounds 10000000", [
        Target("growth of the server in a million calls on one connection", "coxswain.server_growth_bytes", 64, "KiB",
               1024)]),
    ("barrier-128-by-xla", "barrier --tasks 128 --vs xla", by_xla(0.5, 0.5)),
    ("barrier-1024-by-xla", "barrier --tasks 1024 --vs xla", by_xla(0.3, 0.3)),
    ("barrier-4096-by-xla", "barrier --tasks 4096 --vs xla", by_xla(0.3, 0.3)),
    ("kv-by-xla", "kv --vs xla", by_xla(0.5, 0.3)),
    ("kv-put-by-xla", "kv --operation put --vs xla", by_xla(0.5, 0.3)),
    ("kv-pipelined-by-xla", f"kv {PIPELINED} --vs xla",
     [*by_xla(None, 0.1), rate(10, "rate, by that of XLA's service")]),
    ("join-by-xla", "join --tasks 1024 --vs xla", [
        Target("memory per idle task, by that of XLA's service",
               lambda found: look_up(found, "coxswain.server_bytes_per_task")
               / look_up(found, "xla_service.server_bytes_per_task"), 1), *by_xla(1, 0.5)]),
    ("kills", "kills", [
        *kill("told", "kill of a JAX process to the others told", 0.3, 0.1),
        *kill("gone", "kill in a recoverable JAX job to live_devices without it", 0.3, 0.1),
        *kill("back", "kill to live_devices with its next process, started at once", 1.25, 1.25),
        *kill("rejoin", "of which after the import of JAX", 1.25, 1.25)]),
]}


def row(name, target, found):
    """The table's row, and whether the target is met."""
    if found is None:
        return f"| {name} | {target.what} | {target.limit_text()} | not measured | | |", False
    value = target.value(found)
    busy = " (busy machine)" if found["disturbed"]["is_too_much"] else ""
    return (f"| {name} | {target.what} | {target.limit_text()} | {target.text(value)}{busy} "
            f"| {target.interval(found)} | {'yes' if target.is_met(value) else '**no**'} |"), target.is_met(value)


def sides(name, found):
    """The rows of absolute figures: one per side."""
    for side in ("baseline", "redis", "xla_service", "native", "coxswain"):
        if side not in found:
            continue
        of = found[side]
        latency = next(v for v in of.values() if isinstance(v, dict) and "p50" in v)
        cpu_time = next(v for k, v in of.items() if k.startswith("server_cpu_ns_per_"))
        times = " | ".join(f"{latency[p] / 1e3:,.0f}" for p in ("p50", "p99", "p99_9", "max"))
        size = of.get("server_bytes_per_task")
        yield (f"| {name} | {side} | {times} | {of['rate_per_s']:,.0f} | {cpu_time:,.0f} "
               f"| {'' if size is None else f'{size:,.0f}'} | {of['load_share']:.0%} |")


def tables(results):
    """The Markdown between the marks, and whether all targets are met."""
    rows = [row(name, target, results.get(name)) for name, (_, targets) in ROWS.items() for target in targets]
    origins = sorted({f"- {r['machine']}; {r['program']}; {r['day']}" for r in results.values()})
    lines = ["Measured on:", "", *origins, "", "### Targets", "",
             "| run | what | target | found | 95 % interval | met |", "|---|---|---|---|---|---|",
             *(text for text, _ in rows), "", "### Figures", "",
             "Times in microseconds, rates in operations a second, CPU in nanoseconds an operation, "
             "memory in bytes a task.", "",
             "| run | side | p50 | p99 | p99.9 | max | rate | server CPU | memory | load busy |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for name in ROWS:
        lines += sides(name, results.get(name, {}))
    return "\n".join(lines), all(met for _, met in rows)


def read_results(directory):
    return {path.stem: json.loads(path.read_text(encoding="utf-8"))
            for path in sorted(directory.glob("*.json")) if path.stem in ROWS}


def write_tables(text, report):
    before, rest = report.read_text(encoding="utf-8").split(BEGIN)
    report.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}", encoding="utf-8")
