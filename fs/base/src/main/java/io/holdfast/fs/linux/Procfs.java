package io.holdfast.fs.linux;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Reads {@code /proc}: the figures of the machine and of its processes; see proc(5). Keeps nothing:
 * each call reads again. A file counts as empty if it is not there, if this user may not read it,
 * or if its process has ended. Immutable and thread-safe.
 *
 * <p>A process is a process id, or {@link #SELF}.
 */
public final class Procfs {
  /** This process. */
  public static final String SELF = "self";

  /** The {@link #state} of a process that is not there. */
  public static final char GONE = '?';

  /** The {@link #state} of a process that has ended, but for threads that cannot be killed yet. */
  public static final char ZOMBIE = 'Z';

  /** The most bytes that are read of a file; the environment of a process may be larger. */
  private static final int MOST = 256 << 10;

  /** More than {@code stat} and {@code schedstat} of a process may have. */
  private static final int SMALL = 1024;

  /**
   * In {@code stat}, counted from behind the command: 0 state, 1 parent, 3 session, 11 user time,
   * 12 system time, 19 time of the start.
   */
  private static final int PARENT = 1;

  private static final int SESSION = 3;
  private static final int USER_TIME = 11;
  private static final int SYSTEM_TIME = 12;
  private static final int STARTED = 19;

  /**
   * In the machine's {@code stat}: the name of the line; user, nice, system, idle, waiting for a
   * disk, two kinds of interrupts, and taken by the host. The time of guests is in user.
   */
  private static final int PROCESSOR_NUMBERS = 8;

  private static final int IDLE = 4;
  private static final int IDLE_FOR_DISK = 5;

  /** In {@code schedstat}: CPU time, time waited for a processor, times run. */
  private static final int SCHEDSTAT_NUMBERS = 3;

  /** A tick of {@code stat}: {@code USER_HZ} is 100 wherever Java runs. */
  private static final long TICK_NANOS = 10_000_000;

  /** The first process, of root. */
  private static final int INIT = 1;

  private final Path root;
  private final FileReader reader;

  /** Reads files that are smaller than {@link #SMALL} bytes. */
  private final FileReader small;

  /** Returns the beginning of a file; nothing if it cannot be read. */
  private interface FileReader {
    byte[] read(Path file);
  }

  /**
   * A process.
   *
   * @param command its name, at most 15 letters
   * @param parent the process that started it, or has adopted it
   * @param session the process that leads its session
   * @param started when it was started, in ticks since the boot; no other process has had both this
   *     number and this time
   * @param state a letter, such as R, S, D, T or Z
   * @param cpuNanos CPU time, user and system, of all its threads, those that have ended too; to 10
   *     ms
   */
  public record ProcessStat(
      int pid, String command, int parent, int session, long started, char state, long cpuNanos) {
    /** Tells whether the process has ended, and its parent has not asked for that yet. */
    public boolean hasEnded() {
      return state == ZOMBIE || state == 'X';
    }

    /** Tells whether the process leads its session. */
    public boolean isSessionLeader() {
      return session == pid;
    }
  }

  /**
   * The time that a thread has spent on processors.
   *
   * @param cpuNanos CPU time, user and system
   * @param runDelayNanos how long it could have run, and waited for a processor; 0 if the kernel
   *     does not tell
   */
  public record ThreadTimes(long cpuNanos, long runDelayNanos) {}

  /**
   * The time of all processors of the machine since its boot.
   *
   * @param allNanos of all processors together; to 10 ms
   * @param idleNanos the part of it in which they had nothing to do, or only waited for a disk
   */
  public record ProcessorTimes(long allNanos, long idleNanos) {}

  /**
   * A resource limit of a process; {@link Long#MAX_VALUE} for none.
   *
   * @param soft the limit that holds
   * @param hard the most that the process may raise the soft limit to
   */
  public record Limit(long soft, long hard) {}

  private Procfs(Path root, FileReader reader, FileReader small) {
    this.root = root;
    this.reader = reader;
    this.small = small;
  }

  /**
   * Reads below another root.
   *
   * @param root the tree that stands for {@code /}
   */
  public Procfs(Path root) {
    this(root, Procfs::read, Procfs::read);
  }

  /** Reads this machine's. */
  public static Procfs host() {
    return new Procfs(Path.of("/"));
  }

  /**
   * Reads without Java I/O, as {@link IsolatedThreads} must.
   *
   * @param root the tree that stands for {@code /}
   */
  public static Procfs forIsolatedThreads(Path root) {
    return new Procfs(
        root,
        file -> Linux.head(file.toString(), MOST),
        file -> Linux.firstRead(file.toString(), SMALL));
  }

  /**
   * Reads in large pieces. The kernel answers only the first read of a number below {@code
   * /proc/sys}, and {@link Files#readAllBytes} begins with a read of one byte.
   */
  private static byte[] read(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      return in.readNBytes(MOST);
    } catch (IOException e) {
      return new byte[0];
    }
  }

  /** Returns the tree that stands for {@code /}. */
  Path root() {
    return root;
  }

  /** Returns the path of a file below {@code /proc}. */
  public Path path(String file) {
    return root.resolve("proc").resolve(file);
  }

  /** Returns the text of a file; of a large file, the beginning. */
  String text(Path file) {
    return new String(reader.read(file), StandardCharsets.UTF_8);
  }

  private String text(String process, String file) {
    return text(path(process).resolve(file));
  }

  /** Returns the number that a file below {@code /proc} consists of. */
  public OptionalLong number(String file) {
    return leadingNumber(text(path(file)).strip());
  }

  /** Returns the figures of the machine's memory. */
  public Fields meminfo() {
    return Fields.parse(text(path("meminfo")));
  }

  /**
   * Returns the percentage of the last ten seconds in which some task waited for memory; 0 if the
   * kernel does not tell.
   */
  public double memoryStalls() {
    return stalls(path("pressure/memory"));
  }

  /**
   * Returns the same from any file of pressure: "some avg10=0.00 avg60=0.00 avg300=0.00 total=0".
   */
  double stalls(Path file) {
    String before = "some avg10=";
    String text = text(file);
    if (!text.startsWith(before)) {
      return 0;
    }
    try {
      return Double.parseDouble(text.substring(before.length()).split("\\s", 2)[0]);
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  /** Returns the status of a process, or of a thread. */
  public Fields status(String process) {
    return Fields.parse(text(process, "status"));
  }

  /** Returns the process that a thread belongs to; 0 if the thread is gone. */
  public int processOf(int thread) {
    return thread == 0 ? 0 : (int) status(Integer.toString(thread)).number("Tgid").orElse(0);
  }

  /**
   * Tells whether a thread is in the user namespace of this process. A user who makes a namespace
   * has all capabilities there, which concern no file of others. Returns false if nobody can tell.
   */
  public boolean isInOwnUserNamespace(int thread) {
    try {
      Path own = Files.readSymbolicLink(path(SELF + "/ns/user"));
      return Files.readSymbolicLink(path(thread + "/ns/user")).equals(own);
    } catch (IOException e) {
      return false;
    }
  }

  /** Tells whether a thread is one of this process. */
  public boolean isOwnThread(int thread) {
    return Files.exists(path("self/task/" + thread));
  }

  /** Returns a process; nothing if it is gone. */
  public Optional<ProcessStat> process(int pid) {
    return stat(pid, small(pid + "/stat"));
  }

  /**
   * Tells whether {@code /proc} shows the processes of all users: with {@code hidepid}, it does not
   * show the first process to others than root.
   */
  public boolean showsAllProcesses() {
    return process(INIT).isPresent();
  }

  /** Returns the time of the machine's processors; nothing if the kernel does not tell. */
  public Optional<ProcessorTimes> processors() {
    String[] fields = small("stat").split("\n", 2)[0].split(" +", -1);
    if (!fields[0].equals("cpu") || fields.length <= PROCESSOR_NUMBERS) {
      return Optional.empty();
    }
    long all = 0;
    for (int i = 1; i <= PROCESSOR_NUMBERS; i++) {
      all += Long.parseLong(fields[i]);
    }
    long idle = Long.parseLong(fields[IDLE]) + Long.parseLong(fields[IDLE_FOR_DISK]);
    return Optional.of(new ProcessorTimes(all * TICK_NANOS, idle * TICK_NANOS));
  }

  /** Returns the text of a file below {@code /proc} that the kernel gives in one piece. */
  private String small(String file) {
    return new String(small.read(path(file)), StandardCharsets.UTF_8);
  }

  private static Optional<ProcessStat> stat(int pid, String stat) {
    String[] fields = behindCommand(stat).split(" ", -1);
    if (fields.length <= STARTED) {
      return Optional.empty();
    }
    long ticks = Long.parseLong(fields[USER_TIME]) + Long.parseLong(fields[SYSTEM_TIME]);
    return Optional.of(
        new ProcessStat(
            pid,
            stat.substring(stat.indexOf('(') + 1, stat.lastIndexOf(')')),
            Integer.parseInt(fields[PARENT]),
            Integer.parseInt(fields[SESSION]),
            Long.parseLong(fields[STARTED]),
            fields[0].charAt(0),
            ticks * TICK_NANOS));
  }

  /** Returns the times of a thread of a process; nothing if it is gone. */
  public Optional<ThreadTimes> thread(int pid, int thread) {
    return thread(thread, pid + "/task/" + thread);
  }

  /** Returns the CPU time of the calling thread in nanoseconds; 0 if the kernel does not tell. */
  public long ownCpuNanos() {
    return thread(0, "thread-self").map(ThreadTimes::cpuNanos).orElse(0L);
  }

  private Optional<ThreadTimes> thread(int thread, String directory) {
    String[] numbers = small(directory + "/schedstat").split("\\s", -1);
    if (numbers.length >= SCHEDSTAT_NUMBERS && !numbers[0].equals("0")) {
      return Optional.of(new ThreadTimes(Long.parseLong(numbers[0]), Long.parseLong(numbers[1])));
    }
    // zeros, or no such file: a kernel that keeps no such statistics
    return stat(thread, small(directory + "/stat"))
        .map(stat -> new ThreadTimes(stat.cpuNanos(), 0));
  }

  /** Returns the letter of a process's state, such as R, S, D, T or Z, or {@link #GONE}. */
  public char state(long pid) {
    String fields = behindCommand(text(Long.toString(pid), "stat"));
    return fields.isEmpty() ? GONE : fields.charAt(0);
  }

  /** The command stands in brackets, and its name may hold anything. */
  private static String behindCommand(String stat) {
    int close = stat.lastIndexOf(')');
    return close < 0 ? "" : stat.substring(close + 1).strip();
  }

  /** Returns the words that a process was started with; none if it is gone. */
  public List<String> commandLine(String process) {
    String text = text(process, "cmdline");
    // each word ends with a NUL
    return text.isEmpty()
        ? List.of()
        : List.of(text.substring(0, text.length() - 1).split("\0", -1));
  }

  /**
   * Returns the words that this process was started with, to the byte: a word need not be text.
   *
   * @throws IOException if {@code /proc} is not mounted
   */
  public static List<byte[]> ownWords() throws IOException {
    byte[] all = Files.readAllBytes(Path.of("/proc/self/cmdline"));
    List<byte[]> words = new ArrayList<>();
    int from = 0;
    for (int i = 0; i < all.length; i++) {
      if (all[i] == 0) {
        words.add(Arrays.copyOfRange(all, from, i));
        from = i + 1;
      }
    }
    return words;
  }

  /**
   * Returns a variable of the environment that a process was started with. May take long: the
   * kernel shows the environment only while nobody changes the process's mappings.
   */
  public Optional<String> variable(int pid, String name) {
    String before = name + "=";
    for (String variable : text(Integer.toString(pid), "environ").split("\0", -1)) {
      if (variable.startsWith(before)) {
        return Optional.of(variable.substring(before.length()));
      }
    }
    return Optional.empty();
  }

  /**
   * Tells whether this process may not see the environment of another one. May take long, as {@link
   * #variable} may.
   */
  public boolean hidesEnvironment(int pid) {
    try {
      Files.newInputStream(path(pid + "/environ")).close();
      return false;
    } catch (IOException e) {
      return e instanceof AccessDeniedException;
    }
  }

  /**
   * Returns a limit of a process.
   *
   * @param what as the kernel names it, such as "Max open files"
   */
  public Optional<Limit> limit(String process, String what) {
    String[] columns = Fields.parse(text(process, "limits")).value(what).split("\\s+", -1);
    return columns.length < 2
        ? Optional.empty()
        : Optional.of(new Limit(limit(columns[0]), limit(columns[1])));
  }

  private static long limit(String column) {
    return leadingNumber(column).orElse(Long.MAX_VALUE); // "unlimited"
  }

  /** Returns the number of descriptors that this process has open. */
  public OptionalLong descriptors() {
    try (DirectoryStream<Path> open = Files.newDirectoryStream(path("self/fd"))) {
      long count = 0;
      for (Path each : open) {
        count += each.getNameCount() > 0 ? 1 : 0;
      }
      return OptionalLong.of(count);
    } catch (IOException e) {
      return OptionalLong.empty();
    }
  }

  /**
   * Tells whether this process has a capability.
   *
   * @param capability its number, as in capabilities(7)
   * @param ifUnknown the answer if the kernel does not tell
   */
  public boolean hasCapability(int capability, boolean ifUnknown) {
    OptionalLong effective = status(SELF).mask("CapEff");
    return effective.isPresent() ? (effective.getAsLong() >> capability & 1) == 1 : ifUnknown;
  }

  /** Returns the user that runs this process. */
  public static int ownUid() {
    return own("unix:uid");
  }

  /** Returns the group that this process runs as. */
  public static int ownGid() {
    return own("unix:gid");
  }

  private static int own(String attribute) {
    try {
      return (Integer) Files.getAttribute(Path.of("/proc/self"), attribute);
    } catch (IOException e) {
      throw new IllegalStateException("/proc/self cannot be read: is /proc mounted?", e);
    }
  }

  /** Returns the number at the beginning of a text, up to its unit or end. */
  private static OptionalLong leadingNumber(String text) {
    try {
      return OptionalLong.of(Long.parseLong(text.split("\\s", 2)[0]));
    } catch (NumberFormatException e) {
      return OptionalLong.empty();
    }
  }

  /**
   * The lines of a file, each a name and a value, as in {@code MemTotal: 16 kB} or {@code oom_kill
   * 3}. Only a newline ends a line: a program may have any other character in its name. Immutable.
   */
  public static final class Fields {
    private static final int KIBIBYTE = 1024;
    private static final int HEX = 16;

    private final List<String> lines;

    private Fields(List<String> lines) {
      this.lines = lines;
    }

    static Fields parse(String text) {
      return new Fields(List.of(text.split("\n", -1)));
    }

    /** Returns the value of a name; an empty text if the name is not there. */
    private String value(String name) {
      for (String line : lines) {
        if (line.length() > name.length() && line.startsWith(name)) {
          char next = line.charAt(name.length());
          if (next == ':' || next == ' ' || next == '\t') {
            return line.substring(name.length() + 1).strip();
          }
        }
      }
      return "";
    }

    /** Returns the number of a name, without its unit. */
    public OptionalLong number(String name) {
      return leadingNumber(value(name));
    }

    /** Returns the number of a name in bytes; the kernel writes it in KiB. */
    public OptionalLong bytes(String name) {
      OptionalLong kibibytes = number(name);
      return kibibytes.isPresent()
          ? OptionalLong.of(kibibytes.getAsLong() * KIBIBYTE)
          : OptionalLong.empty();
    }

    /** Returns the users or groups of a name; none if the name is not there. */
    public Set<Integer> ids(String name) {
      Set<Integer> ids = new HashSet<>();
      for (String id : value(name).split("\\s+", -1)) {
        if (!id.isEmpty()) {
          ids.add(Integer.parseUnsignedInt(id));
        }
      }
      return ids;
    }

    /** Returns the bits of a name; the kernel writes them in hexadecimal. */
    public OptionalLong mask(String name) {
      try {
        return OptionalLong.of(Long.parseUnsignedLong(value(name), HEX));
      } catch (NumberFormatException e) {
        return OptionalLong.empty();
      }
    }
  }
}
