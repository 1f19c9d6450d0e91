"""A job whose epochs are timed, and how they compare with what was predicted.

predict.py job ROOT NAMES WORKERS PREPARE EPOCHS SEED
predict.py note PERCENT REPORT TIMES [NODES]
predict.py line
predict.py table FROM RUNS
predict.py peers FROM NODES RUNS

"job" reads all files in each epoch, in workers that compute so long that a processor prepares PREPARE megabytes a
second, and says on the error output how long each epoch took. "note" makes a line of a run, of that and of the report
of 'holdfast analyze --json'; "line" shows it, and "table" compares all. "peers" does so for runs of one node and of NODES:
what was predicted for NODES from one, and for other memory from NODES.
"""

import json
import multiprocessing
import os
import random
import statistics
import sys
import time


def busy(seconds):
    """Computes for so much time of a processor, as a decoder does."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        for _ in range(200):
            pass


def read(path, rate):
    with open(path, "rb", buffering=0) as file:
        data = file.read()
    busy(len(data) / rate)
    return len(data)


def work(tasks, results, rate):
    for path in iter(tasks.get, None):
        results.put(read(path, rate))


def job(root, names, workers, prepare, epochs, seed):
    """As a loader does: workers take a file each, and go on with the next epoch."""
    with open(names) as file:
        paths = [os.path.join(root, line.rstrip("\n")) for line in file]
    order = random.Random(int(seed))
    tasks, results = multiprocessing.SimpleQueue(), multiprocessing.SimpleQueue()
    processes = [
        multiprocessing.Process(target=work, args=(tasks, results, float(prepare) * 1e6))
        for _ in range(int(workers))
    ]
    for process in processes:
        process.start()
    for _ in range(int(epochs)):
        order.shuffle(paths)
        begin = time.monotonic()
        ahead = 4 * len(processes)
        for path in paths[:ahead]:
            tasks.put(path)
        for number in range(len(paths)):
            results.get()
            if number + ahead < len(paths):
                tasks.put(paths[number + ahead])
        print("epoch", time.monotonic() - begin, file=sys.stderr, flush=True)
    for _ in processes:
        tasks.put(None)
    for process in processes:
        process.join()


def note(percent, report, times, nodes=1):
    with open(times) as file:
        seconds = [float(line.split()[1]) for line in file if line.startswith("epoch ")]
    with open(report) as file:
        figures = json.load(file)
    later = [each for each in figures["epochs"] if each["epoch"] > 1]
    run = {
        "share": int(percent),
        "nodes": int(nodes),
        "seconds": statistics.median(seconds[1:]),
        "verdict": later[-1]["verdict"] if later else "unknown",
        "seen": statistics.median(each["seconds"] for each in later) if later else None,
        "rates": figures["rates"],
        "knee": figures["knee_capacity_share"],
        "advice": figures["advice"],
        "predicted": {
            str(round(100 * row["value"])): row["epoch_seconds"]
            for row in figures["what_if"]
            if row["change"] == "capacity"
        },
        "with_nodes": {
            str(round(row["value"])): row["epoch_seconds"]
            for row in figures["what_if"]
            if row["change"] == "nodes"
        },
    }
    print(json.dumps(run))


def megabytes(rate):
    return "-" if rate is None else f"{rate / 1e6:.1f}"


def line():
    run = json.load(sys.stdin)
    rates = ", ".join(f"{name} {megabytes(rate)}" for name, rate in run["rates"].items())
    seen = "-" if run["seen"] is None else f"{run['seen']:.2f}"
    print(
        f"{run['nodes']} x {run['share']:3} % in memory: {run['seconds']:.2f} s an epoch, seen {seen} s, waits for {run['verdict']};"
        f" MB/s: {rates}; enough: {run['knee']}",
        flush=True,
    )


def table(start, runs):
    with open(runs) as file:
        runs = [json.loads(text) for text in file]
    of = [run for run in runs if run["share"] == int(start)]
    print("| in memory | measured | predicted | predicted / measured |")
    print("|---|---|---|---|")
    for share in dict.fromkeys(run["share"] for run in runs):
        measured = statistics.median(run["seconds"] for run in runs if run["share"] == share)
        told = [run["predicted"][str(share)] for run in of if str(share) in run["predicted"]]
        if told:
            predicted = statistics.median(told)
            print(f"| {share} % | {measured:.2f} s | {predicted:.2f} s | {predicted / measured:.3f} |")
        else:
            print(f"| {share} % | {measured:.2f} s | - | - |")
    print()
    print(of[-1]["advice"])


def peers(start, nodes, runs):
    with open(runs) as file:
        runs = [json.loads(text) for text in file]

    def median(of, figure):
        figures = [each for each in map(figure, of) if each is not None]
        return statistics.median(figures) if figures else None

    def those(number, share):
        return [run for run in runs if run["nodes"] == number and run["share"] == int(share)]

    print("| from | to | measured | predicted | predicted / measured |")
    print("|---|---|---|---|---|")
    alone, together = those(1, start), those(int(nodes), start)
    rows = [("1 node", start, median(alone, lambda run: run["with_nodes"].get(nodes)))]
    for share in dict.fromkeys(run["share"] for run in runs if run["nodes"] == int(nodes)):
        predicted = median(together, lambda run, share=share: run["predicted"].get(str(share)))
        rows.append((f"{nodes} nodes", share, predicted))
    for what, share, predicted in rows:
        measured = median(those(int(nodes), share), lambda run: run["seconds"])
        told = "-" if predicted is None else f"{predicted:.2f} s"
        ratio = "-" if predicted is None else f"{predicted / measured:.3f}"
        print(
            f"| {what} with {start} % each | {nodes} nodes with {share} % each | {measured:.2f} s | {told} | {ratio} |"
        )
    print()
    print(f"One node with {start} %: {median(alone, lambda run: run['seconds']):.2f} s an epoch.")


if __name__ == "__main__":
    {"job": job, "note": note, "line": line, "table": table, "peers": peers}[sys.argv[1]](*sys.argv[2:])
