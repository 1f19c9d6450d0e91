package io.holdfast.chaos;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.holdfast.it.Sandbox;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import jnr.ffi.Pointer;
import ru.serce.jnrfuse.ErrorCodes;
import ru.serce.jnrfuse.FuseFillDir;
import ru.serce.jnrfuse.FuseStubFS;
import ru.serce.jnrfuse.struct.FileStat;
import ru.serce.jnrfuse.struct.FuseFileInfo;
import ru.serce.jnrfuse.struct.Timespec;

/**
 * A program that shows a directory somewhere else as a store that can be made to fail: {@code
 * FaultyOrigin DIRECTORY MOUNTPOINT SECONDS}. The kernel keeps its attributes and names for so
 * long. A line of its input says how it is from then on:
 *
 * <pre>
 * well
 * stalled          nothing is answered
 * slow MS          everything takes that much longer
 * errors PERCENT   so many of all calls fail with EIO
 * short PERCENT    so many of all reads give less than there is, or nothing
 * </pre>
 */
final class FaultyOrigin extends FuseStubFS {
  private final Path store;
  private String mode = "well";
  private int amount;

  private FaultyOrigin(Path store) {
    this.store = store;
  }

  /** A call of the file system, which gives a negative error number where it fails. */
  private interface Call {
    int run() throws IOException;
  }

  public static void main(String[] arguments) {
    FaultyOrigin origin = new FaultyOrigin(Path.of(arguments[0]));
    Thread input = new Thread(origin::listen, "input");
    input.setDaemon(true);
    input.start();
    origin.mount(
        Path.of(arguments[1]),
        true,
        false,
        new String[] {
          "-o",
          "allow_other,direct_io,use_ino,ro,fsname=faulty,negative_timeout=0"
              + ",attr_timeout=%1$s,entry_timeout=%1$s".formatted(arguments[2])
        });
  }

  /**
   * Returns the command that starts it.
   *
   * @param seconds how long the kernel keeps what it has been told
   */
  static List<String> command(Path store, Path mountpoint, int seconds) {
    List<String> command =
        new ArrayList<>(Sandbox.java(FaultyOrigin.class, store, mountpoint, seconds));
    int classpath = command.indexOf("-cp") + 1;
    command.set(classpath, command.get(classpath) + ":" + Sandbox.HOME.resolve("lib") + "/*");
    Path natives = Sandbox.HOME.resolve("lib/native/" + System.getProperty("os.arch") + "-Linux");
    Path here = Path.of(natives.toString().replace("amd64", "x86_64"));
    command.add(1, "-Djffi.boot.library.path=" + here);
    return command;
  }

  private void listen() {
    try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String[] words = line.split(" ", -1);
        become(words[0], words.length > 1 ? Integer.parseInt(words[1]) : 0);
        System.out.println(line);
      }
    } catch (IOException e) {
      System.err.println(e);
    }
  }

  private synchronized void become(String newMode, int newAmount) {
    mode = newMode;
    amount = newAmount;
    notifyAll();
  }

  /** Waits as long as it is to take; tells whether the call is to go wrong in this way. */
  private boolean is(String wanted) {
    try {
      synchronized (this) {
        while (mode.equals("stalled")) {
          wait();
        }
        if (mode.equals(wanted)) {
          return ThreadLocalRandom.current().nextInt(100) < amount;
        }
        if (!mode.equals("slow")) {
          return false;
        }
      }
      Thread.sleep(amount);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return false;
  }

  private int answer(Call call) {
    if (is("errors")) {
      return -ErrorCodes.EIO();
    }
    try {
      return call.run();
    } catch (NoSuchFileException e) {
      return -ErrorCodes.ENOENT();
    } catch (IOException e) {
      System.err.println(e);
      return -ErrorCodes.EIO();
    }
  }

  private Path stored(String path) {
    return store.resolve(path.substring(1));
  }

  @Override
  public int getattr(String path, FileStat stat) {
    return answer(
        () -> {
          Map<String, Object> all =
              Files.readAttributes(stored(path), "unix:*", LinkOption.NOFOLLOW_LINKS);
          stat.st_mode.set((Integer) all.get("mode"));
          stat.st_ino.set((Long) all.get("ino"));
          stat.st_nlink.set((Integer) all.get("nlink"));
          stat.st_size.set((Long) all.get("size"));
          set(stat.st_mtim, (FileTime) all.get("lastModifiedTime"));
          set(stat.st_ctim, (FileTime) all.get("ctime"));
          return 0;
        });
  }

  private static void set(Timespec field, FileTime time) {
    long nanos = time.to(TimeUnit.NANOSECONDS);
    field.tv_sec.set(Math.floorDiv(nanos, 1_000_000_000L));
    field.tv_nsec.set(Math.floorMod(nanos, 1_000_000_000L));
  }

  @Override
  public int fgetattr(String path, FileStat stat, FuseFileInfo info) {
    return getattr(path, stat);
  }

  @Override
  public int readdir(
      String path, Pointer buffer, FuseFillDir filler, long offset, FuseFileInfo info) {
    return answer(
        () -> {
          filler.apply(buffer, ".", null, 0);
          filler.apply(buffer, "..", null, 0);
          try (Stream<Path> entries = Files.list(stored(path))) {
            entries.forEach(entry -> filler.apply(buffer, entry.getFileName().toString(), null, 0));
          }
          return 0;
        });
  }

  @Override
  public int open(String path, FuseFileInfo info) {
    return answer(() -> Files.exists(stored(path)) ? 0 : -ErrorCodes.ENOENT());
  }

  /**
   * By the name each time, so that a file has one version at a time, and its attributes with it.
   */
  @Override
  public int read(String path, Pointer buffer, long size, long offset, FuseFileInfo info) {
    long wanted = is("short") ? ThreadLocalRandom.current().nextLong(size) / 4096 * 4096 : size;
    return answer(
        () -> {
          try (FileChannel file = FileChannel.open(stored(path))) {
            ByteBuffer bytes = ByteBuffer.allocate((int) wanted);
            int length = Math.max(0, file.read(bytes, offset));
            buffer.put(0, bytes.array(), 0, length);
            return length;
          }
        });
  }
}
