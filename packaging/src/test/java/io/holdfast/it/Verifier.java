package io.holdfast.it;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A program that reads a dataset in eight ways at once, checks every byte, and tells how long it
 * was kept waiting: {@code Verifier ROOT LIST SECONDS SEED [PAUSE_MILLIS]}. The list is one of
 * {@link Reader}. Each of its readers pauses after each operation, if it is told to. Prints {@code
 * ops=N errors=N wrong=N longest_ms=N resident_ops=N} and ends with 0 when all was well. While it
 * runs, each line of input is answered with the operations of the reader that stays with the first
 * files of the list.
 */
final class Verifier {
  private static final int BUFFER = 64 << 10;
  private static final int LARGE = 4 << 20;
  private static final int FIRST_FILES = 64;

  /** To read a large file or to list all names is as much as so many small files are. */
  private static final int PAUSES_OF_LARGE = 40;

  private final Path root;
  private final List<Item> small = new ArrayList<>();
  private final List<Item> large = new ArrayList<>();
  private final Set<String> names;
  private final long end;
  private final long pauseNanos;
  private final AtomicLong ops = new AtomicLong();
  private final AtomicLong residentOps = new AtomicLong();
  private final AtomicInteger errors = new AtomicInteger();
  private final AtomicInteger wrong = new AtomicInteger();
  private final AtomicLong longestNanos = new AtomicLong();

  /** A line of the list. */
  private record Item(long file, long size, String name) {
    static Item parse(String line) {
      String[] fields = line.split("\t", 3);
      return new Item(Long.parseLong(fields[0]), Long.parseLong(fields[1]), fields[2]);
    }
  }

  /**
   * Does one operation; throws an exception if it fails, and tells whether the content was right.
   */
  @FunctionalInterface
  private interface Operation {
    boolean run(Random random) throws IOException;
  }

  private Verifier(Path root, List<Item> items, Duration time, Duration pause) {
    this.root = root;
    for (Item item : items) {
      (item.size() >= LARGE ? large : small).add(item);
    }
    names = items.stream().map(Item::name).collect(Collectors.toCollection(TreeSet::new));
    end = System.nanoTime() + time.toNanos();
    pauseNanos = pause.toNanos();
  }

  public static void main(String[] arguments) throws IOException, InterruptedException {
    Verifier verifier =
        new Verifier(
            Path.of(arguments[0]),
            Files.readAllLines(Path.of(arguments[1]), UTF_8).stream().map(Item::parse).toList(),
            Duration.ofSeconds(Long.parseLong(arguments[2])),
            Duration.ofMillis(arguments.length > 4 ? Long.parseLong(arguments[4]) : 0));
    System.exit(verifier.run(Long.parseLong(arguments[3])) ? 0 : 3);
  }

  private boolean run(long seed) throws InterruptedException {
    Operation readsLarge = this::readLarge;
    Operation lists = this::list;
    List<Operation> readers =
        List.of(
            this::readSmall,
            this::readSmall,
            readsLarge,
            this::readAnywhere,
            this::touchMapped,
            lists,
            this::stat,
            this::readResident);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < readers.size(); i++) {
      Operation reader = readers.get(i);
      Random random = new Random(seed + i);
      boolean isLarge = reader == readsLarge || reader == lists;
      long pause = pauseNanos * (isLarge ? PAUSES_OF_LARGE : 1);
      threads.add(new Thread(() -> repeat(reader, random, pause), "reader-" + i));
    }
    Thread asked = new Thread(this::answer, "answers");
    asked.setDaemon(true);
    asked.start();
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    System.out.printf(
        "ops=%d errors=%d wrong=%d longest_ms=%d resident_ops=%d%n",
        ops.get(), errors.get(), wrong.get(), longestNanos.get() / 1_000_000, residentOps.get());
    return errors.get() + wrong.get() == 0;
  }

  private void answer() {
    try {
      while (System.in.read() >= 0) {
        System.out.println(residentOps.get());
      }
    } catch (IOException e) {
      System.err.println(e);
    }
  }

  private void repeat(Operation operation, Random random, long pause) {
    while (System.nanoTime() < end) {
      long start = System.nanoTime();
      try {
        if (!operation.run(random)) {
          wrong.incrementAndGet();
        }
      } catch (IOException | InternalError e) {
        errors.incrementAndGet();
        System.err.println(e);
      }
      ops.incrementAndGet();
      longestNanos.accumulateAndGet(System.nanoTime() - start, Math::max);
      LockSupport.parkNanos(pause);
    }
  }

  private static Item any(List<Item> items, Random random) {
    return items.get(random.nextInt(items.size()));
  }

  private boolean readSmall(Random random) throws IOException {
    return readWhole(any(small, random));
  }

  private boolean readLarge(Random random) throws IOException {
    return readWhole(any(large, random));
  }

  private boolean readResident(Random random) throws IOException {
    boolean right = readWhole(small.get(random.nextInt(FIRST_FILES)));
    residentOps.incrementAndGet();
    return right;
  }

  private boolean readWhole(Item item) throws IOException {
    WholeRead read = WholeRead.of(root.resolve(item.name()), item.file(), new byte[BUFFER]);
    return told(item, read.finding().isWhole() && read.length() == item.size(), read);
  }

  private boolean readAnywhere(Random random) throws IOException {
    Item item = any(large, random);
    long offset = (long) random.nextInt((int) (item.size() / Stamps.RECORD)) * Stamps.RECORD;
    byte[] bytes = new byte[(int) Math.min(BUFFER, item.size() - offset)];
    try (FileChannel file = FileChannel.open(root.resolve(item.name()))) {
      ByteBuffer buffer = ByteBuffer.wrap(bytes);
      int count = 0;
      while (buffer.hasRemaining() && count >= 0) {
        count = file.read(buffer, offset + buffer.position());
      }
      return told(item, !buffer.hasRemaining() && isRight(item, offset, bytes), offset);
    }
  }

  private boolean touchMapped(Random random) throws IOException {
    Item item = any(random.nextInt(8) == 0 ? large : small, random);
    try (FileChannel file = FileChannel.open(root.resolve(item.name()))) {
      MappedByteBuffer map = file.map(MapMode.READ_ONLY, 0, file.size());
      byte[] bytes = new byte[map.remaining()];
      map.get(bytes);
      return told(item, bytes.length == item.size() && isRight(item, 0, bytes), "mapped");
    }
  }

  private static boolean isRight(Item item, long offset, byte[] bytes) {
    return Stamps.check(item.file(), offset, bytes, bytes.length).isWhole();
  }

  private boolean list(Random random) throws IOException {
    try (Stream<Path> all = Files.walk(root)) {
      Set<String> found =
          all.filter(path -> path.getNameCount() == root.getNameCount() + 2)
              .map(path -> root.relativize(path).toString())
              .collect(Collectors.toCollection(TreeSet::new));
      if (found.equals(names)) {
        return true;
      }
      System.err.println("listed " + found.size() + " of " + names.size());
      return false;
    }
  }

  private boolean stat(Random random) throws IOException {
    Item item = any(small, random);
    return told(item, Files.size(root.resolve(item.name())) == item.size(), "size");
  }

  private static boolean told(Item item, boolean right, Object what) {
    if (!right) {
      System.err.println("wrong: " + item + ": " + what);
    }
    return right;
  }
}
