package io.holdfast.policy.convoy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which jobs read one order, and where they are in it, found from their opens. Not thread-safe.
 *
 * <p>Each job begins in a group of its own. Every {@link Job#COMPARED} opens it is compared with
 * the passes of the older groups: if {@link #ALIKE} of its last opens lie close together in one of
 * them, it joins that group there. A job that has opened a file of its pass again begins the next
 * pass, and is expected to follow its group in that one, too. It leaves the group when it does not:
 * when it passes over files of the others, or opens files that they do not have near.
 */
final class Groups {
  /** The most jobs that are followed: those that opened files last. */
  static final int MOST_JOBS = 64;

  /** How many of a job's last opens have to be found close together. */
  private static final int ALIKE = 14;

  /** How close: that many places more than there are opens. */
  private static final int SPREAD = 64;

  /** Opens in a row that are not near, after which a job does not read the order of its group. */
  private static final int SURPRISES = 16;

  /** The fewest files that a job may pass over, and the part of those that are behind it. */
  private static final int MISSED = 16;

  private static final int MISSED_PART = 8;

  private static final long LONG_AGO_NANOS = 60_000_000_000L;

  private final long mostFiles;
  private final Listener listener;
  private final Map<String, Job> jobs = new LinkedHashMap<>(16, 0.75f, true);

  /** The oldest first. */
  private final List<Group> groups = new ArrayList<>();

  private long usedBits;
  private long files;
  private long lastGroup;

  /** Learns what jobs no longer want, and what they want again. */
  interface Listener {
    /** A job has opened a file, in its pass or, where that is not known yet, in the next one. */
    void opened(Job job, long file);

    /** A job needs a file no more, in its pass or one before. */
    void passed(Job job, long file);

    /** A job has begun another pass: it needs nothing of the passes before. */
    void began(Job job);

    /** A job takes part in its group from now on, at its place. */
    void joined(Job job);

    /** A job takes part in its group no more: it needs nothing. */
    void left(Job job);
  }

  /**
   * Creates groups of no job.
   *
   * @param mostFiles the most files of all passes together
   */
  Groups(long mostFiles, Listener listener) {
    this.mostFiles = mostFiles;
    this.listener = listener;
  }

  @Nullable Job find(String name) {
    return jobs.get(name);
  }

  /** Returns the groups, the oldest first. */
  List<Group> all() {
    return groups;
  }

  Iterable<Job> jobs() {
    return jobs.values();
  }

  private Job job(String name, long now) {
    Job known = jobs.get(name);
    if (known != null) {
      return known;
    }
    if (jobs.size() == MOST_JOBS) {
      forget(jobs.values().iterator().next());
    }
    long bit = Long.lowestOneBit(~usedBits);
    usedBits |= bit;
    Job job = new Job(name, bit, alone(), now);
    job.group.jobs.add(job);
    jobs.put(name, job);
    return job;
  }

  private Group alone() {
    Group group = new Group(++lastGroup);
    groups.add(group);
    return group;
  }

  /** Forgets a job: its next open is that of a new one. */
  void forget(Job job) {
    listener.left(job);
    remove(job);
    jobs.remove(job.name);
    usedBits &= ~job.bit;
  }

  private void remove(Job job) {
    Group group = job.group;
    group.jobs.remove(job);
    if (group.jobs.isEmpty()) {
      groups.remove(group);
      group.tracks.forEach(track -> files -= track.size());
    } else {
      files -= group.prune();
    }
  }

  /**
   * Notes that an order was announced for a job. If the job is alone, it joins a job with the same
   * one.
   *
   * @param order names the order; equal orders have equal numbers, and none has 0
   */
  void announced(String name, long order, long now) {
    Job job = job(name, now);
    job.order = order;
    if (job.group.jobs.size() > 1) {
      return; // it is known from its opens whom it follows
    }
    for (Group group : groups) {
      if (group != job.group && group.jobs.stream().anyMatch(other -> other.order == order)) {
        remove(job);
        job.group = group;
        group.jobs.add(job);
        job.track = null;
        job.atWork.clear();
        job.lastOpen = now;
        job.stopped = false;
        listener.joined(job);
        return;
      }
    }
  }

  /** Notes that a job takes no part any more. */
  void stopped(Job job) {
    files -= job.group.prune();
  }

  /** Notes that a thread of a job has opened a file. */
  void opened(String name, int thread, long file, long now) {
    Job job = job(name, now);
    job.lastOpen = now;
    if (job.track == null) {
      job.begin(job.group.tracks.get(0));
    }
    if (job.stopped) {
      job.stopped = false;
      if (job.group.tracks.contains(job.track)) {
        listener.joined(job);
      } else {
        diverge(job); // the others have forgotten its pass
      }
    }
    Long before = job.atWork.put(thread, file);
    if (job.atWork.size() > Job.MOST_THREADS) {
      forgetThread(job);
    }
    if (before == null || before != file) { // else it was looked at, and is read now
      opened(job, thread, file, before);
    }
    listener.opened(job, file);
  }

  /** Forgets the thread that opened a file longest ago: most likely it has ended. */
  private void forgetThread(Job job) {
    Iterator<Long> files = job.atWork.values().iterator();
    long file = files.next();
    files.remove();
    if (!job.isAtWork(file)) {
      listener.passed(job, file);
    }
  }

  private void opened(Job job, int thread, long file, @Nullable Long before) {
    if (before != null) {
      listener.passed(job, before);
    }
    Track track = track(job);
    int place = track.find(file);
    if (place >= 0 && job.opened.get(place)) {
      again(job, thread, file);
    } else {
      job.repeated = 0;
      enter(job, place, file);
    }
  }

  private static Track track(Job job) {
    Track track = job.track;
    if (track == null) {
      throw new IllegalStateException(job.name + " has not begun");
    }
    return track;
  }

  /** A file that was opened before; after some of them in a row, the job is in its next pass. */
  private void again(Job job, int thread, long file) {
    job.repeats[job.repeated] = file;
    job.repeated++;
    if (job.repeated < job.repeats.length) {
      return;
    }
    Track next = job.group.after(track(job));
    job.begin(next);
    files -= job.group.prune();
    listener.began(job);
    job.atWork.clear();
    job.atWork.put(thread, file);
    for (long each : job.repeats) {
      if (job.track == next) {
        enter(job, next.find(each), each);
        if (each != file) {
          listener.passed(job, each);
        }
      }
    }
  }

  private void enter(Job job, int found, long file) {
    Track track = track(job);
    int reach = track.reach();
    int place = found;
    if (place < 0 && files >= mostFiles) {
      forgetEldest(job);
    }
    if (place < 0 && job.position + reach >= track.size() && files < mostFiles) {
      place = track.append(file);
      files++;
    }
    job.last[(int) (job.opens % Job.COMPARED)] = file;
    job.opens++;
    if (place >= 0) {
      job.opened.set(place);
    }
    if (place < 0 || place > job.position + reach) {
      surprise(job);
    } else {
      job.surprises = 0;
      moveTo(job, Math.max(job.position, place + 1), reach);
    }
    if (job.opens % Job.COMPARED == 0) {
      compare(job);
    }
  }

  /** Makes room for the files of a job, if another one has stopped, or opened nothing for long. */
  private void forgetEldest(Job job) {
    for (Job eldest : jobs.values()) {
      if (eldest != job && (eldest.stopped || job.lastOpen - eldest.lastOpen > LONG_AGO_NANOS)) {
        forget(eldest);
        return;
      }
    }
  }

  private void surprise(Job job) {
    job.surprises++;
    if (job.surprises >= SURPRISES) {
      diverge(job);
    }
  }

  private void moveTo(Job job, int position, int reach) {
    Track track = track(job);
    job.position = position;
    for (; job.floor < position - reach; job.floor++) {
      if (!job.opened.get(job.floor)) {
        job.missed++;
        listener.passed(job, track.file(job.floor));
      }
    }
    if (job.missed > Math.max(MISSED, job.floor / MISSED_PART)) {
      diverge(job);
    }
  }

  /** Has a job that reads something else go on alone. */
  private void diverge(Job job) {
    listener.left(job);
    remove(job);
    job.group = alone();
    job.group.jobs.add(job);
    job.begin(job.group.tracks.get(0));
  }

  /** Looks for an older group that reads what a job has just opened. */
  private void compare(Job job) {
    boolean isAlone = job.group.jobs.size() == 1;
    for (Group group : groups) {
      if (group == job.group) {
        if (!isAlone) {
          return;
        }
        continue;
      }
      for (Track track : group.tracks) {
        int end = endOfMatch(job, track);
        if (end >= 0) {
          join(job, group, track, end);
          return;
        }
      }
    }
  }

  /**
   * Returns the place behind a job's last opens in a pass, or -1 where they do not lie together.
   */
  private static int endOfMatch(Job job, Track track) {
    int[] places = new int[Job.COMPARED];
    int found = 0;
    for (long file : job.last) {
      int place = track.find(file);
      if (place >= 0) {
        places[found] = place;
        found++;
      }
    }
    Arrays.sort(places, 0, found);
    for (int i = found - ALIKE; i >= 0; i--) {
      if (places[i + ALIKE - 1] - places[i] < Job.COMPARED + SPREAD) {
        return places[i + ALIKE - 1] + 1;
      }
    }
    return -1;
  }

  private void join(Job job, Group group, Track track, int position) {
    Track before = track(job);
    BitSet was = job.opened;
    remove(job);
    job.group = group;
    group.jobs.add(job);
    job.begin(track);
    for (int i = was.nextSetBit(0); i >= 0; i = was.nextSetBit(i + 1)) {
      int place = track.find(before.file(i));
      if (place >= 0) {
        job.opened.set(place);
      }
    }
    job.position = position;
    job.floor = Math.max(0, position - track.reach());
    listener.joined(job);
  }

  /** Returns how many files all passes have. */
  long files() {
    return files;
  }

  /** Throws if the sums are wrong. */
  void check() {
    long sum = 0;
    long bits = 0;
    for (Group group : groups) {
      for (Track track : group.tracks) {
        sum += track.size();
      }
      for (Job job : group.jobs) {
        bits |= job.bit;
        if (job.group != group || jobs.get(job.name) != job) {
          throw new IllegalStateException(job.name + " is in two groups, or forgotten");
        }
        if (job.isActive() && job.track != null && !group.tracks.contains(job.track)) {
          throw new IllegalStateException(job.name + " is in a pass that was forgotten");
        }
      }
    }
    if (sum != files || files > mostFiles || bits != usedBits) {
      throw new IllegalStateException(files + " files are " + sum + ", of at most " + mostFiles);
    }
  }
}
