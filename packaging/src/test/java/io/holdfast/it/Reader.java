package io.holdfast.it;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A program that reads files to their ends and checks their stamps: {@code Reader ROOT LIST THREADS
 * share|each [wait]}. The threads share the list, or each reads all of it. With {@code wait} it
 * prints a line when it could begin, and begins when it is told a line. Prints {@code files=N
 * bytes=N errors=N wrong=N} and ends with 0 when all was well.
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

  public static void main(String[] arguments) throws IOException, InterruptedException {
    Reader reader =
        new Reader(
            Path.of(arguments[0]),
            Files.readAllLines(Path.of(arguments[1]), UTF_8).stream().map(Item::parse).toList());
    if (arguments.length > 4) {
      System.out.println("ready");
      System.in.read();
    }
    reader.read(Integer.parseInt(arguments[2]), arguments[3].equals("share"));
    System.out.printf(
        "files=%d bytes=%d errors=%d wrong=%d%n",
        reader.files.get(), reader.bytes.get(), reader.errors.get(), reader.wrong.get());
    System.exit(reader.errors.get() + reader.wrong.get() == 0 ? 0 : 3);
  }

  private void read(int threads, boolean share) throws InterruptedException {
    AtomicInteger shared = new AtomicInteger();
    List<Thread> all = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      AtomicInteger next = share ? shared : new AtomicInteger();
      Thread thread = new Thread(() -> readFrom(next), "reader-" + i);
      thread.start();
      all.add(thread);
    }
    for (Thread thread : all) {
      thread.join();
    }
  }

  private void readFrom(AtomicInteger next) {
    byte[] buffer = new byte[BUFFER];
    for (int i = next.getAndIncrement(); i < items.size(); i = next.getAndIncrement()) {
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
