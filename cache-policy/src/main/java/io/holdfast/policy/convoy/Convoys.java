package io.holdfast.policy.convoy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Shares what one job has fetched with the jobs that read the same order a little later, within a
 * budget of bytes. It is the idea of CoorDL's shared fetch (Mohan et al., "Analyzing and Mitigating
 * Data Stalls in DNN Training", VLDB 2021), without one job that prepares for another: each job
 * reads by itself, and nobody has to wait for anybody.
 *
 * <p><b>What is kept.</b> A fetch that a job begins is an entry if others of its {@linkplain Groups
 * group} have yet to read the file. Its bytes count from then on. Once nobody wants them any more,
 * because all have read them, or stopped, or diverged, the caller lets the bytes go. The bytes of
 * all entries are never more than the budget. An entry takes heap, too, so there is a most number
 * of entries, and each takes at least that part of the budget.
 *
 * <p><b>When the budget is full,</b> and the caller says that the origin is the bottleneck, a miss
 * waits until others have caught up. It waits for at most {@link #PATIENCE_NANOS} of a job's time
 * in one pass, and once in all for each job that does not come. Otherwise, the last job is left
 * behind: nothing is kept for it until it has caught up by itself. So a slow job costs the others
 * that time once. Groups have equal shares of the budget when it is full.
 *
 * <p>A state machine without a clock: times are nanoseconds from any beginning. The caller takes
 * the consequences from {@link #nextToLetGo} and {@link #nextToGoOn} after each call. Cost:
 * constant for an open and for a fetch; when a job stops, diverges or begins a pass, a visit of
 * each entry. Not thread-safe.
 *
 * @param <F> names a fetch; compared by {@code equals}
 */
public final class Convoys<F> {
  /** The longest time that a job loses in one pass because its misses are delayed. */
  public static final long PATIENCE_NANOS = 2_000_000_000L;

  /** So many files of a pass take as much heap as one entry. */
  private static final int FILES_OF_ENTRY = 8;

  private final long budget;

  /** The least part of the budget that an entry takes, however few its bytes. */
  private final long leastRoom;

  private final Changes changes = new Changes();
  private final Groups groups;
  private final Map<F, Entry<F>> entries = new LinkedHashMap<>();
  private final Map<Long, List<Entry<F>>> byFile = new HashMap<>();

  /** The first delayed miss first. */
  private final Deque<Entry<F>> delayed = new ArrayDeque<>();

  private final Deque<F> toLetGo = new ArrayDeque<>();
  private final Deque<F> toGoOn = new ArrayDeque<>();
  private long held;

  /** The part of the budget that is taken. */
  private long taken;

  private long now;

  /** The decision on a fetch that is about to begin. */
  public enum Verdict {
    /** It goes on, and nobody else wants its bytes, or they have no room. */
    PLAIN,
    /** It goes on, and its bytes are to be kept. */
    KEEP,
    /**
     * It waits until {@link #nextToGoOn} returns it. One that is ahead of its reader is left out:
     * it is forgotten.
     */
    WAIT
  }

  /**
   * A convoy of at least two jobs.
   *
   * @param jobs their names, in the order of the alphabet
   * @param heldBytes bytes that are kept, or being fetched to be kept, for those that come later
   * @param delayedNanos how long its jobs' misses were delayed, each job's by itself
   */
  public record Convoy(List<String> jobs, long heldBytes, long delayedNanos) {}

  /**
   * A job of a convoy.
   *
   * @param threads the threads that have opened files last
   * @param lastOpen when it opened a file last, or was announced
   * @param begun whether it has opened a file
   */
  public record Member(String job, Collection<Integer> threads, long lastOpen, boolean begun) {}

  private static final class Entry<F> {
    final F fetch;
    final Job owner;
    final int thread;
    final Group group;
    final int pass;
    final long file;
    final int bytes;

    /** The jobs that want it, by their bits. */
    long wants;

    /** Bytes that these jobs have had, where they have had some. */
    final Map<Job, Long> had = new HashMap<>(2);

    boolean waits;
    boolean complete;
    long deadline;
    @Nullable Job awaited;

    Entry(F fetch, Job owner, int thread, int pass, long file, int bytes) {
      this.fetch = fetch;
      this.owner = owner;
      this.thread = thread;
      this.group = owner.group;
      this.pass = pass;
      this.file = file;
      this.bytes = bytes;
    }
  }

  /**
   * Creates convoys of no job.
   *
   * @param budget the most bytes that are kept
   * @param mostFiles the most files of all passes whose order is known, at 16 to 32 bytes each; an
   *     eighth as many fetches are kept at most, in up to as much heap
   */
  public Convoys(long budget, long mostFiles) {
    this.budget = budget;
    long mostEntries = Math.max(1, mostFiles / FILES_OF_ENTRY);
    this.leastRoom = (budget + mostEntries - 1) / mostEntries;
    this.groups = new Groups(mostFiles, changes);
  }

  private final class Changes implements Groups.Listener {
    @Override
    public void opened(Job job, long file) {
      for (Entry<F> entry : List.copyOf(byFile.getOrDefault(file, List.of()))) {
        unwantIfRead(entry, job);
      }
    }

    @Override
    public void passed(Job job, long file) {
      for (Entry<F> entry : List.copyOf(byFile.getOrDefault(file, List.of()))) {
        if (entry.group != job.group || job.track == null || entry.pass <= job.track.number) {
          unwant(entry, job);
        }
      }
    }

    @Override
    public void began(Job job) {
      for (Entry<F> entry : List.copyOf(entries.values())) {
        if (entry.group != job.group || job.track == null || entry.pass < job.track.number) {
          unwant(entry, job);
        }
      }
    }

    @Override
    public void joined(Job job) {
      job.behind = true; // so that it is not the front that it is compared with
      job.behind = job.track != null && !hasCaughtUp(job);
      want(job);
    }

    /** Has a job want what there is for it, and nothing else. */
    void want(Job job) {
      for (Entry<F> entry : List.copyOf(entries.values())) {
        if (entry.group == job.group && isFor(job, entry)) {
          entry.wants |= job.bit;
          job.hasWanted = true;
        } else if (entry.group != job.group || !job.wants(entry.pass, entry.file)) {
          unwant(entry, job);
        }
      }
    }

    @Override
    public void left(Job job) {
      leaveAll(job);
    }
  }

  private static boolean isFor(Job job, Entry<?> entry) {
    return job != entry.owner && job.isActive() && !job.behind && job.wants(entry.pass, entry.file);
  }

  // --- jobs

  /**
   * Notes that an order was announced for a job: what jobs with an equal one fetch is kept for it
   * before it opens a file.
   *
   * @param order names the order; equal orders have equal numbers, and none has 0
   */
  public void announced(String job, long order, long time) {
    now = time;
    groups.announced(job, order, time);
    goOn();
  }

  /** Notes that a thread of a job has opened a file. */
  public void opened(String name, int thread, long file, long time) {
    now = time;
    groups.opened(name, thread, file, time);
    Job job = groups.find(name);
    if (job != null && job.behind && hasCaughtUp(job)) {
      job.behind = false;
      changes.want(job);
    }
    goOn();
  }

  /** Notes that a job has stopped or ended, or has nothing to open for now. */
  public void stopped(String name, long time) {
    now = time;
    Job job = groups.find(name);
    if (job != null && !job.stopped) {
      job.stopped = true;
      groups.stopped(job);
      job.atWork.clear();
      for (Entry<F> entry : delayed) {
        job.exhausted |= entry.awaited == job;
      }
      leaveAll(job);
    }
    goOn();
  }

  /** Returns when a job has opened a file last; the time is any where it is not known. */
  public long lastOpen(String name) {
    Job job = groups.find(name);
    return job == null ? 0 : job.lastOpen;
  }

  /** Has a job want nothing of what there is, and its own misses wait for nobody. */
  private void leaveAll(Job job) {
    job.hasWanted = false;
    for (Entry<F> entry : List.copyOf(entries.values())) {
      if (entry.owner == job && entry.waits) {
        letPass(entry);
      } else {
        unwant(entry, job);
      }
    }
  }

  /** Returns the jobs that take part in a convoy now. */
  public List<Member> members() {
    List<Member> members = new ArrayList<>();
    for (Group group : groups.all()) {
      if (group.active() >= 2 || group.heldBytes > 0) {
        for (Job job : group.jobs) {
          if (job.isActive()) {
            List<Integer> threads = List.copyOf(job.atWork.keySet());
            members.add(new Member(job.name, threads, job.lastOpen, job.track != null));
          }
        }
      }
    }
    return members;
  }

  /** Tells whether a job that was left behind is near enough to the front again. */
  private boolean hasCaughtUp(Job job) {
    Job front = null;
    for (Job each : job.group.jobs) {
      if (each.isFront() && (front == null || front.isBefore(each))) {
        front = each;
      }
    }
    if (front == null || front.track == null || job.track == null) {
      return front == null;
    }
    if (front.track.number != job.track.number) {
      return front.track.number < job.track.number;
    }
    double roomOfFile = (double) front.track.missingRoom / Math.max(1, front.track.size());
    return (front.position - job.position) * roomOfFile <= budget / 2.0;
  }

  // --- fetches

  /**
   * Decides on a fetch that is about to begin.
   *
   * @param fetch names it; not one that there is
   * @param name the job that wants it
   * @param thread the thread that wants it
   * @param bytes its bytes, above 0
   * @param ahead whether no reader waits for it yet
   * @param mayWait whether the origin is the bottleneck
   */
  public Verdict begin(
      F fetch,
      String name,
      int thread,
      long file,
      int bytes,
      boolean ahead,
      boolean mayWait,
      long time) {
    now = time;
    Job owner = groups.find(name);
    Verdict verdict = Verdict.PLAIN;
    if (owner != null) {
      boolean withThoseBehind = owner.behind && hasFront(owner.group);
      Entry<F> entry = new Entry<>(fetch, owner, thread, owner.passOf(file), file, bytes);
      verdict = decide(entry, withThoseBehind, ahead, mayWait);
      boolean begins = verdict != Verdict.WAIT || !ahead;
      if (begins && !withThoseBehind && owner.track != null) {
        owner.track.missingRoom += room(entry);
      }
    }
    goOn(); // those that wait have room if a job was left behind
    return verdict;
  }

  private Verdict decide(Entry<F> entry, boolean withThoseBehind, boolean ahead, boolean mayWait) {
    Job owner = entry.owner;
    for (Job job : entry.group.jobs) {
      boolean wants = job != owner && job.isActive() && job.wants(entry.pass, entry.file);
      if (wants && (withThoseBehind || !job.behind)) {
        entry.wants |= job.bit;
        job.hasWanted = true;
      }
    }
    if (entry.wants == 0 || entry.bytes > budget) {
      return Verdict.PLAIN;
    }
    if (ahead && owner.isActive() && owner.wants(entry.pass, entry.file)) {
      entry.wants |= owner.bit; // another job may read it before this one does
      owner.hasWanted = true;
    }
    if (withThoseBehind ? taken + room(entry) <= budget / 2 : fits(entry)) {
      keep(entry);
      return Verdict.KEEP;
    }
    if (withThoseBehind) {
      return Verdict.PLAIN;
    }
    takeFromBehind(entry.group);
    Job last = fits(entry) ? null : last(entry.group, owner);
    if (last != null && !last.isBefore(owner)) {
      return Verdict.PLAIN; // who comes last does not wait for those before it
    }
    boolean isWorthWaitingFor = last != null && last.track != null && !last.exhausted;
    if (mayWait && last != null && isWorthWaitingFor && fullest(entry) == entry.group) {
      long patience = PATIENCE_NANOS - delayedInPass(owner);
      if (patience > 0) {
        if (!ahead) {
          delay(entry, last, patience);
        }
        return Verdict.WAIT;
      }
      last.exhausted = true;
    }
    return makeRoom(entry) ? Verdict.KEEP : Verdict.PLAIN;
  }

  private static boolean hasFront(Group group) {
    return group.jobs.stream().anyMatch(Job::isFront);
  }

  /** Lets go what is kept among those that were left behind. */
  private void takeFromBehind(Group group) {
    for (Job job : group.jobs) {
      if (job.behind && job.hasWanted) {
        leaveAll(job);
      }
    }
  }

  /** Returns the part of the budget that an entry takes. */
  private long room(Entry<F> entry) {
    return Math.max(entry.bytes, leastRoom);
  }

  private boolean fits(Entry<F> entry) {
    return taken + room(entry) <= budget;
  }

  private void keep(Entry<F> entry) {
    take(entry);
    add(entry);
  }

  private void take(Entry<F> entry) {
    held += entry.bytes;
    taken += room(entry);
    entry.group.heldBytes += entry.bytes;
    entry.group.room += room(entry);
  }

  private void add(Entry<F> entry) {
    if (entries.put(entry.fetch, entry) != null) {
      throw new IllegalStateException("there is such a fetch: " + entry.fetch);
    }
    byFile.computeIfAbsent(entry.file, none -> new ArrayList<>(1)).add(entry);
  }

  private void remove(Entry<F> entry) {
    entries.remove(entry.fetch);
    List<Entry<F>> others = byFile.get(entry.file);
    if (others != null) {
      others.remove(entry);
      if (others.isEmpty()) {
        byFile.remove(entry.file);
      }
    }
  }

  /** Returns the job of a group that is behind all others; null if there is none but one. */
  private static @Nullable Job last(Group group, Job besides) {
    Job last = null;
    for (Job job : group.jobs) {
      if (job != besides && job.isFront() && (last == null || job.isBefore(last))) {
        last = job;
      }
    }
    return last;
  }

  /** Leaves jobs behind until an entry fits, and keeps it; false if nobody wants it any more. */
  private boolean makeRoom(Entry<F> entry) {
    while (entry.wants != 0 && !fits(entry)) {
      Group group = fullest(entry);
      Job last = last(group, entry.owner);
      if (last == null || (group == entry.group && !last.isBefore(entry.owner))) {
        return false;
      }
      last.behind = true;
      entry.wants &= ~last.bit;
      leaveAll(last);
    }
    if (entry.wants == 0) {
      return false;
    }
    keep(entry);
    return true;
  }

  /** Returns the entry's group if that passes its share, or else the one that has most. */
  private Group fullest(Entry<F> entry) {
    int convoys = 0;
    Group fullest = entry.group;
    for (Group each : groups.all()) {
      convoys += each.room > 0 || each == entry.group ? 1 : 0;
      fullest = each.room > fullest.room ? each : fullest;
    }
    boolean passesItsShare = entry.group.room + room(entry) > budget / convoys;
    return passesItsShare && entry.group.room > 0 ? entry.group : fullest;
  }

  private void unwant(Entry<F> entry, Job job) {
    if ((entry.wants & job.bit) == 0) {
      return;
    }
    entry.wants &= ~job.bit;
    entry.had.remove(job);
    if (entry.wants != 0) {
      return;
    }
    if (entry.waits) {
      letPass(entry);
    } else {
      release(entry);
    }
  }

  /** Ends an entry whose bytes count. */
  private void release(Entry<F> entry) {
    remove(entry);
    held -= entry.bytes;
    taken -= room(entry);
    entry.group.heldBytes -= entry.bytes;
    entry.group.room -= room(entry);
    if (entry.complete) {
      toLetGo.add(entry.fetch);
    }
  }

  /** Notes that a program of a job was answered with bytes of a fetch. */
  public void delivered(F fetch, String name, int bytes, long time) {
    now = time;
    Entry<F> entry = entries.get(fetch);
    Job job = entry == null ? null : groups.find(name);
    if (entry != null && job != null && (entry.wants & job.bit) != 0) {
      entry.had.merge(job, (long) bytes, Long::sum);
      unwantIfRead(entry, job);
      goOn();
    }
  }

  /** Before its open is known, an item that was read could be fetched ahead of its reader again. */
  private void unwantIfRead(Entry<F> entry, Job job) {
    if (entry.had.getOrDefault(job, 0L) >= entry.bytes && job.hasOpened(entry.pass, entry.file)) {
      unwant(entry, job);
    }
  }

  /**
   * Notes that a fetch is complete, and that its item has not become resident.
   *
   * @return whether its bytes are to be kept until {@link #nextToLetGo} returns it
   */
  public boolean keeps(F fetch) {
    Entry<F> entry = entries.get(fetch);
    if (entry == null || entry.waits) {
      return false;
    }
    entry.complete = true;
    return true;
  }

  /** Notes that a fetch is over: its bytes are gone, or its item is resident. */
  public void ended(F fetch, long time) {
    now = time;
    Entry<F> entry = entries.get(fetch);
    if (entry != null) {
      if (entry.waits) {
        letPass(entry); // its next step sees that it is over
      } else {
        entry.complete = false;
        release(entry);
      }
      goOn();
    }
  }

  // --- delays

  private long delayedInPass(Job job) {
    return job.delayedInPass + (job.delayed > 0 ? now - job.delayedSince : 0);
  }

  private void delay(Entry<F> entry, Job awaited, long patience) {
    entry.waits = true;
    entry.awaited = awaited;
    entry.deadline = now + patience;
    add(entry);
    delayed.add(entry);
    if (entry.owner.delayed == 0) {
      entry.owner.delayedSince = now;
    }
    entry.owner.delayed++;
  }

  private void endDelay(Entry<F> entry) {
    entry.waits = false;
    delayed.remove(entry);
    Job owner = entry.owner;
    owner.delayed--;
    if (owner.delayed == 0) {
      owner.delayedInPass += now - owner.delayedSince;
      entry.group.delayedNanos += now - owner.delayedSince;
    }
  }

  /** Has a delayed miss go on whose bytes are not kept. */
  private void letPass(Entry<F> entry) {
    endDelay(entry);
    remove(entry);
    toGoOn.add(entry.fetch);
  }

  /** Has delayed misses go on that have room now, in the order in which they came. */
  private void goOn() {
    for (Entry<F> first = delayed.peek(); first != null && fits(first); first = delayed.peek()) {
      goOnKept(first);
    }
  }

  private void goOnKept(Entry<F> entry) {
    endDelay(entry);
    take(entry);
    toGoOn.add(entry.fetch);
  }

  /**
   * Notes that another reader waits for a fetch: if the fetch is delayed, it goes on now.
   *
   * @param thread the reader's; the one for which it is delayed does not count
   */
  public void joined(F fetch, int thread, long time) {
    now = time;
    Entry<F> entry = entries.get(fetch);
    if (entry != null && entry.waits && entry.thread != thread) {
      if (fits(entry)) {
        goOnKept(entry);
      } else {
        letPass(entry);
        goOn(); // a smaller one may have waited behind it
      }
    }
  }

  /** Has the misses go on that have waited for long enough. To be called several times a second. */
  public void expire(long time) {
    now = time;
    for (Entry<F> entry : List.copyOf(delayed)) {
      if (entry.waits && now - entry.deadline >= 0) {
        if (entry.awaited != null) {
          entry.awaited.exhausted = true;
        }
        endDelay(entry);
        remove(entry);
        boolean unused = makeRoom(entry);
        toGoOn.add(entry.fetch);
      }
    }
    goOn();
  }

  /** Returns how many misses are delayed. */
  public int delayed() {
    return delayed.size();
  }

  // --- consequences

  /** Returns a kept fetch whose bytes nobody wants any more; null if there is none. */
  public @Nullable F nextToLetGo() {
    return toLetGo.poll();
  }

  /** Returns a delayed fetch that goes on; null if there is none. */
  public @Nullable F nextToGoOn() {
    return toGoOn.poll();
  }

  /** Returns the bytes that are kept, or being fetched to be kept. */
  public long heldBytes() {
    return held;
  }

  /** Returns the convoys of at least two jobs, by their first jobs. */
  public List<Convoy> convoys() {
    List<Convoy> all = new ArrayList<>();
    for (Group group : groups.all()) {
      if (group.active() >= 2) {
        List<String> names =
            group.jobs.stream().filter(Job::isActive).map(job -> job.name).sorted().toList();
        all.add(new Convoy(names, group.heldBytes, group.delayedNanos));
      }
    }
    all.sort(Comparator.comparing(convoy -> convoy.jobs.get(0)));
    return all;
  }

  /** Throws if a sum is wrong, the budget is passed, or somebody is waited for in vain. */
  public void check() {
    groups.check();
    long bytes = 0;
    long room = 0;
    int waiting = 0;
    for (Entry<F> entry : entries.values()) {
      if (entry.wants == 0) {
        throw new IllegalStateException("nobody wants " + entry.fetch);
      }
      bytes += entry.waits ? 0 : entry.bytes;
      room += entry.waits ? 0 : room(entry);
      waiting += entry.waits ? 1 : 0;
      for (Job job : groups.jobs()) {
        boolean wants = (entry.wants & job.bit) != 0;
        if (wants && (job.stopped || !job.wants(entry.pass, entry.file))) {
          throw new IllegalStateException(job.name + " does not want " + entry.fetch);
        }
      }
    }
    if (bytes != held || room != taken || taken > budget || waiting != delayed.size()) {
      throw new IllegalStateException(held + " bytes of " + budget + " are " + bytes);
    }
    Entry<F> first = delayed.peek();
    if (first != null && fits(first)) {
      throw new IllegalStateException(first.fetch + " waits, though there is room");
    }
  }
}
