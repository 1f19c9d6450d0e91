package io.holdfast.model;

import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * One run of operations: in a directory of its own, what each does is done to the dataset and to
 * the model, and what each sees is compared with what the model allows. Not thread-safe.
 */
final class Session implements AutoCloseable {
  /** How many files may be open at once. */
  static final int SLOTS = 4;

  private static final int PIECE = 100_000;
  private static final AtomicLong SESSIONS = new AtomicLong();

  /** Contents are told apart by it; it never comes again, whatever shrinks. */
  private static final AtomicLong LAST_MODIFIED = new AtomicLong(1_000_000_000);

  private final SystemUnderTest system;
  private final String directory = "run-" + SESSIONS.incrementAndGet();
  private final OriginFiles origin;
  private final Model model;
  private String failure = "no failure";
  private final Slot[] slots = new Slot[SLOTS];

  private record Slot(Model.Held held, SystemUnderTest.Open open) {}

  Session(SystemUnderTest system, List<String> names) {
    this.system = system;
    model = new Model(names, system.believes());
    origin =
        new OriginFiles(
            system.origin().resolve(directory), system.origin().resolve("." + directory));
    refresh("");
  }

  /** Does a step, and remembers why it failed. */
  void step(Consumer<Session> step) {
    try {
      step.accept(this);
    } catch (AssertionError | RuntimeException e) {
      failure = e.toString();
      throw e;
    }
  }

  /** For who reads what jqwik says of a chain that failed. */
  @Override
  public String toString() {
    return system + ", " + directory + ": " + failure;
  }

  private String place(String path) {
    return path.isEmpty() ? directory : directory + "/" + path;
  }

  // changes at the origin

  private static byte[] noise(long seed, int size) {
    SplittableRandom random = new SplittableRandom(seed);
    ByteBuffer bytes = ByteBuffer.allocate(size + Long.BYTES);
    LongBuffer words = bytes.asLongBuffer();
    while (words.hasRemaining()) {
      words.put(random.nextLong());
    }
    return Arrays.copyOf(bytes.array(), size);
  }

  /** Directories on the way are made, and what stands in the way goes. */
  private void makeWay(String path) {
    String above = Model.parent(path);
    if (!above.isEmpty() && model.now(above).kind() != Shown.Kind.DIRECTORY) {
      directory(above);
    }
    if (model.now(path).kind() == Shown.Kind.DIRECTORY) {
      remove(path);
    }
  }

  void replace(String path, int size) {
    makeWay(path);
    long modified = LAST_MODIFIED.incrementAndGet();
    byte[] content = noise(modified, size);
    origin.replace(path, content, modified);
    model.put(path, content, modified);
  }

  void directory(String path) {
    makeWay(path);
    remove(path);
    origin.directory(path);
    model.put(path, Shown.DIRECTORY);
  }

  void link(String path, String target) {
    makeWay(path);
    remove(path);
    origin.link(path, target);
    model.put(path, Shown.link(target));
  }

  void remove(String path) {
    if (model.now(path).isThere()) {
      origin.remove(path);
      model.remove(path);
    }
  }

  void move(String from, String to) {
    Shown there = model.now(from);
    if (there.isFile() && !from.equals(to) && !to.startsWith(from + "/")) {
      makeWay(to);
      if (model.now(from).isFile()) {
        origin.move(from, to);
        model.move(from, to);
      }
    }
  }

  /** The ways in which a writer changes a file. */
  enum Edit {
    OVERWRITE,
    APPEND,
    TRUNCATE
  }

  void edit(String path, Edit edit, int bytes) {
    Shown there = model.now(path);
    if (!there.isFile()) {
      return;
    }
    long modified = LAST_MODIFIED.incrementAndGet();
    byte[] before = model.content(there);
    byte[] after;
    switch (edit) {
      case OVERWRITE -> {
        after = before.clone();
        byte[] over = noise(modified, Math.min(bytes, before.length));
        System.arraycopy(over, 0, after, 0, over.length);
        origin.write(path, over, modified);
      }
      case APPEND -> {
        byte[] more = noise(modified, bytes);
        after = Arrays.copyOf(before, before.length + bytes);
        System.arraycopy(more, 0, after, before.length, bytes);
        origin.write(path, more, modified, StandardOpenOption.APPEND);
      }
      default -> {
        after = Arrays.copyOf(before, Math.min(before.length, bytes));
        origin.write(path, after, modified, StandardOpenOption.TRUNCATE_EXISTING);
      }
    }
    model.put(path, after, modified);
  }

  // what is seen

  private void hold(String path, Shown state) {
    if (state.isFile()) {
      system.hold(place(path), state, model.content(state));
    }
  }

  void look(String path) {
    hold(path, model.saw(path, system.look(place(path))));
  }

  void readLink(String path) {
    try {
      model.sawTarget(path, system.readLink(place(path)));
    } catch (Refused e) {
      model.sawNoTarget(path, e.errno());
    }
  }

  void list(String path) {
    try {
      List<String> names = system.list(place(path));
      model.sawNames(path, names, system.listsTheMoment() && !model.isUncertain(path));
    } catch (Refused e) {
      model.sawNoNames(path, e.errno());
    }
  }

  void open(int slot, String path) {
    close(slot);
    Slot opened = open(path);
    slots[slot] = opened;
  }

  private Slot open(String path) {
    try {
      SystemUnderTest.Open open = system.open(place(path));
      try {
        Model.Held held = model.opened(path, open.look());
        hold(path, held.version());
        return new Slot(held, open);
      } catch (Refused e) {
        open.close();
        if (!model.isUncertain(path) || !e.errno().equals(Model.STALE)) {
          throw new AssertionError("'%s' is open and shows %s".formatted(path, e.errno()), e);
        }
        return null;
      }
    } catch (Refused e) {
      model.notOpened(path, e.errno());
      return null;
    }
  }

  void lookAtOpen(int slot) {
    Slot at = slots[slot];
    if (at == null) {
      return;
    }
    try {
      Shown shown = at.open.look();
      if (!at.held.version().looksLike(shown)) {
        throw new AssertionError(
            "'%s' was opened as %s and shows %s"
                .formatted(at.held.path(), at.held.version(), shown));
      }
    } catch (Refused e) {
      at.held.failed("fstat", e.errno());
    }
  }

  void read(int slot, long offset, int length) {
    if (slots[slot] != null) {
      read(slots[slot], offset, length);
    }
  }

  private static void read(Slot slot, long offset, int length) {
    try {
      slot.held.saw(offset, length, slot.open.read(offset, length));
    } catch (Refused e) {
      slot.held.failed("a read", e.errno());
    }
  }

  void close(int slot) {
    if (slots[slot] != null) {
      slots[slot].open.close();
      slots[slot] = null;
    }
  }

  /** Opens a file, reads it to its end, and closes it. */
  void readWhole(String path) {
    Slot slot = open(path);
    if (slot != null) {
      readAll(slot);
      slot.open.close();
    }
  }

  private static void readAll(Slot slot) {
    for (long at = 0; at <= slot.held.version().size(); at += PIECE) {
      read(slot, at, PIECE);
    }
  }

  /** Some open all files that are there, and read them side by side. */
  void readAllAtOnce(int threads) {
    ExecutorService readers = Executors.newFixedThreadPool(threads);
    List<Slot> opened = new ArrayList<>();
    try {
      for (String path : model.files()) {
        for (int i = 0; i < threads; i++) {
          Slot slot = open(path);
          if (slot != null) {
            opened.add(slot);
          }
        }
      }
      List<Future<?>> ends = new ArrayList<>();
      opened.forEach(slot -> ends.add(readers.submit(() -> readAll(slot))));
      for (Future<?> end : ends) {
        end.get();
      }
    } catch (ExecutionException | InterruptedException e) {
      throw new AssertionError("a reader failed: " + e.getCause(), e);
    } finally {
      // the others read on where one has failed: what they read from must not end before them
      end(readers);
      opened.forEach(slot -> slot.open.close());
    }
  }

  private static void end(ExecutorService readers) {
    readers.shutdown();
    try {
      if (!readers.awaitTermination(1, TimeUnit.MINUTES)) {
        throw new AssertionError("readers do not end");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  // what users do

  void refresh(String path) {
    try {
      system.refresh(place(path));
      model.refreshed(path);
    } catch (Refused e) {
      if (model.now(path).isThere()) {
        throw new AssertionError("'%s' cannot be refreshed: %s".formatted(path, e.errno()), e);
      }
    }
  }

  void capacity(long bytes) {
    system.capacity(bytes);
    long resident = system.residentBytes();
    if (resident > bytes) {
      throw new AssertionError("%d bytes are resident of %d".formatted(resident, bytes));
    }
  }

  void peer(boolean up) {
    system.peer(up);
  }

  /** Closes all files, and removes all that there is. */
  @Override
  public void close() {
    for (int i = 0; i < SLOTS; i++) {
      close(i);
    }
    origin.remove("");
    system.peer(true);
  }
}
