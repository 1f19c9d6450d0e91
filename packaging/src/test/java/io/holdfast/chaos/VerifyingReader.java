package io.holdfast.chaos;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;

/**
 * A program that reads files of a mount until its input ends, and checks every byte: {@code
 * VerifyingReader ROOT LARGE SMALL STYLE SEED}, or to read each file once and find the version that
 * a list names: {@code VerifyingReader ROOT LARGE SMALL VERSIONS-FILE}. Says line by line:
 *
 * <pre>
 * T READS BYTES LONGEST_MS OLDEST_MS     each half second; the last one is how long a read waits by now
 * E SYMPTOM BEGIN_MS END_MS TEXT         a read failed; in milliseconds since 1970
 * W TEXT                                 a read gave what it must not
 * </pre>
 */
final class VerifyingReader {
  private static final int TELL_MILLIS = 500;
  private static final int PAUSE_MILLIS = 3;
  private static final int PAUSE_AFTER_ERROR_MILLIS = 100;

  private final VersionedFiles files;
  private final VersionReads reads;
  private final long[] newest;
  private volatile boolean ended;
  private volatile long begun;
  private volatile long count;
  private volatile long bytes;
  private volatile long longestNanos;

  private VerifyingReader(Path root, VersionedFiles files) {
    this.files = files;
    reads = new VersionReads(root, files);
    newest = new long[files.count()];
  }

  /** A way to read one file. */
  private interface Read {
    VersionReads.Result run(int file) throws IOException;
  }

  public static void main(String[] arguments) throws IOException, InterruptedException {
    VersionedFiles files =
        new VersionedFiles(Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
    VerifyingReader reader = new VerifyingReader(Path.of(arguments[0]), files);
    if (arguments.length == 4) {
      reader.readOnce(Files.readAllLines(Path.of(arguments[3]), UTF_8));
    } else {
      reader.readOn(ReadStyle.valueOf(arguments[3]), Long.parseLong(arguments[4]));
    }
  }

  private void readOnce(List<String> versions) throws InterruptedException {
    for (int file = 0; file < files.count(); file++) {
      newest[file] = Long.parseLong(versions.get(file));
      attempt(file, each -> reads.whole(each, VersionReads.SMALL_BUFFER));
    }
    tell();
  }

  private void readOn(ReadStyle style, long seed) throws InterruptedException {
    background("input", this::awaitEnd);
    background("news", this::tellOn);
    Random random = new Random(seed);
    for (int i = 0; !ended; i++) {
      int file = style.choose(files, i, random);
      attempt(file, each -> style.read(reads, each, random));
      Thread.sleep(PAUSE_MILLIS);
    }
    tell();
  }

  private static void background(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
  }

  private void awaitEnd() {
    try {
      while (System.in.read() >= 0) {
        // Whatever is said: only the end counts.
      }
    } catch (IOException e) {
      System.err.println(e);
    }
    ended = true;
  }

  private void tellOn() {
    while (!ended) {
      tell();
      try {
        Thread.sleep(TELL_MILLIS);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private void tell() {
    long begin = begun;
    long waiting = begin == 0 ? 0 : System.nanoTime() - begin;
    say("T %d %d %d %d".formatted(count, bytes, longestNanos / 1_000_000, waiting / 1_000_000));
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
  private void attempt(int file, Read read) throws InterruptedException {
    long begin = System.currentTimeMillis();
    begun = System.nanoTime();
    try {
      VersionReads.Result result = read.run(file);
      bytes += result.length();
      check(file, result);
    } catch (IOException | InternalError e) {
      String text = files.name(file) + ": " + e;
      long end = System.currentTimeMillis();
      say("E %s %d %d %s".formatted(Symptom.of(e), begin, end, text.replace('\n', ' ')));
      Thread.sleep(PAUSE_AFTER_ERROR_MILLIS);
    } finally {
      longestNanos = Math.max(longestNanos, System.nanoTime() - begun);
      begun = 0;
      count++;
    }
  }

  private void check(int file, VersionReads.Result result) {
    String name = files.name(file);
    if (!result.wrong().isEmpty()) {
      say("W %s: %s".formatted(name, result.wrong()));
    } else if (result.version() < newest[file]) {
      say("W %s: version %d after %d".formatted(name, result.version(), newest[file]));
    } else {
      newest[file] = result.version();
    }
  }

  private static void say(String line) {
    byte[] text = (line + "\n").getBytes(UTF_8);
    System.out.write(text, 0, text.length);
    System.out.flush();
  }
}
