package io.holdfast.policy.convoy;

import java.util.BitSet;
import java.util.LinkedHashMap;
import org.jspecify.annotations.Nullable;

/** A job, and where it is in its pass. Not thread-safe. */
final class Job {
  /** How many of its last opens are compared with other passes. */
  static final int COMPARED = 16;

  /** The most threads whose files are known. */
  static final int MOST_THREADS = 64;

  final String name;

  /** Its bit among the jobs. */
  final long bit;

  Group group;

  /** The pass that it is in; null before its first open. */
  @Nullable Track track;

  /** The places of the pass that it has opened. */
  BitSet opened = new BitSet();

  /** The place behind the furthest one that it has opened in turn. */
  int position;

  /** Places before this one are not read any more. */
  int floor;

  /** Places before the floor that it has not opened. */
  int missed;

  /** Opens in a row of files that the pass does not have near. */
  int surprises;

  /** Opens in a row of files that it had opened in this pass before. */
  final long[] repeats = new long[3];

  int repeated;

  /** Its last opens; {@link #opens} counts all of them. */
  final long[] last = new long[COMPARED];

  long opens;

  /**
   * The file that each of its threads has opened last; the thread that has opened one longest ago
   * comes first.
   */
  final LinkedHashMap<Integer, Long> atWork = new LinkedHashMap<>(16, 0.75f, true);

  long lastOpen;

  /** Names the order that was announced for it; 0 if none was. */
  long order;

  /** Whether it has stopped or ended; its next open makes it take part again. */
  boolean stopped;

  /** Whether the others have left it behind: nothing of theirs is kept for it. */
  boolean behind;

  /** Whether it has wanted something since it wanted nothing. */
  boolean hasWanted;

  /** Whether others have waited for it in vain, and will not wait for it again. */
  boolean exhausted;

  /** How many of its misses are delayed now, since when, and for how long in this pass before. */
  int delayed;

  long delayedSince;
  long delayedInPass;

  Job(String name, long bit, Group group, long now) {
    this.name = name;
    this.bit = bit;
    this.group = group;
    this.lastOpen = now;
  }

  boolean isActive() {
    return !stopped;
  }

  /** Tells whether it is at the head of its group, or near enough to count. */
  boolean isFront() {
    return !stopped && !behind;
  }

  /** Tells whether it is before another job in their order. */
  boolean isBefore(Job other) {
    int mine = track == null ? 0 : track.number;
    int others = other.track == null ? 0 : other.track.number;
    return mine != others ? mine < others : position < other.position;
  }

  /** Returns the number of the pass that it opens a file in, whose open may not be known yet. */
  int passOf(long file) {
    if (track == null) {
      return group.tracks.get(0).number;
    }
    int place = track.find(file);
    boolean again = place >= 0 && opened.get(place) && (!isAtWork(file) || isRepeat(file));
    return again ? track.number + 1 : track.number;
  }

  private boolean isRepeat(long file) {
    for (int i = 0; i < repeated; i++) {
      if (repeats[i] == file) {
        return true;
      }
    }
    return false;
  }

  /** Tells whether it has yet to read a file in a pass of its group. */
  boolean wants(int pass, long file) {
    if (track == null || track.number != pass) {
      return track == null || track.number < pass;
    }
    int place = track.find(file);
    return place < 0 || isAtWork(file) || (place >= floor && !opened.get(place));
  }

  /** Tells whether it is known to have opened a file in a pass of its group. */
  boolean hasOpened(int pass, long file) {
    if (track == null || track.number != pass) {
      return track != null && (track.number > pass || isRepeat(file));
    }
    int place = track.find(file);
    return place >= 0 && opened.get(place);
  }

  boolean isAtWork(long file) {
    return atWork.containsValue(file);
  }

  /** Begins a pass. */
  void begin(Track next) {
    track = next;
    opened = new BitSet();
    position = 0;
    floor = 0;
    missed = 0;
    surprises = 0;
    repeated = 0;
    delayedInPass = 0;
  }
}
