package io.holdfast.fs.orders;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The announced orders, in a directory of the state directory, so that the next daemon of the mount
 * follows them.
 *
 * <pre>
 * NUMBER.PASS.order  the job, the source, and the files of one pass by the numbers of their nodes
 * NUMBER.place       which pass the job is in, and where
 * </pre>
 *
 * <p>A file of a pass has its name once it is complete, and is removed once the job has read the
 * pass. A kill may leave two orders of a job: the one with the larger number counts. A place that
 * is not the last one costs some fetches ahead. Not thread-safe.
 */
final class KeptOrders {
  private static final Logger log = LoggerFactory.getLogger(KeptOrders.class);

  private static final Pattern PASS = Pattern.compile("(\\d{1,18})\\.(\\d{1,9})\\.order");
  private static final String PART = "part";

  /** The first bytes of each pass's file. */
  private static final int FORMAT = 0x48464f31;

  /** All files together take at most this part of the room that there is: others need some. */
  private static final int PART_OF_ROOM = 2;

  private final @Nullable Path directory;
  private final Room room;
  private final Map<String, Written> jobs = new HashMap<>();
  private long lastNumber;

  /** Tells how many bytes are free at a directory. */
  @FunctionalInterface
  interface Room {
    long of(Path directory) throws IOException;
  }

  /**
   * An order of an earlier daemon.
   *
   * @param passes at least one; those before the job's place are left out
   * @param progress in the first of them
   */
  record Kept(String job, String source, List<FileSequence> passes, Order.Progress progress) {}

  /** An order that has files. */
  private static final class Written {
    final long number;
    final String source;

    /** The passes that the job had read before this daemon, which counts from there. */
    final int before;

    /** The sizes of its files, by the numbers of the passes. */
    final SortedMap<Integer, Long> bytes = new TreeMap<>();

    int nextPass;
    Order.Progress progress = Order.Progress.NONE;

    Written(long number, String source, int before) {
      this.number = number;
      this.source = source;
      this.before = before;
      this.nextPass = before;
    }

    void add(int pass, long size) {
      bytes.put(pass, size);
      nextPass = pass + 1;
    }
  }

  /**
   * Creates a memory of orders.
   *
   * @param directory is made when there is an order; null if there will be no next daemon
   */
  KeptOrders(@Nullable Path directory) {
    this(directory, path -> path.toFile().getUsableSpace());
  }

  KeptOrders(@Nullable Path directory, Room room) {
    this.directory = directory;
    this.room = room;
  }

  // --- writing

  /** Keeps a job's order, in the place of its last one. */
  void keep(String job, String source, FileSequence pass) {
    if (directory == null) {
      return;
    }
    Written last = jobs.put(job, new Written(++lastNumber, source, 0));
    add(job, pass);
    if (last != null) {
      delete(last);
    }
  }

  /** Adds a pass to a job's order. */
  void then(String job, FileSequence pass) {
    if (jobs.containsKey(job)) {
      add(job, pass);
    }
  }

  private void add(String job, FileSequence pass) {
    Written order = jobs.get(job);
    try {
      Files.createDirectories(
          directory,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      requireRoom(pass.bytes());
      Path part = directory.resolve(PART);
      try (DataOutputStream out =
          new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(part)))) {
        out.writeInt(FORMAT);
        out.writeUTF(job);
        out.writeUTF(order.source);
        pass.write(out);
      }
      long size = Files.size(part);
      Files.move(part, pass(order, order.nextPass), StandardCopyOption.ATOMIC_MOVE);
      order.add(order.nextPass, size);
    } catch (IOException e) {
      log.warn(
          "the next daemon of this mount will not know the order of job '{}': {}",
          job,
          e.toString());
      delete(directory.resolve(PART));
      forget(job);
    }
  }

  private void requireRoom(long more) throws IOException {
    long kept =
        jobs.values().stream()
            .flatMap(each -> each.bytes.values().stream())
            .mapToLong(Long::longValue)
            .sum();
    long free = room.of(directory);
    if (kept + more > (kept + free) / PART_OF_ROOM) {
      throw new IOException(
          "%s has %,d bytes left, and it takes %,d".formatted(directory, free, more));
    }
  }

  /** Keeps where a job is. */
  void progress(String job, Order.Progress progress) {
    Written order = jobs.get(job);
    if (order == null || order.progress.equals(progress)) {
      return;
    }
    order.progress = progress;
    int pass = Math.addExact(order.before, progress.pass());
    byte[] place =
        ByteBuffer.allocate(Order.Progress.BYTES)
            .putInt(pass)
            .putInt(progress.position())
            .putInt(progress.opened())
            .array();
    try {
      // one write over the last one, so that a kill leaves one of them
      Files.write(place(order), place, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    } catch (IOException e) {
      log.warn("the place of job '{}' in its order is not kept: {}", job, e.toString());
      return; // the place that is kept needs the passes before this one
    }
    SortedMap<Integer, Long> over = order.bytes.headMap(pass);
    over.keySet().forEach(each -> delete(pass(order, each)));
    over.clear();
  }

  /** Forgets a job's order. */
  void forget(String job) {
    Written order = jobs.remove(job);
    if (order != null) {
      delete(order);
    }
  }

  /** Forgets the orders of all jobs but these. */
  void retain(Set<String> others) {
    List.copyOf(jobs.keySet()).stream().filter(job -> !others.contains(job)).forEach(this::forget);
  }

  /** Forgets all orders, also those of earlier daemons. */
  void forgetAll() {
    jobs.clear();
    files().forEach(KeptOrders::delete);
  }

  private void delete(Written order) {
    delete(place(order));
    order.bytes.keySet().forEach(each -> delete(pass(order, each)));
  }

  private static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      log.warn("an order that is forgotten is not deleted: {}", e.toString());
    }
  }

  private Path pass(Written order, int pass) {
    return directory.resolve(order.number + "." + pass + ".order");
  }

  private Path place(Written order) {
    return directory.resolve(order.number + ".place");
  }

  // --- reading

  /**
   * Returns the orders that an earlier daemon has kept, which are kept on. All other files are
   * removed.
   */
  List<Kept> read() {
    TreeMap<Long, TreeMap<Integer, Path>> all = new TreeMap<>();
    for (Path file : files()) {
      Matcher name = PASS.matcher(file.getFileName().toString());
      if (name.matches()) {
        all.computeIfAbsent(Long.parseLong(name.group(1)), number -> new TreeMap<>())
            .put(Integer.parseInt(name.group(2)), file);
      }
    }
    Map<String, Kept> orders = new LinkedHashMap<>();
    all.forEach(
        (number, passes) -> {
          lastNumber = number;
          Kept order = read(number, passes);
          if (order != null) {
            orders.put(order.job, order);
          }
        });
    removeOthers();
    return List.copyOf(orders.values());
  }

  /** Reads an order; null if it is damaged. */
  private @Nullable Kept read(long number, Map<Integer, Path> files) {
    try {
      Order.Progress place = readPlace(number);
      List<FileSequence> passes = new ArrayList<>();
      Written order = null;
      String job = "";
      for (int i = place.pass(); files.containsKey(i); i++) {
        Path file = files.get(i);
        try (DataInputStream in =
            new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
          if (in.readInt() != FORMAT) {
            throw new IOException(file + " has another format");
          }
          job = in.readUTF();
          String source = in.readUTF();
          order = order == null ? new Written(number, source, i) : order;
          passes.add(FileSequence.read(in));
          order.add(i, Files.size(file));
        }
      }
      if (order == null) {
        throw new IOException("order %d has no pass %d".formatted(number, place.pass()));
      }
      Written earlier = jobs.put(job, order); // a kill has left it
      if (earlier != null) {
        delete(earlier);
      }
      order.progress = new Order.Progress(0, place.position(), place.opened());
      return new Kept(job, order.source, List.copyOf(passes), order.progress);
    } catch (IOException e) {
      log.warn("an order that an earlier daemon had is forgotten: {}", e.toString());
      return null;
    }
  }

  private Order.Progress readPlace(long number) throws IOException {
    Path file = directory.resolve(number + ".place");
    byte[] bytes = Files.exists(file) ? Files.readAllBytes(file) : new byte[0];
    if (bytes.length != Order.Progress.BYTES) {
      return Order.Progress.NONE;
    }
    ByteBuffer place = ByteBuffer.wrap(bytes);
    return new Order.Progress(
        Math.max(0, place.getInt()), Math.max(0, place.getInt()), Math.max(0, place.getInt()));
  }

  /** Removes the files of damaged orders, and of passes that are over. */
  private void removeOthers() {
    Set<Path> kept = new HashSet<>();
    for (Written order : jobs.values()) {
      kept.add(place(order));
      order.bytes.keySet().forEach(pass -> kept.add(pass(order, pass)));
    }
    files().stream().filter(file -> !kept.contains(file)).forEach(KeptOrders::delete);
  }

  private List<Path> files() {
    if (directory == null || !Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(directory)) {
      return files.toList();
    } catch (IOException | UncheckedIOException e) {
      log.warn("{}: orders are forgotten: {}", directory, e.toString());
      return List.of();
    }
  }
}
