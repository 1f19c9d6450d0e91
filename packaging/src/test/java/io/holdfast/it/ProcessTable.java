package io.holdfast.it;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The processes that a sandbox started, found by a mark in their environment that children inherit.
 */
public final class ProcessTable {
  public static final String MARK = "HOLDFAST_IT";

  private static final Path PROC = Path.of("/proc");

  private ProcessTable() {}

  /** A process at the moment of looking. */
  public record Row(long pid, char state, String commandLine) {
    public boolean isAlive() {
      return state != 'Z' && state != 'X';
    }
  }

  /** The living processes that carry the mark {@code id}. */
  public static List<Row> marked(String id) {
    byte[] mark = (MARK + "=" + id + "\0").getBytes(UTF_8);
    List<Row> rows = new ArrayList<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(PROC, "[0-9]*")) {
      for (Path process : all) {
        long pid = Long.parseLong(process.getFileName().toString());
        if (contains(bytes(process.resolve("environ")), mark)) {
          Row row =
              new Row(
                  pid,
                  state(pid),
                  new String(bytes(process.resolve("cmdline")), UTF_8).replace('\0', ' '));
          if (row.isAlive()) {
            rows.add(row);
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return rows;
  }

  /** The kernel's letter for the state of a process or thread: {@code X} when there is none. */
  public static char state(long pid) {
    String stat = new String(bytes(PROC.resolve(pid + "/stat")), ISO_8859_1);
    int name = stat.lastIndexOf(')');
    return name < 0 ? 'X' : stat.charAt(name + 2);
  }

  /** The session of a process, and the number of its terminal: 0 without one. */
  public static List<Long> session(long pid) {
    String stat = new String(bytes(PROC.resolve(pid + "/stat")), ISO_8859_1);
    // behind the name: state, parent, process group, session, terminal
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    return List.of(Long.parseLong(fields[3]), Long.parseLong(fields[4]));
  }

  /** The states of all threads of a process. */
  public static List<Character> threadStates(long pid) {
    List<Character> states = new ArrayList<>();
    try (DirectoryStream<Path> tasks = Files.newDirectoryStream(PROC.resolve(pid + "/task"))) {
      for (Path task : tasks) {
        String stat = new String(bytes(task.resolve("stat")), ISO_8859_1);
        if (!stat.isEmpty()) {
          states.add(stat.charAt(stat.lastIndexOf(')') + 2));
        }
      }
    } catch (IOException e) {
      return List.of();
    }
    return states;
  }

  /** True when a process has a file open. Asks only the process table, never the file. */
  public static boolean hasOpen(long pid, Path file) {
    try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(PROC.resolve(pid + "/fd"))) {
      for (Path descriptor : descriptors) {
        if (Files.readSymbolicLink(descriptor).equals(file)) {
          return true;
        }
      }
    } catch (IOException e) {
      return false;
    }
    return false;
  }

  /** A figure of /proc/PID/status in bytes, for lines like {@code VmLck: 12 kB}; 0 without it. */
  public static long statusBytes(long pid, String key) {
    String status = new String(bytes(PROC.resolve(pid + "/status")), UTF_8);
    return status
        .lines()
        .filter(line -> line.startsWith(key + ":"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
        .findFirst()
        .orElse(0);
  }

  /** The bytes of a file of /proc; none when the process has gone. */
  private static byte[] bytes(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      return new byte[0];
    }
  }

  private static boolean contains(byte[] all, byte[] part) {
    return new String(all, ISO_8859_1).contains(new String(part, ISO_8859_1));
  }
}
