package io.holdfast.it;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A program that reads files to their ends and checks their stamps: {@code Reader ROOT LIST THREADS
 * share|each [wait [STEP]|stay]}. The threads share the list, or each reads all of it. With {@code
 * wait} it prints a line when it could begin, and begins when it is told a line; the same after
 * each step of so many files. Prints {@code files=N bytes=N errors=N wrong=N} and ends with 0 when
 * all was well; with {@code stay}, its threads stay until it is told a line.
 */
final class Reader {
  private static final int BUFFER = 1 << 20;

  private final Path root;
  private final List<Item> items;
  private final AtomicInteger files = new AtomicInteger();
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicInteger errors = new AtomicInteger();
  private final AtomicInteger wrong = new AtomicInteger();

  private Reader(Path root, List<Item> items) {
    this.root = root;
    this.items = items;
  }

  /** A line of the list. */
  private record Item(long file, long size, String name) {
    static Item parse(String line) {
      String[] fields = line.split("\t", 3);
      return new Item(Long.parseLong(fields[0]), Long.parseLong(fields[1]), fields[2]);
    }
  }

  public static void main(String[] arguments)
      throws IOException, InterruptedException, ExecutionException {
    Reader reader =
        new Reader(
            Path.of(arguments[0]),
            Files.readAllLines(Path.of(arguments[1]), UTF_8).stream().map(Item::parse).toList());
    int threads = Integer.parseInt(arguments[2]);
    boolean share = arguments[3].equals("share");
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    int all = reader.items.size();
    String mode = arguments.length > 4 ? arguments[4] : "";
    int step = arguments.length > 5 ? Integer.parseInt(arguments[5]) : Math.max(1, all);
    BufferedReader told = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (int from = 0; from < all; from += step) {
      if (mode.equals("wait")) {
        System.out.println("ready");
        told.readLine();
      }
      reader.read(pool, threads, share, from, Math.min(all, from + step));
    }
    System.out.printf(
        "files=%d bytes=%d errors=%d wrong=%d%n",
        reader.files.get(), reader.bytes.get(), reader.errors.get(), reader.wrong.get());
    if (mode.equals("stay")) {
      told.readLine();
    }
    System.exit(reader.errors.get() + reader.wrong.get() == 0 ? 0 : 3);
  }

  private void read(ExecutorService pool, int threads, boolean share, int from, int to)
      throws InterruptedException, ExecutionException {
    AtomicInteger shared = new AtomicInteger(from);
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      AtomicInteger next = share ? shared : new AtomicInteger(from);
      all.add(pool.submit(() -> readFrom(next, to)));
    }
    for (Future<?> each : all) {
      each.get();
    }
  }

  private void readFrom(AtomicInteger next, int to) {
    byte[] buffer = new byte[BUFFER];
    for (int i = next.getAndIncrement(); i < to; i = next.getAndIncrement()) {
      Item item = items.get(i);
      try {
        read(item, buffer);
      } catch (IOException e) {
        errors.incrementAndGet();
        System.err.println(item.name() + ": " + e);
      }
    }
  }

  private void read(Item item, byte[] buffer) throws IOException {
    WholeRead read = WholeRead.of(root.resolve(item.name()), item.file(), buffer);
    files.incrementAndGet();
    bytes.addAndGet(read.length());
    if (!read.finding().isWhole() || read.length() != item.size()) {
      wrong.incrementAndGet();
      System.err.println(item + ": " + read);
    }
  }
}
