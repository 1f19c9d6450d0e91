package io.holdfast.policy.convoy;

import java.util.ArrayList;
import java.util.List;

/** Jobs that read one order, or one job alone. Not thread-safe. */
final class Group {
  /** Groups that are older have smaller numbers. */
  final long number;

  final List<Job> jobs = new ArrayList<>(1);

  /** The passes that a job is in, in their order. */
  final List<Track> tracks = new ArrayList<>(2);

  /** Bytes of the entries that its jobs have begun. */
  long heldBytes;

  /** The part of the budget that these entries take. */
  long room;

  /** How long misses of its jobs were delayed, each job's by itself. */
  long delayedNanos;

  Group(long number) {
    this.number = number;
    tracks.add(new Track(1));
  }

  /** Returns the pass after another one, which begins now unless it has. */
  Track after(Track track) {
    for (Track each : tracks) {
      if (each.number > track.number) {
        return each;
      }
    }
    Track next = new Track(track.number + 1);
    tracks.add(next);
    return next;
  }

  /** Forgets the passes that every active job is past; returns how many files they had. */
  int prune() {
    int least = Integer.MAX_VALUE;
    for (Job job : jobs) {
      if (job.isActive()) {
        least = Math.min(least, job.track == null ? 0 : job.track.number);
      }
    }
    int files = 0;
    while (tracks.size() > 1 && tracks.get(0).number < least) {
      files += tracks.remove(0).size();
    }
    return files;
  }

  /** Returns how many jobs take part now. */
  int active() {
    int count = 0;
    for (Job job : jobs) {
      count += job.isActive() ? 1 : 0;
    }
    return count;
  }
}
