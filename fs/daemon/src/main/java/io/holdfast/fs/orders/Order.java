package io.holdfast.fs.orders;

import io.holdfast.fs.ControlInodes;
import io.holdfast.fs.ItemKey;
import io.holdfast.fs.figures.OrderFigures;
import io.holdfast.fs.orders.PredictedFile.State;
import io.holdfast.fs.plan.JobPlace;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.Transit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The order of a job, and where the job is in it. Opens tell that: a file that is opened is looked
 * for near the furthest place where one was found. Workers of a loader read batches side by side,
 * so each thread has a place of its own, and the files behind each thread's place are fetched next.
 * A loader may open a file twice, to look at it and to read it: the second open changes nothing.
 *
 * <p><b>The reach.</b> Files are looked for, and kept for their readers, as far from the furthest
 * place as readers are apart, and as far again. So much of the pass is known, with the memory that
 * it takes, and no more: an order that reaches far does not see that the job has been started
 * again, if it is not further back. A thread counts if it reads on from where it was: where an
 * order is wrong, opens are anywhere.
 *
 * <p><b>The window.</b> Bytes that were fetched and have not found their reader: see {@link
 * BandwidthDelay}, and a few files more.
 *
 * <p><b>The beginning.</b> The first readers would wait as long as without an order, and the job
 * would be late from then on. So if the job has just read the pass before, the first window is
 * fetched before the job opens anything, as far as half of the allowance goes. If the job does not
 * go on in time, that is not done again.
 *
 * <p><b>Pauses.</b> A job may pause in the middle of a pass, for a validation or a checkpoint. When
 * the first file of its window has waited too long, nothing is fetched until the job opens a file.
 *
 * <p><b>Orders that are wrong.</b> In one pass, the bytes that wait for their readers and those
 * whose readers did not come are together never more than {@link #ALLOWED} of the bytes that the
 * pass would fetch without the order. So a wrong order never costs more, whatever is wrong with it.
 * If so much was in vain, nothing is fetched in the rest of the pass, and a learned order is over.
 * After {@link #SURPRISES} files in a row that are not near, nothing is fetched until a file is
 * near again; a learned order is over then. After {@link #LOST} of them, and again after twice as
 * many, an announced order is looked through for the file opened last: the job may have been
 * started again.
 *
 * <p>A state machine without a clock, thread or I/O of its own. Thread-safe: the monitor guards all
 * fields, and is held while {@link DatasetFiles} is asked.
 */
final class Order {
  /**
   * Places before and behind the furthest one where files are looked for, unless readers are
   * further apart.
   */
  static final int NEAR = 4096;

  /** The same, however far apart readers are. */
  static final int FURTHEST = 8 * NEAR;

  /** The part of a pass's bytes that may be fetched without a reader. */
  static final double ALLOWED = 0.04;

  /** Opens in a row, of files that are not near, after which nothing is fetched ahead. */
  static final int SURPRISES = 3;

  /** Opens in a row, of files that are not near, after which the job is looked for. */
  static final int LOST = 16;

  /** How many opens tell where the job is: most of them must be near one another. */
  private static final int TRACES = 8;

  /** How many files behind the furthest one no file is read any more that was opened. */
  private static final int PASSED = 128;

  /** A file that is read is within one of so many parts of the pass from the furthest place. */
  private static final int PASS_PARTS = 16;

  /** How far behind the furthest place a thread may be in any case. */
  private static final int LEAST_BEHIND = 16;

  /** The fewest files of a window: as many turns as an origin has at first. */
  private static final int LEAST_FILES = 16;

  /** How long nothing is fetched after a fetch has made way for others, unless one arrives. */
  private static final long PAUSE_NANOS = 5_000_000;

  /** For so many opens of a pass there may be a thread that has yet to open its first file. */
  private static final int LATE = NEAR / 2;

  /** The most threads whose places are known. */
  private static final int MOST_READERS = 64;

  /** A thread that reads on opens a file within so many places behind its last one. */
  private static final int STEP = 64;

  /**
   * After so many of these steps in a row a thread counts as a reader; in a wrong order none is.
   */
  private static final int STEPS = 2;

  /** A thread that has opened no file for so many opens of the job does not count as a reader. */
  private static final int SILENT = 4096;

  /** How many files of the beginning show that the job begins again. */
  private static final int FIRST_FILES = 64;

  private static final String OTHER_FILES =
      "reads other files than its order says: nothing is fetched ahead for now";

  final String job;

  /** The job's number in the plan of several nodes; 0 if it has no part in one. */
  volatile int planned;

  private final OrderPlan plan;

  /** The files of this pass. */
  private FileSequence sequence;

  /** The files of the passes after this one; after the last of them, it begins again. */
  private final Deque<FileSequence> following = new ArrayDeque<>();

  /** Returns how far this order may reach, so that all orders together have room in the heap. */
  private final ToIntFunction<Order> mostReach;

  /**
   * How many places before and behind the furthest one are known: {@link #NEAR} times a power of
   * two, and twice as far as readers are apart, up to {@link #FURTHEST}. Volatile for {@link
   * #reach()}.
   */
  private volatile int reach = NEAR;

  /** The reach that readers need, as far as this pass has told. */
  private int neededReach;

  /** Whether there may be threads that have yet to open their first file of this pass. */
  private boolean isBeginning;

  private final DatasetFiles files;
  private final long patienceNanos;

  /** The files near the furthest place, by position modulo the length. */
  private @Nullable PredictedFile[] near = new PredictedFile[2 * NEAR];

  private Map<Long, PredictedFile> byInode = new HashMap<>();

  /** The first files of this pass, by inode. */
  private Set<Long> firstFiles;

  /** The same of the pass after this one. */
  private Set<Long> firstOfNext = Set.of();

  private final LinkedHashMap<Integer, Place> readers = new LinkedHashMap<>(16, 0.75f, true);

  /** The last open of each thread, in this pass or the one before; the newest comes last. */
  private final LinkedHashMap<Integer, LastOpen> lastOpens = new LinkedHashMap<>(16, 0.75f, true);

  private final Deque<PredictedFile> waiting = new ArrayDeque<>();

  /** The positions that are in {@link #near}: from the first to before the other. */
  private int nearFrom;

  private int nearTo;

  /** The place behind the furthest file that was opened. */
  private int position;

  private int openedInPass;

  /** The first place of this pass that was not opened. */
  private int lowest;

  /** The passes before this one. */
  private int passes;

  /** All opens of the job, and how many of them there were when this pass began. */
  private long opens;

  private long opensBefore;

  /** All opens of the job since the allowance is as it is. */
  private long opensOfAllowance;

  private int turn;
  private int row;

  /** How many files in a row were near. */
  private int nearRow;

  /** How many opens in a row, of files that are not near, have the job looked for. */
  private int lostAfter = LOST;

  /** Whether the first files are fetched before the job opens any. */
  private boolean early;

  /** Whether the job did not begin in time once. */
  private boolean earlyInVain;

  /** Where the first reader will begin, as the thread that opened a file last. */
  private Place start = new Place(0);

  /** Whether the pass's bytes are known; nothing is fetched before. */
  private boolean begun;

  /** Whether a file's reader did not come in time, and the job has opened no file since. */
  private boolean pausing;

  /** Whether so much was in vain that nothing is fetched in the rest of the pass. */
  private boolean abandoned;

  private boolean toldOfWaste;

  /** Whether a learned order has ended: the job reads something else. */
  private boolean over;

  /** Whether the job may be far from where it was seen last. */
  private boolean lost;

  /** The inodes of the last files that were not near, since a file was; the newest comes last. */
  private final Deque<Long> elsewhere = new ArrayDeque<>();

  private long lastOpen;
  private long allowance;
  private long meanBytes;
  private long windowBytes;
  private long unusedBytes;
  private long pausedUntil;
  private long wastedInPass;

  private final BandwidthDelay ahead;

  /** Whether the job reads this pass again, so that the residents are spread over it. */
  private boolean repeats;

  /** The files that the job had opened in this pass before it was followed. */
  private BitSet openedBefore = new BitSet();

  /** The place behind those files. */
  private int followedFrom;

  /** Spreads the residents over this pass; null if nothing is to be swapped. */
  private @Nullable OrderSpread spread;

  /** Whether residents were to make way in the last pass that was looked at. */
  private boolean spreads;

  private long prefetchedItems;
  private long usedItems;
  private long wastedBytes;
  private long surprises;
  private String trouble = "";
  private boolean toldOfSurprises;
  private boolean toldOfChanges;

  /**
   * Where a job is in its order.
   *
   * @param pass how many passes there were before this one
   * @param position the place behind the furthest file that was opened in this pass
   * @param opened how many files were opened in this pass
   */
  record Progress(int pass, int position, int opened) {
    /** Nothing was opened. */
    static final Progress NONE = new Progress(0, 0, 0);

    static final int BYTES = 3 * Integer.BYTES;
  }

  /** Where a thread is, and up to where the files behind it have been looked at. */
  private static final class Place {
    final int thread;
    int position;
    int next;

    /** The number of the job's open that was the thread's last one here. */
    long lastOpen;

    /** How often the thread has gone on from its place before; one that begins counts, too. */
    int steps = STEPS;

    Place(int thread) {
      this.thread = thread;
    }
  }

  /**
   * An open.
   *
   * @param number counts the opens of the job
   */
  private record LastOpen(long inode, long number) {}

  /**
   * A file to be fetched.
   *
   * @param item all of it
   * @param thread the thread that is expected to read it
   */
  record Fetch(PredictedFile file, Item item, int thread) {}

  /**
   * Creates an order that has not begun.
   *
   * @param patienceNanos how long a fetched file waits for its reader: later its pages may have
   *     been dropped
   * @param mostReach returns how many places before and behind its furthest one an order may know;
   *     called under the monitor
   */
  Order(
      OrderPlan plan,
      DatasetFiles files,
      long patienceNanos,
      long now,
      ToIntFunction<Order> mostReach) {
    this.plan = plan;
    this.job = plan.job();
    this.sequence = plan.files();
    this.early = plan.early();
    this.mostReach = mostReach;
    this.files = files;
    lost = plan.resumed();
    lastOpen = plan.resumed() ? now - patienceNanos : now;
    this.patienceNanos = patienceNanos;
    pausedUntil = now;
    ahead = new BandwidthDelay(now);
    firstFiles = firstFiles(sequence);
    opensOfAllowance = plan.progress().opened;
    beginAt(plan.progress().position, plan.progress().opened);
  }

  /** The files before a position were opened, as far as they still count. */
  private void beginAt(int to, int opened) {
    position = Math.min(to, sequence.size());
    nearFrom = Math.max(0, position - reach);
    nearTo = nearFrom;
    lowest = nearFrom;
    isBeginning = position == 0;
    openedInPass = 0;
    fill(); // counts files that come twice, which may have been counted
    for (int i = nearFrom; i < position; i++) {
      at(i).used = true;
    }
    openedInPass = Math.max(openedInPass, Math.min(opened, sequence.size()));
  }

  private Set<Long> firstFiles(FileSequence of) {
    Set<Long> first = new HashSet<>();
    for (int i = 0; i < Math.min(FIRST_FILES, of.size()); i++) {
      first.add(files.inode(of.get(i)));
    }
    return first;
  }

  /** Adds a pass, which begins when those before it have been read. */
  synchronized void then(FileSequence pass) {
    following.add(pass);
    if (following.size() == 1) {
      firstOfNext = firstFiles(pass);
    }
    goOnIfRead();
  }

  /** Takes over what the job's order before this one knew of the job and of the origin. */
  void follow(Order before) {
    int thread;
    BandwidthDelay measured;
    synchronized (before) {
      thread = before.start.thread;
      measured = before.ahead.copy();
    }
    synchronized (this) {
      neededReach = before.reach;
      ahead.follow(measured);
      start = new Place(thread);
    }
  }

  // --- the residents

  /**
   * Notes that the job has read this pass before.
   *
   * @param opened tells whether the job has opened a file, by inode, in this pass
   */
  synchronized void repeats(LongPredicate opened) {
    repeats = true;
    followedFrom = position;
    for (int i = 0; i < position; i++) {
      openedBefore.set(i, opened.test(files.inode(sequence.get(i))));
    }
  }

  /**
   * Notes that a program reads an item that is not resident. If its file's turn was long ago, the
   * job does not read in the order of its opens, so that nobody knows what it has read.
   */
  synchronized void asked(Item item) {
    if (spread != null) {
      PredictedFile file = near(item);
      if (file == null || file.position < position - PassRecorder.reach(sequence.size())) {
        spread = null;
      }
    }
  }

  /** Tells whether an item is to take the place of a resident. */
  synchronized boolean wants(Item item) {
    PredictedFile file = spread == null ? null : near(item);
    return spread != null && file != null && spread.wants(file.position, item);
  }

  /** Returns the resident that makes way for an item; null if there is none. */
  synchronized @Nullable ItemKey victim(Item item, long freePages, long slackPages) {
    PredictedFile file = spread == null ? null : near(item);
    return spread == null || file == null
        ? null
        : spread.victim(file.position, item, freePages, slackPages);
  }

  /** Notes that an item has taken the place of a resident. */
  synchronized void swapped(Item item) {
    PredictedFile file = spread == null ? null : near(item);
    if (spread != null && file != null) {
      spread.swapped(file.position, item);
    }
  }

  private @Nullable PredictedFile near(Item item) {
    PredictedFile file = byInode.get(files.inode(item.node()));
    return file == null || file.id != item.node() ? null : file;
  }

  /** Returns the place of the first file that some reader may still be at work on. */
  private int passed() {
    return position - Math.min(PASSED, PassRecorder.reach(sequence.size()));
  }

  /** Begins to swap, for a pass that has been looked at. */
  private void spread(@Nullable OrderSpread chosen) {
    spread = chosen;
    spreads = chosen != null;
    if (chosen == null) {
      return;
    }
    for (int i = openedBefore.nextSetBit(0); i >= 0; i = openedBefore.nextSetBit(i + 1)) {
      chosen.opened(i);
    }
    for (int i = Math.max(nearFrom, followedFrom); i < nearTo; i++) {
      if (at(i).used) {
        chosen.opened(i);
      }
    }
  }

  // --- opens

  /**
   * Notes that a thread of the job has opened a file.
   *
   * @return the file that was fetched ahead of this open; null if none was
   */
  synchronized @Nullable PredictedFile opened(int thread, long inode) {
    pausing = false;
    if (isSecondOpen(thread, inode)) {
      return null;
    }
    opensOfAllowance++;
    PredictedFile file = byInode.get(inode);
    if (isPassOver() && (file == null || file.used || isFar(file)) && begins(inode)) {
      file = byInode.get(inode);
    }
    if (lost && (file == null || isFar(file))) {
      noteElsewhere(inode); // it is looked for on a thread that may take its time
      return null;
    }
    lost = false;
    if (file == null || (file.used && file.position < passed())) {
      spread = null; // another reader is far behind this one
    }
    if (file == null || isFar(file)) {
      surprise(inode);
      return null;
    }
    if (file.used) {
      return null; // opened again
    }
    noteNear();
    boolean found = file.isUnused();
    if (found) {
      usedItems += file.state == State.FETCHED ? 1 : 0; // else it counts if it arrives
      unusedBytes -= file.bytes;
    }
    file.used = true;
    openedInPass++;
    if (spread != null) {
      spread.opened(file.position);
    }
    ahead.read(file.bytes == 0 ? meanBytes : file.bytes);
    move(thread, file.position);
    goOnIfRead();
    return found ? file : null;
  }

  /**
   * Tells whether a thread opens the same file once more for one read of it. The first files of a
   * pass are read once more after the end of the one before, and a thread that opens one file in
   * each pass reads it once more after the job has opened the others.
   */
  private boolean isSecondOpen(int thread, long inode) {
    opens++;
    LastOpen last = lastOpens.put(thread, new LastOpen(inode, opens));
    if (lastOpens.size() > MOST_READERS) {
      lastOpens.remove(lastOpens.keySet().iterator().next());
    }
    if (last == null || last.inode != inode || isMost(opens - last.number)) {
      return false;
    }
    return last.number > opensBefore || !firstFiles.contains(inode);
  }

  /** Tells whether a file has to be {@linkplain #find looked for} in the whole pass. */
  synchronized boolean isLost() {
    return lost && !elsewhere.isEmpty();
  }

  private void noteNear() {
    row = 0;
    elsewhere.clear();
    if (++nearRow >= lostAfter) {
      lostAfter = LOST; // it was found rightly
    }
  }

  private void noteElsewhere(long inode) {
    nearRow = 0;
    elsewhere.remove(inode);
    elsewhere.add(inode);
    if (elsewhere.size() > TRACES) {
      elsewhere.remove();
    }
  }

  /**
   * Finds the job by the files that it has opened last. They lie together if it reads this pass:
   * those of another pass of the same files lie anywhere. Takes some time for a long order.
   */
  void find() {
    FileSequence pass;
    List<Long> traces;
    synchronized (this) {
      pass = sequence;
      traces = List.copyOf(elsewhere);
    }
    if (traces.isEmpty()) {
      return; // the job has opened a file that is near
    }
    int[] places = new int[traces.size()];
    Arrays.fill(places, -1);
    for (int i = 0; i < pass.size(); i++) {
      int trace = traces.indexOf(files.inode(pass.get(i)));
      if (trace >= 0 && places[trace] < 0) {
        places[trace] = i;
      }
    }
    int last = places[places.length - 1];
    int apart = Math.max(reach, Math.min(FURTHEST, pass.size() / PASS_PARTS));
    int[] distances =
        Arrays.stream(places)
            .filter(each -> each >= 0)
            .map(each -> Math.abs(each - last))
            .filter(each -> each <= apart)
            .toArray();
    int found = 4L * distances.length >= 3L * places.length ? last : -1;
    boolean hasChanged = found < 0 && !changes(pass).isEmpty();
    synchronized (this) {
      if (!lost || pass != sequence) {
        return; // it was near
      }
      lost = false;
      if (found < 0) { // it opens other files: a surprise from now on
        trouble = hasChanged && !toldOfChanges ? OTHER_FILES : trouble;
        return;
      }
      int opened = openedInPass + found + 1 - position; // those between are taken as opened
      neededReach = Math.max(neededReach, 2 * Arrays.stream(distances).max().orElse(0));
      leaveAllBehind();
      renewAllowance();
      byInode.clear();
      readers.clear();
      waiting.clear();
      beginAt(found + 1, found < position ? Math.min(openedInPass, found + 1) : opened);
    }
  }

  private void goOnIfRead() {
    if (openedInPass >= sequence.size() && !following.isEmpty()) {
      goOn();
    }
  }

  /** Begins the next pass, or this one again, if a file is one of its first. */
  private boolean begins(long inode) {
    if (!(following.isEmpty() ? firstFiles : firstOfNext).contains(inode)) {
      return false;
    }
    if (following.isEmpty()) {
      leaveAllBehind();
      repeats = true;
      beginPass();
    } else {
      goOn();
    }
    return true;
  }

  /** Begins the pass after this one. */
  private void goOn() {
    leaveAllBehind();
    sequence = following.remove();
    passes++;
    repeats = false;
    firstFiles = firstOfNext;
    firstOfNext = following.isEmpty() ? Set.of() : firstFiles(following.element());
    early = !earlyInVain;
    beginPass();
  }

  /** Tells whether a file that is known is too far away for a learned order. */
  private boolean isFar(PredictedFile file) {
    return plan.isLearned()
        && Math.abs(file.position - position) > PassRecorder.reach(sequence.size());
  }

  private void surprise(long inode) {
    surprises++;
    row++;
    isBeginning &= row < SURPRISES;
    noteElsewhere(inode);
    if (plan.isLearned()) {
      over |= row >= SURPRISES;
      return;
    }
    if (row == SURPRISES && !toldOfSurprises) {
      toldOfSurprises = true;
      trouble = OTHER_FILES;
    }
    if (row >= lostAfter) {
      lostAfter *= 2;
      lost = true;
    }
  }

  private boolean isPassOver() {
    return isMost(openedInPass);
  }

  private boolean isMost(long opens) {
    return opens >= 0.9 * sequence.size();
  }

  private void move(int thread, int to) {
    if (readers.isEmpty()) {
      ahead.begin();
    }
    if (start.thread != thread) {
      start = new Place(thread);
    }
    Place place = readers.get(thread);
    if (place == null) {
      place = new Place(thread);
      readers.put(thread, place);
    } else {
      boolean isStep = place.position < to && to - place.position <= STEP;
      place.steps = isStep ? place.steps + 1 : 0;
    }
    if (place.next <= to || to < place.position) {
      place.next = to + 1;
    }
    place.position = to;
    place.lastOpen = opens;
    if (readers.size() > MOST_READERS) {
      Integer eldest = readers.keySet().iterator().next();
      readers.remove(eldest);
    }
    boolean isFurthest = to >= position;
    position = Math.max(position, to + 1);
    if (spread != null) {
      spread.passed(passed());
    }
    if (isFurthest && !plan.isLearned()) { // one that is learned is over when readers are too far
      reachReaders();
    }
    while (nearFrom < position - reach) {
      leaveBehind(at(nearFrom));
      nearFrom++;
    }
    fill();
  }

  /**
   * Reaches further if readers are far apart, before anything is left behind. Twice as far as they
   * are apart, since a worker that begins its next batch is ahead of the furthest one by as much.
   */
  private void reachReaders() {
    neededReach = Math.max(neededReach, 2 * (position - hindmost()));
    if (isBeginning && opens - opensBefore <= LATE) { // the one that reads the first files
      neededReach = Math.max(neededReach, position);
    }
    if (neededReach > reach) {
      setReach(Math.max(reach, reachWithin(Math.min(FURTHEST, mostReach.applyAsInt(this)))));
    }
  }

  /** Returns the reach that readers need, or less if that is more than a bound. */
  private int reachWithin(int most) {
    int places = NEAR;
    while (places < Math.min(neededReach, sequence.size()) && 2 * places <= most) {
      places *= 2;
    }
    return places;
  }

  /** Returns the place of the last of the threads that read. */
  private int hindmost() {
    int hindmost = position;
    for (Place each : readers.values()) {
      if (each.steps >= STEPS && opens - each.lastOpen <= SILENT) {
        hindmost = Math.min(hindmost, each.position);
      }
    }
    return hindmost;
  }

  /** Sets the reach; the files that are known stay known. */
  private void setReach(int places) {
    if (places == reach) {
      return;
    }
    @Nullable PredictedFile[] known = new PredictedFile[2 * places];
    for (int i = nearFrom; i < nearTo; i++) {
      known[i % known.length] = at(i);
    }
    near = known;
    reach = places;
  }

  private void leaveBehind(PredictedFile file) {
    if (file.isUnused()) {
      waste(file);
    }
    byInode.remove(file.inode, file);
  }

  private void fill() {
    // where nothing is behind the furthest one, twice as many are ahead: any worker may come first
    int end = Math.min(sequence.size(), Math.max(position, reach) + reach);
    while (nearTo < end) {
      long id = sequence.get(nearTo);
      PredictedFile file = new PredictedFile(nearTo, id, files.inode(id));
      near[nearTo % near.length] = file;
      PredictedFile other = byInode.get(file.inode);
      if (other == null || other.used) {
        byInode.put(file.inode, file);
      } else {
        file.used = true; // the other place of the same file stands for both
        openedInPass++;
      }
      nearTo++;
    }
  }

  private PredictedFile at(int place) {
    PredictedFile file = near[place % near.length];
    if (file == null || file.position != place) {
      throw new IllegalStateException("place " + place + " is not near " + position);
    }
    return file;
  }

  private void leaveAllBehind() {
    for (int i = nearFrom; i < nearTo; i++) {
      leaveBehind(at(i));
    }
  }

  private void renewAllowance() {
    if (isMost(opensOfAllowance)) {
      wastedInPass = 0;
      opensOfAllowance = 0;
      abandoned = false;
    }
  }

  private void beginPass() {
    nearFrom = 0;
    nearTo = 0;
    setReach(reachWithin(reach));
    neededReach = 0;
    isBeginning = true;
    byInode = new HashMap<>(); // not cleared: its table may be that of another reach
    readers.clear();
    waiting.clear();
    if (plan.isLearned() && wastedInPass > allowance / 2) {
      abandon();
    }
    renewAllowance();
    position = 0;
    openedInPass = 0;
    opensBefore = opens;
    lowest = 0;
    unusedBytes = 0;
    begun = false;
    start = new Place(start.thread);
    lost = false;
    lostAfter = LOST;
    elsewhere.clear();
    openedBefore = new BitSet();
    followedFrom = 0;
    spread = null;
    fill();
  }

  // --- what is fetched

  /** Tells whether the pass's bytes have to be counted; see {@link #begin}. */
  synchronized boolean isToBegin() {
    return !begun && !abandoned && !over && (early || !readers.isEmpty());
  }

  /**
   * Counts the bytes that are missing for the pass, and chooses the residents that are to make way.
   * Takes some time for a long order, without the monitor.
   */
  void begin() {
    FileSequence pass;
    boolean again;
    boolean goesOn;
    synchronized (this) {
      pass = sequence;
      again = repeats && files.maySwap();
      goesOn = spreads;
    }
    long bytes = 0;
    int count = 0;
    for (int i = 0; i < pass.size(); i++) {
      Item item = files.missing(pass.get(i));
      bytes += item == null ? 0 : item.length();
      count += item == null ? 0 : 1;
    }
    OrderSpread chosen = again ? OrderSpread.over(pass, files, goesOn) : null;
    synchronized (this) {
      if (pass != sequence) {
        return; // the job has gone on to the next one
      }
      begun = true;
      over |= bytes > plan.mostBytes();
      spread(over ? null : chosen);
      allowance = (long) (ALLOWED * bytes);
      meanBytes = count == 0 ? 0 : bytes / count;
    }
  }

  /**
   * Returns the next file to fetch; null if none is to be fetched now.
   *
   * @param most bytes that may wait for their readers
   */
  synchronized @Nullable Fetch next(long now, long most) {
    giveUpLate(now);
    boolean stops = abandoned || over || pausing || row >= SURPRISES;
    if (!begun || stops || now - pausedUntil < 0) {
      return null;
    }
    windowBytes = Math.min(most, ahead.bytes(now, !readers.isEmpty()) + LEAST_FILES * meanBytes);
    List<Place> places = places();
    for (int i = 0; i < places.size() && !abandoned; i++) {
      Fetch next = next(places.get((turn + i) % places.size()));
      if (next != null) {
        turn = (turn + i + 1) % places.size();
        return next;
      }
    }
    return null;
  }

  private List<Place> places() {
    if (readers.isEmpty()) {
      return early ? List.of(start) : List.of();
    }
    return new ArrayList<>(readers.values());
  }

  private @Nullable Fetch next(Place place) {
    place.next = Math.max(place.next, nearFrom);
    int end = Math.min(nearTo, position + NEAR);
    while (place.next < end) {
      PredictedFile file = at(place.next);
      if (!file.used && file.state == State.AHEAD) {
        Item item = files.missing(file.id);
        if (item == null) {
          file.state = State.LEFT;
        } else if (!files.isCached(item)) { // what is cached may be dropped before its reader comes
          return mayFetch(item.length()) ? fetch(file, item, place.thread) : null;
        }
      }
      place.next++;
    }
    return null;
  }

  private boolean mayFetch(int bytes) {
    long most = readers.isEmpty() ? allowance / 2 : allowance;
    if (unusedBytes + wastedInPass + bytes > most) {
      if (wastedInPass > allowance / 2 && unusedBytes == 0) {
        abandon();
      }
      return false;
    }
    return unusedBytes + bytes <= windowBytes;
  }

  private void abandon() {
    abandoned = true;
    if (plan.isLearned()) {
      over = true;
      return;
    }
    if (!toldOfWaste) {
      toldOfWaste = true;
      trouble =
          "does not read what its order says, so nothing is fetched ahead in the rest of this pass:"
              + " %d bytes were in vain".formatted(wastedInPass);
    }
  }

  private Fetch fetch(PredictedFile file, Item item, int thread) {
    file.state = State.FETCHING;
    file.bytes = item.length();
    unusedBytes += file.bytes;
    return new Fetch(file, item, thread);
  }

  /**
   * Notes that a fetch has ended.
   *
   * @param how how it has ended
   * @param nanos how long it took
   */
  synchronized void ended(PredictedFile file, Transit.Ahead how, long nanos, long now) {
    boolean arrived = how == Transit.Ahead.ARRIVED;
    if (arrived) {
      prefetchedItems++;
      ahead.fetched(nanos);
      pausedUntil = now;
    }
    if (file.state != State.FETCHING) {
      return; // left behind meanwhile
    }
    if (arrived) {
      usedItems += file.used ? 1 : 0;
      file.state = State.FETCHED;
      file.arrived = now;
      waiting.add(file);
    } else {
      unusedBytes -= file.used ? 0 : file.bytes;
      file.state = State.LEFT;
      if (how == Transit.Ahead.POSTPONED && !file.used) {
        postpone(file, now);
      }
    }
  }

  /** Has a file fetched later, before the files behind it. */
  private void postpone(PredictedFile file, long now) {
    file.state = State.AHEAD;
    pausedUntil = now + PAUSE_NANOS;
    for (Place place : places()) {
      if (place.position <= file.position) {
        place.next = Math.min(place.next, file.position);
      }
    }
  }

  private void giveUpLate(long now) {
    for (PredictedFile first = waiting.peek(); first != null; first = waiting.peek()) {
      if (first.isUnused() && now - first.arrived < patienceNanos) {
        return;
      }
      if (first.isUnused()) {
        waste(first);
        pausing = true;
      }
      waiting.remove();
    }
  }

  private void waste(PredictedFile file) {
    // what became resident meanwhile is not in vain
    if (files.missing(file.id) != null) {
      wastedBytes += file.bytes;
      wastedInPass += file.bytes;
    }
    unusedBytes -= file.bytes;
    file.state = State.WASTED;
    if (readers.isEmpty()) {
      early = false;
      earlyInVain = true;
    }
  }

  /** Tells whether it was found from opens, and not announced. */
  boolean isLearned() {
    return plan.isLearned();
  }

  /** Tells whether it is a learned order that the job does not read any more. */
  synchronized boolean isOver() {
    return over;
  }

  /** Tells whether the job has opened a file since it has the order. */
  synchronized boolean hasBegun() {
    return opens > 0;
  }

  /** Returns when the job last opened a file. */
  synchronized long lastOpen() {
    return lastOpen;
  }

  /** Tells whether the job has just opened a file. */
  synchronized boolean isRead(long now) {
    return opensOfAllowance > 0 && now - lastOpen < patienceNanos;
  }

  /** Notes when the job opened a file. */
  synchronized void noteOpen(long now) {
    lastOpen = now;
  }

  /** Tells whether nothing is fetched ahead in this pass any more: too much was in vain. */
  synchronized boolean isAbandoned() {
    return abandoned;
  }

  /**
   * Returns the words that the log has not had yet about the order; empty if there are none. If
   * there are some, looks through the pass, which takes some time for a long order.
   */
  String takeTrouble() {
    String taken;
    FileSequence pass;
    synchronized (this) {
      taken = trouble;
      trouble = "";
      pass = sequence;
    }
    if (taken.isEmpty()) {
      return taken;
    }
    String changes = changes(pass);
    synchronized (this) {
      toldOfChanges |= !changes.isEmpty();
    }
    return taken + changes;
  }

  /** Returns words about the files of a pass that have gone; empty if they are not most of them. */
  private String changes(FileSequence pass) {
    int gone = 0;
    for (int i = 0; i < pass.size(); i++) {
      gone += files.inode(pass.get(i)) == ControlInodes.NO_FILE ? 1 : 0;
    }
    return gone > pass.size() / 2
        ? "; %,d of the %,d files of this pass have changed since they were announced, fix: announce the order again"
            .formatted(gone, pass.size())
        : "";
  }

  /**
   * Returns the bytes that were fetched, or are being fetched, for readers who have yet to come.
   */
  synchronized long unusedBytes() {
    return unusedBytes;
  }

  /** Returns where the job is. */
  synchronized Progress progress() {
    return new Progress(passes, position, openedInPass);
  }

  /**
   * Returns where the job is, for the other nodes' plans: the pass, and the first place in it that
   * was not opened. A place far behind the furthest one counts as opened, since an open may be
   * missed.
   */
  synchronized JobPlace place() {
    int far = Math.max(LEAST_BEHIND, Math.min(reach, sequence.size() / PASS_PARTS));
    lowest = Math.max(lowest, Math.max(nearFrom, position - far));
    while (lowest < nearTo && at(lowest).used) {
      lowest++;
    }
    return new JobPlace(passes, lowest, following.isEmpty());
  }

  /** Returns how many places before and behind the furthest one are known. Waits for nothing. */
  int reach() {
    return reach;
  }

  /** Returns the number of passes that have not been read, with this one. */
  synchronized int passesLeft() {
    return 1 + following.size();
  }

  /** Returns the number of files of this pass and of those after it. */
  synchronized int length() {
    int length = sequence.size();
    for (FileSequence each : following) {
      length += each.size();
    }
    return length;
  }

  synchronized OrderFigures figures() {
    return new OrderFigures(
        job,
        plan.source(),
        sequence.size(),
        position,
        windowBytes,
        prefetchedItems,
        usedItems,
        wastedBytes,
        surprises);
  }
}
