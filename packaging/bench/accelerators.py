"""Shows what packaging/bench/accelerators has measured: accelerators.py FOLDER RATE SHARE"""

import json
import os
import sys

folder, rate, share = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]) / 100


def figures(name):
    with open(os.path.join(folder, name + ".json")) as file:
        report = json.load(file)
    with open(os.path.join(folder, name + ".disk")) as file:
        return report, report["rows"][0], int(file.read())


def speed(x, memory):
    """MB/s with the share x from memory."""
    return 1 / (x / memory + (1 - x) / rate)


memory = figures("memory")[1]["bytes_per_second"] / 1e6
report = figures("none")[0]
mean = report["dataset_bytes"] / report["files"]
demand = report["batch"] * mean / report["compute_seconds"] / 1e6
print(
    f"{report['workload']}: {report['files']:,} files of {mean:,.0f} bytes, batches of {report['batch']} in"
    f" {1000 * report['compute_seconds']:g} ms ({demand:.0f} MB/s), {report['workers']} readers;"
    f" S {rate:g} MB/s, C {memory:.0f} MB/s\n"
)
print("| | AU | AU by the formula | x | read | from the origin | steps |")
print("|---|---|---|---|---|---|---|")
for name, words, x in (
    ("none", "no cache", 0),
    ("page-cache", f"page cache, room for {share:.0%}", None),
    ("holdfast", f"Holdfast, room for {share:.0%}", share),
):
    _, row, disk = figures(name)
    seen = max(0, 1 - disk / row["read_bytes"])
    wanted = min(1, speed(seen if x is None else x, memory) / demand)
    print(
        f"| {words} | {row['au']:.3f} | {wanted:.3f} ({row['au'] - wanted:+.3f}) | {seen:.2f} |"
        f" {row['read_bytes'] / 1e6:,.0f} MB | {disk / 1e6:,.0f} MB | {row['steps']:,} |"
    )
