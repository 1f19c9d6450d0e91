"""usage: attack.py [--seed N] [--seconds N] [--ttl-ms N] [--refresh NAME] [--lists exact|stricter]
                 [--binding kernel|jnr-fuse] LABEL ORIGIN MOUNT

ORIGIN/data is the dataset that is mounted at MOUNT, empty at first; beside it files are prepared. One
process changes it at random, one for each of several users looks at it through the mount and at the
origin, and this one judges what they saw. With --refresh the mount of that name is refreshed all the
time, and what was changed before that must be seen after it; until then it may believe what it knew,
as its ttl is hours. Ends with 1 when the mount let a user have what it must not.
"""

import argparse
import json
import os
import select
import signal
import socket
import sys
import time
import traceback

import calm
import specifics
from changes import WEIGHTS, Changer
from common import MILLI, SECOND, USERS, Board, Inbox, Stuck, become, now, seeded, send
from history import History
from judge import Judge
from readers import Reader

# Changes a second: stale answers show when little changes, and races when much does.
RATES = (3, 15, 60, 200, 1000)
_PHASE = 3 * SECOND
_ROUND = 15
_IDLE = 0.02
_QUEUE = 6
_GRACE = 5 * SECOND
_HUNG = 30 * SECOND
_HOURS = 24 * 3600 * SECOND


def arguments():
    """Returns what was asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=time.time_ns() // SECOND % 1_000_000)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--ttl-ms", type=int, default=1000)
    parser.add_argument("--refresh", default="")
    parser.add_argument("--lists", choices=("exact", "stricter"), default="exact")
    parser.add_argument("--binding", choices=("kernel", "jnr-fuse"), default="kernel")
    parser.add_argument("label")
    parser.add_argument("origin")
    parser.add_argument("mount")
    return parser.parse_args()


def forked(body):
    """Starts a process with the writing end of a pipe; returns its number and what comes out."""
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.close(source)
            body(sink)
            status = 0
        except BrokenPipeError:
            pass
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    os.close(sink)
    return child, Inbox(source)


def change(options, board, commands, out):
    """Makes changes when told to, and tells the time when there are none."""
    os.umask(0)
    changer = Changer(options.origin, seeded(options.seed, "changes"), board, out)
    send(out, ("start", [("new", 1, ("d", "")), ("rights", 1, changer.shown(""))]))
    functions, weights = list(WEIGHTS), list(WEIGHTS.values())
    inbox = Inbox(commands)
    until = phase = rate = 0
    while not inbox.ended:
        pause = _IDLE
        if until and now() >= until:
            until = 0
            send(out, ("round over", now(), changer.counts))
        elif until:
            if now() >= phase:
                phase, rate = now() + _PHASE, changer.chance.choice(RATES)
            changer.chance.choices(functions, weights)[0](changer)
            pause = min(changer.chance.expovariate(rate), 1)
        # in steps: those who judge wait for word that nothing was changed
        while pause >= 0 and not inbox.ended:
            send(out, ("time", now()))
            if select.select([commands], [], [], min(pause, _IDLE))[0]:
                for seconds, rate in inbox.receive():
                    until = now() + int(seconds * SECOND)
                    phase = until if rate else 0
            pause -= _IDLE


def refresh_once(name):
    """Has the mount of a name look again."""
    with socket.socket(socket.AF_UNIX) as channel:
        channel.connect("/run/holdfast/%s.sock" % name)
        channel.sendall(b'{"command":"refresh","path":""}\n')
        answer = channel.makefile().readline()
    if not json.loads(answer).get("ok"):
        raise RuntimeError("refresh: " + answer)


def refresh(name, board, out):
    """Has the mount look again, all the time."""
    while not board.is_ended():
        begin = now()
        refresh_once(name)
        send(out, ("refresh", begin, now()))
        time.sleep(0.4)


def look(user, options, board, out):
    """Looks as a user."""
    reader = Reader(user, (options.mount, os.path.join(options.origin, "data")), board, out, options.seed)
    become(user)
    reader.run()


class Attack:
    """One attack, from its beginning to its end."""

    def __init__(self, options):
        self.options = options
        self.board = Board()
        self.history = History()
        self.ttl = _HOURS if options.refresh else options.ttl_ms * MILLI
        self.exact_lists = options.lists == "exact"
        self.label = "%s, seed %d" % (options.label, options.seed)
        self.judge = Judge(self.history, self)
        self.known = 0
        self.rounds = 0
        self.round_over = 0
        self.counts = {}
        self.queues = {user.uid: [] for user in USERS}
        self.complete = {user.uid: 0 for user in USERS}
        self.since = {user.uid: now() for user in USERS}
        self.pids = []
        self.readers = {}
        self.refreshes = None
        self.refreshed = []
        self.compared = 0
        self.differences = 0

    # --- processes

    def start(self):
        """Starts all of them."""
        commands, self.commands = os.pipe()
        pid, self.changes = forked(lambda out: self.as_changer(commands, out))
        os.close(commands)
        self.pids.append(pid)
        for user in USERS:
            pid, self.readers[user.uid] = forked(lambda out: look(user, self.options, self.board, out))
            self.pids.append(pid)
        if self.options.refresh:
            pid, self.refreshes = forked(lambda out: refresh(self.options.refresh, self.board, out))
            self.pids.append(pid)

    def as_changer(self, commands, out):
        """What the process does that makes changes."""
        os.close(self.commands)
        change(self.options, self.board, commands, out)

    def stop(self):
        """Ends all of them, if they were started."""
        if not self.pids:
            return
        self.board.end()
        os.close(self.commands)
        end = now() + _GRACE
        while any(not inbox.ended for inbox in self.inboxes()) and now() < end:
            self.pump()
        for pid in self.pids:
            ended, status = os.waitpid(pid, os.WNOHANG)
            while not ended and now() < end:
                time.sleep(0.05)
                ended, status = os.waitpid(pid, os.WNOHANG)
            if not ended:
                os.kill(pid, signal.SIGKILL)
            if not ended or status:
                self.judge.violations["a process that hung or failed"] += 1

    def inboxes(self):
        """Returns all ends of pipes that something may come from."""
        return [self.changes, *self.readers.values()] + ([self.refreshes] if self.refreshes else [])

    # --- what they say

    def pump(self):
        """Takes what has come, and judges what can be judged."""
        # a reader that is ahead waits
        waiting = [self.changes] + ([self.refreshes] if self.refreshes else [])
        waiting += [inbox for uid, inbox in self.readers.items() if len(self.queues[uid]) < _QUEUE]
        by_descriptor = {inbox.descriptor: inbox for inbox in waiting if not inbox.ended}
        ready = select.select(list(by_descriptor), [], [], 0.2)[0]
        for descriptor in ready:
            for message in by_descriptor[descriptor].receive():
                self.take(message)
        self.judge_queues()

    def take(self, message):
        """Takes a message."""
        what = message[0]
        if what == "change":
            _, begin, end, words, deltas = message
            self.history.add(begin, end, deltas)
            self.judge.changes.append((begin, end, words))
            self.known = end
        elif what == "start":
            self.history.start(message[1])
        elif what == "time":
            self.known = message[1]
        elif what == "round over":
            self.round_over, self.counts = message[1:]
        elif what == "refresh":
            begin, end = message[1:]
            self.judge.refreshes.append((begin, end))
            self.refreshed.append(end - begin)
        elif what == "looks":
            _, uid, moment, since, looks = message
            for each in looks:
                self.judge.note_time(each)
            self.queues[uid].append((moment, since, looks))
            self.complete[uid] = moment

    def judge_queues(self):
        """Judges the looks of times of which all is known."""
        known = min([self.known] + [c for uid, c in self.complete.items() if not self.readers[uid].ended])
        for uid, queue in self.queues.items():
            while queue and queue[0][0] <= known:
                _, since, looks = queue.pop(0)
                for each in looks:
                    self.judge.judge(uid, each)
                self.since[uid] = since

    def forget(self):
        """Forgets states that no look can be about any more."""
        horizon = self.judge.believed_since(min(self.since.values())) - SECOND
        self.history.forget(horizon)
        while self.judge.slow and self.judge.slow[0][1] < horizon:
            self.judge.slow.popleft()

    # --- what happens

    def round(self, seconds, rate):
        """Has changes made for a time, at a rate or at several, and then compares all when the mount may not be behind."""
        self.round_over = 0
        send(self.commands, (seconds, rate))
        self.pump_until(lambda: self.round_over)
        quiet = self.round_over
        # a reader that began before may have got a late answer from before
        self.pump_until(lambda: min(self.complete.values()) > quiet)
        if self.options.refresh:
            self.pump_until(lambda: self.judge.refreshes and self.judge.refreshes[-1][0] > quiet)
        else:
            calm_since = max([quiet] + [end for begin, end in self.judge.slow if begin <= quiet])
            self.pump_until(lambda: now() > calm_since + self.ttl + 100 * MILLI)
        self.compare()
        self.forget()

    def compare(self):
        """Compares all that all users see with the origin."""
        roots = (self.options.mount, os.path.join(self.options.origin, "data"))
        made, failed = calm.compare(roots, USERS, self.exact_lists, self.tell_difference)
        self.compared += made
        self.differences += failed

    def tell_difference(self, words):
        """Says what is different when nothing changes."""
        if self.differences + self.judge.violations["different when nothing changes"] < 40:
            print("VIOLATION %s: different when nothing changes\n  %s" % (self.label, words), flush=True)
        self.judge.violations["different when nothing changes"] += 1

    def pump_until(self, condition):
        """Goes on until something is so."""
        while not condition():
            if any(inbox.ended for inbox in self.inboxes()):
                raise Stuck("a process of the suite has ended")
            late = [uid for uid, moment in self.complete.items() if moment and now() - moment > _HUNG]
            if late:
                raise Stuck("a call that does not end")
            self.pump()

    def run(self):
        """Attacks; returns how many violations there were."""
        print("attack on %s, %s" % (self.label, "refreshed" if self.options.refresh else "ttl %d ms" % self.options.ttl_ms), flush=True)
        begin = now()
        try:
            specifics.Attempts(self.options, self.label, self.judge.violations).run()
            self.start()
            self.pump_until(lambda: self.history.root is not None)
            self.round(1.5, 1000)
            end = begin + self.options.seconds * SECOND
            while now() < end:
                left = (end - now()) / SECOND
                self.round(min(_ROUND, max(1, left - 2)), 0)
                self.rounds += 1
        except Stuck as e:
            self.judge.violations[str(e)] += 1
            print("VIOLATION %s: %s" % (self.label, e), flush=True)
        finally:
            self.stop()
        self.report((now() - begin) / SECOND)
        return sum(self.judge.violations.values())

    def report(self, seconds):
        """Prints the figures."""
        judge = self.judge
        print("%s: %.0f s, %d rounds" % (self.label, seconds, self.rounds))
        print("  changes: %d: %s" % (sum(self.counts.values()), words(self.counts)))
        for (side, call), outcomes in grouped(judge.looks).items():
            print("  %s %s: %s" % (side, call, words(outcomes)))
        print("  compared: %d looks while it changed, %d when nothing did" % (judge.comparisons, self.compared))
        print("  longest call through the mount: %d ms" % (judge.longest // MILLI))
        if self.refreshed:
            took = sorted(self.refreshed)
            print("  refreshes: %d, median %d ms, longest %d ms" % (len(took), took[len(took) // 2] // MILLI, took[-1] // MILLI))
        errors = {"%s %s" % key: n for key, n in judge.errors.items()}
        print("  errors in changes: %s" % (words(errors) or "none"))
        print("  violations: %s" % (words(judge.violations) or "none"), flush=True)


def grouped(counts):
    """Returns counts by all but the last part of their keys."""
    groups = {}
    for key in sorted(counts):
        groups.setdefault(key[:-1], {})[key[-1]] = counts[key]
    return groups


def words(counts):
    """Returns counts in words."""
    return ", ".join("%s %d" % (key, n) for key, n in sorted(counts.items(), key=str) if n)


def main():
    """Attacks once."""
    options = arguments()
    options.refresh_now = lambda: refresh_once(options.refresh)
    if os.geteuid() != 0:
        sys.exit("attack.py must be run as root")
    sys.exit(1 if Attack(options).run() else 0)


if __name__ == "__main__":
    main()
