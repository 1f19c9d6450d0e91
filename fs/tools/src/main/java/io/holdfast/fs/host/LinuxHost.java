package io.holdfast.fs.host;

import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.daemon.MountNote;
import io.holdfast.fs.doctor.BoundedCommand;
import io.holdfast.fs.linux.Cgroups;
import io.holdfast.fs.linux.Fstab;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.MountId;
import io.holdfast.fs.linux.MountTable;
import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.linux.Unmount;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/** The machine that this process runs on. */
public final class LinuxHost implements Host {
  private static final Duration PROBE_DEADLINE = Duration.ofSeconds(5);
  private static final int HELPER_SECONDS = 10;
  private static final List<String> READLINK = List.of("readlink", "-n", "--");

  private static final Path ROOT = Path.of("/");
  private static final Path DEVICE = Path.of("/dev/fuse");

  /** Has a directory for each user who has logged in. */
  private static final Path USERS = Path.of("/run/user");

  private static final Pattern NUMBER = Pattern.compile("[0-9]{1,10}");

  private static final int CAP_SYS_ADMIN = 21;
  private static final int EPERM = 1;
  private static final int LONGEST_LINK_CHAIN = 40;

  /** Bytes; more than a symlink can have. */
  private static final int LONGEST_LINK = 1 << 13;

  private final Duration deadline;
  private final Supplier<MountTable> mounts;
  private final List<String> readlink;
  private final PathProbe probe;
  private final int uid = Procfs.ownUid();

  public LinuxHost() {
    this(PROBE_DEADLINE, LinuxHost::readMounts, READLINK);
  }

  /**
   * Creates the same for a test.
   *
   * @param deadline how long a file system may take to answer
   * @param mounts reads the list of mounts
   * @param readlink the words before a path that tell where it leads
   */
  LinuxHost(Duration deadline, Supplier<MountTable> mounts, List<String> readlink) {
    this.deadline = deadline;
    this.mounts = mounts;
    this.readlink = readlink;
    this.probe = new PathProbe(deadline);
  }

  @Override
  public int uid() {
    return uid;
  }

  @Override
  public Map<String, String> environment() {
    return System.getenv();
  }

  @Override
  public long memory() {
    return new Cgroups(Procfs.host()).usableMemory(Procfs.SELF);
  }

  @Override
  public long memory(long pid) {
    return new Cgroups(Procfs.host()).usableMemory(Long.toString(pid));
  }

  @Override
  public List<Path> configurationDirectories() {
    return UserDirectories.configuration(uid, environment());
  }

  @Override
  public ControlDirectory control() {
    return ControlDirectory.of(uid, environment());
  }

  @Override
  public List<ControlDirectory> controlOfOthers() {
    if (uid != 0) {
      return List.of(ControlDirectory.ofRoot());
    }
    List<ControlDirectory> controls = new ArrayList<>();
    try (DirectoryStream<Path> users =
        Files.newDirectoryStream(
            USERS, user -> NUMBER.matcher(String.valueOf(user.getFileName())).matches())) {
      users.forEach(user -> controls.add(ControlDirectory.ofUser(user)));
    } catch (IOException e) {
      // nobody has logged in
    }
    return controls;
  }

  @Override
  public MountTable mounts() {
    return mounts.get();
  }

  private static MountTable readMounts() {
    try {
      return MountTable.read();
    } catch (IOException e) {
      throw CliException.couldNot("/proc/self/mountinfo cannot be read: mount /proc", e);
    }
  }

  @Override
  public Fstab fstab() {
    return Fstab.parse(lines(Fstab.FILE));
  }

  @Override
  public boolean isEmpty(Path directory) {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
      return !entries.iterator().hasNext();
    } catch (IOException | DirectoryIteratorException e) {
      return false; // the daemon will say what is wrong
    }
  }

  @Override
  public Host.PathState probe(Path path) {
    return located(path)
        .map(at -> probe.probe(path, isOn(mounts(), at, MountTable.Mount::isFuse)))
        .orElse(Host.PathState.HUNG);
  }

  @Override
  public Path locate(Path path) {
    return located(path).orElseGet(() -> path.toAbsolutePath().normalize());
  }

  /** Returns the same as {@link #locate}; nothing if a file system does not answer in time. */
  private Optional<Path> located(Path path) {
    Path absolute = path.toAbsolutePath().normalize();
    MountTable table = mounts();
    Path at = ROOT;
    Deque<Path> left = new ArrayDeque<>();
    absolute.forEach(left::add);
    int links = 0;
    // what lies on a mount of FUSE is not looked at
    while (!left.isEmpty() && !isOn(table, at, MountTable.Mount::isFuse)) {
      Path next = at.resolve(left.pop()).normalize();
      Optional<Path> target = target(table, next);
      if (target.isEmpty()) {
        return Optional.empty();
      }
      Path to = target.get();
      if (to.equals(next)) {
        at = next;
      } else if (++links > LONGEST_LINK_CHAIN) {
        return Optional.of(absolute);
      } else {
        at = to.isAbsolute() ? ROOT : at;
        for (int i = to.getNameCount() - 1; i >= 0; i--) {
          left.push(to.getName(i));
        }
      }
    }
    for (Path name : left) {
      at = at.resolve(name);
    }
    return Optional.of(at.normalize());
  }

  /**
   * Returns where a path in a directory without symlinks leads, itself if it is no symlink; nothing
   * if its file system does not answer in time. A thread that waits for one could not be ended, so
   * a child process looks where that may be.
   */
  private Optional<Path> target(MountTable table, Path path) {
    try {
      if (table.at(path).isPresent()) {
        return Optional.of(path); // the root of a mount is no symlink, and is not looked at
      }
      if (!isOn(table, path, MountTable.Mount::mayHang)) {
        return Optional.of(Files.isSymbolicLink(path) ? Files.readSymbolicLink(path) : path);
      }
      List<String> words = new ArrayList<>(readlink);
      words.add(path.toString());
      return BoundedCommand.run(deadline, LONGEST_LINK, words)
          .map(output -> output.exit() == 0 ? Path.of(output.all()) : path);
    } catch (IOException e) {
      return Optional.of(path);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw CliException.couldNot("interrupted", e);
    }
  }

  private static boolean isOn(MountTable table, Path path, Predicate<MountTable.Mount> kind) {
    return table.covering(path).filter(kind).isPresent();
  }

  @Override
  public Path realPath(Path path) throws IOException {
    return path.toRealPath();
  }

  @Override
  public boolean canRead(Path directory) {
    return Files.isReadable(directory) && Files.isExecutable(directory);
  }

  @Override
  public boolean canWrite(Path directory) {
    return Files.isWritable(directory);
  }

  @Override
  public Device device() {
    try {
      FileChannel.open(DEVICE, StandardOpenOption.READ, StandardOpenOption.WRITE).close();
      return Device.USABLE;
    } catch (AccessDeniedException e) {
      return Device.DENIED;
    } catch (IOException e) {
      boolean forbidden = String.valueOf(e.getMessage()).contains("not permitted");
      return forbidden ? Device.DENIED : Device.MISSING;
    }
  }

  @Override
  public boolean mayMount() {
    return Procfs.host().hasCapability(CAP_SYS_ADMIN, true);
  }

  @Override
  public boolean hasFusermount() {
    String path = environment().getOrDefault("PATH", "/usr/bin:/bin");
    for (String directory : path.split(":", -1)) {
      if (!directory.isEmpty() && Files.isExecutable(Path.of(directory, "fusermount"))) {
        return true;
      }
    }
    return false;
  }

  @Override
  public boolean hasLibfuse() {
    return Libfuse.isInstalled(Path.of("/"), environment());
  }

  @Override
  public String libfuseInstallation() {
    return Libfuse.installation(lines(Path.of("/etc/os-release")));
  }

  @Override
  public boolean userAllowOther() {
    return lines(Path.of("/etc/fuse.conf")).stream()
        .anyMatch(line -> line.strip().equals("user_allow_other"));
  }

  @Override
  public List<Path> ownDirectories() {
    List<Path> own = new ArrayList<>();
    for (String property : List.of("holdfast.home", "java.home", "java.io.tmpdir")) {
      Optional.ofNullable(System.getProperty(property)).map(Path::of).ifPresent(own::add);
    }
    return own;
  }

  @Override
  public void detach(Path mountpoint) throws IOException {
    if (uid != 0) {
      helper(List.of("fusermount", "-u", "-z", "--", mountpoint.toString()));
      return;
    }
    MountId mount = mounts().at(mountpoint).map(MountId::of).orElse(MountId.NONE);
    // by force: a thread of a killed daemon that waits for a page may hold the connection, and all
    // who wait for the mount wait for that
    int errno = Unmount.unmount(mount, Unmount.FORCE | Unmount.DETACH);
    if (errno == EPERM) {
      // kernels before 6.15 permit force to the machine's own root only
      errno = Unmount.unmount(mount, Unmount.DETACH);
    }
    forget(mountpoint, errno);
  }

  @Override
  public void detachLazily(Path mountpoint) throws IOException {
    MountId mount = mounts().at(mountpoint).map(MountId::of).orElse(MountId.NONE);
    forget(mountpoint, Unmount.unmount(mount, Unmount.DETACH));
  }

  /** Ends an unmount. */
  private static void forget(Path mountpoint, int errno) throws IOException {
    if (errno != 0) {
      throw new IOException(Linux.describe(errno));
    }
    MountNote.remove(mountpoint);
  }

  private static void helper(List<String> command) throws IOException {
    Process child = new ProcessBuilder(command).redirectErrorStream(true).start();
    child.getOutputStream().close();
    try {
      if (!child.waitFor(HELPER_SECONDS, TimeUnit.SECONDS)) {
        child.destroyForcibly();
        throw new IOException(command.get(0) + " does not end");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
    if (child.exitValue() != 0) {
      byte[] output = child.getInputStream().readAllBytes();
      throw new IOException(new String(output, StandardCharsets.UTF_8).strip());
    }
  }

  private static List<String> lines(Path file) {
    try {
      return Files.exists(file, LinkOption.NOFOLLOW_LINKS) ? Files.readAllLines(file) : List.of();
    } catch (IOException e) {
      // Absent or unreadable: says nothing.
      return List.of();
    }
  }
}
