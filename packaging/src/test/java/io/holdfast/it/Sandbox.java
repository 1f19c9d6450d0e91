package io.holdfast.it;

import io.holdfast.it.MountTable.Row;
import io.holdfast.posix.Posix;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The files, mounts and processes of a test. A JUnit extension: for each test if it is a field of
 * the instance, for the whole class if it is a static field.
 *
 * <p>At the end it unmounts as a user would, and then looks for what is left: a mount, a process, a
 * socket or a temporary file fails the test. Whatever it finds it removes by force, so that no test
 * disturbs the next one.
 */
public final class Sandbox
    implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {
  /** The distribution under test. */
  public static final Path HOME =
      Path.of(System.getProperty("holdfast.home", "target/holdfast")).toAbsolutePath();

  /** How long a command may take before it counts as hung. */
  public static final Duration COMMAND_DEADLINE = Duration.ofMinutes(2);

  /** How long an end may take before it counts as hung, on a machine that has much else to do. */
  public static final Duration END_DEADLINE = Duration.ofSeconds(30);

  /** The tag of tests to which the binding makes no difference: once with any of them is enough. */
  public static final String ANY_BINDING = "any-binding";

  private static final Path SOCKETS = Path.of("/run/holdfast");
  private static final AtomicInteger COUNTER = new AtomicInteger();

  private final List<Mount> mounts = new ArrayList<>();
  private final List<Child> children = new CopyOnWriteArrayList<>();
  private final List<Runnable> atEnd = new ArrayList<>();
  private final AtomicInteger files = new AtomicInteger();
  private boolean perClass;
  private Path root = Path.of("/nonexistent");
  private String id = "";
  private Thread rescue = new Thread();

  @Override
  public void beforeAll(ExtensionContext context) {
    perClass = true;
    open();
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    if (!perClass) {
      open();
    }
  }

  @Override
  public void afterEach(ExtensionContext context) {
    context.getExecutionException().ifPresent(e -> printLogs(context.getDisplayName()));
    if (!perClass) {
      close();
    }
  }

  @Override
  public void afterAll(ExtensionContext context) {
    close();
  }

  /** Begins, for a program that is no test of JUnit. */
  public void open() {
    mounts.clear();
    children.clear();
    atEnd.clear();
    id = "it" + ProcessHandle.current().pid() + "x" + COUNTER.incrementAndGet();
    try {
      root =
          Files.createTempDirectory(
                  "hf-" + id + "-",
                  PosixFilePermissions.asFileAttribute(
                      PosixFilePermissions.fromString("rwxr-xr-x")))
              .toRealPath();
      Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwxr-xr-x"));
      Files.setPosixFilePermissions(temporary(), PosixFilePermissions.fromString("rwxrwxrwx"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    rescue = new Thread(this::removeByForce, "rescue");
    Runtime.getRuntime().addShutdownHook(rescue);
  }

  /** Ends; an error when something was left behind. */
  public void close() {
    List<String> left = new ArrayList<>();
    try {
      children.forEach(Child::kill);
      ProcessTable.marked(id).forEach(row -> Posix.kill(row.pid(), Posix.SIGCONT));
      unmountAll(left);
      findLeaks(left);
    } finally {
      removeByForce();
      Runtime.getRuntime().removeShutdownHook(rescue);
    }
    if (!left.isEmpty()) {
      throw new AssertionError("left behind: " + left);
    }
  }

  private void unmountAll(List<String> left) {
    for (int i = mounts.size() - 1; i >= 0; i--) {
      Mount mount = mounts.get(i);
      if (mount.isMounted()) {
        mount.end().ifPresent(left::add);
      }
    }
  }

  private void findLeaks(List<String> left) {
    if (!Await.holdsWithin(COMMAND_DEADLINE, () -> ProcessTable.marked(id).isEmpty())) {
      ProcessTable.marked(id).forEach(row -> left.add("process: " + row));
    }
    MountTable.below(root).stream()
        .filter(Row::isHoldfast)
        .forEach(row -> left.add("mount: " + row));
    sockets().forEach(socket -> left.add("socket: " + socket));
    temporaryFiles().forEach(file -> left.add("temporary file: " + file));
  }

  /** The temporary folder of this sandbox's processes: others have theirs elsewhere. */
  private Path temporary() {
    return folder("tmp");
  }

  /** Returns the files in Holdfast's runtime folder for mounts of this sandbox. */
  public List<Path> sockets() {
    if (!Files.isDirectory(SOCKETS)) {
      return List.of();
    }
    try (Stream<Path> entries = Files.list(SOCKETS)) {
      return entries.filter(path -> path.getFileName().toString().contains(id + "-")).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Temporary files that only Holdfast or its native libraries could have made. */
  public Set<String> temporaryFiles() {
    try (Stream<Path> entries = Files.list(temporary())) {
      Set<String> names = new TreeSet<>();
      entries
          .map(path -> path.getFileName().toString())
          .filter(name -> name.matches("(?i).*(holdfast|jffi|jnr|libfuse).*"))
          .forEach(names::add);
      return names;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void removeByForce() {
    for (int round = 0; round < 2; round++) {
      List<ProcessTable.Row> processes = ProcessTable.marked(id);
      List<Row> left = MountTable.below(root).stream().filter(Row::isHoldfast).toList();
      if (processes.isEmpty() && left.isEmpty()) {
        break;
      }
      for (ProcessTable.Row row : processes) {
        Posix.kill(row.pid(), Posix.SIGKILL);
        Posix.kill(row.pid(), Posix.SIGCONT);
      }
      left.forEach(row -> command("umount", "-i", "-f", "-l", row.mountpoint()));
      Await.holdsWithin(END_DEADLINE, () -> ProcessTable.marked(id).isEmpty());
    }
    atEnd.forEach(Runnable::run);
    MountTable.below(root).forEach(row -> command("umount", "-l", row.mountpoint()));
    for (Path socket : sockets()) {
      command("rm", "-rf", socket.toString());
    }
    removeFiles();
  }

  /** Files only: whatever could not be unmounted is not entered. */
  private void removeFiles() {
    try {
      new ProcessBuilder("rm", "-rf", "--one-file-system", root.toString())
          .inheritIO()
          .start()
          .waitFor();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Has something taken away when the sandbox's processes have ended, the newest first. */
  public void atEnd(Runnable removal) {
    atEnd.add(0, removal);
  }

  /** The kernel's folder for a FUSE connection: how many requests wait, and a way to end it. */
  public Path fuseConnection(int minor) {
    Path connection = Path.of("/sys/fs/fuse/connections", Integer.toString(minor));
    if (Files.exists(connection.resolve("abort"))) {
      return connection;
    }
    Path connections = folder("fusectl");
    if (!Files.exists(connections.resolve(minor + "/abort"))) {
      command("mount", "-t", "fusectl", "none", connections.toString());
    }
    return connections.resolve(Integer.toString(minor));
  }

  private void printLogs(String test) {
    for (Mount mount : mounts) {
      if (Files.exists(mount.log())) {
        try (Stream<String> lines = Files.lines(mount.log())) {
          List<String> all = lines.toList();
          System.out.println("--- log of " + mount.name() + " in " + test);
          all.subList(Math.max(0, all.size() - 40), all.size()).forEach(System.out::println);
        } catch (IOException | UncheckedIOException e) {
          System.out.println("no log of " + mount.name() + ": " + e);
        }
      }
    }
  }

  /** The sandbox's folder, readable for everybody. */
  public Path root() {
    return root;
  }

  /** The mark of everything that belongs to this sandbox: part of the names of mounts. */
  public String id() {
    return id;
  }

  /** A new folder. */
  public Path folder(String name) {
    try {
      return Files.createDirectories(root.resolve(name));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A new folder on a file system of its own in memory. */
  public Path tmpfs(String name) {
    return tmpfs(name, "12g");
  }

  /** The same of a size, as mount takes it. */
  public Path tmpfs(String name, String size) {
    Path folder = folder(name);
    String options = "size=%s,mode=755".formatted(size);
    command("mount", "-t", "tmpfs", "-o", options, "none", folder.toString());
    return folder;
  }

  /**
   * Mounts the file system that is in a file, through a loop device that goes with the mount. That
   * takes three commands: {@code mount -o loop} may find a device that another process has just
   * taken.
   */
  public void mountImage(Path image, Path folder, String options) {
    String device =
        command("losetup", "--find", "--show", image.toString()).mustSucceed().out().strip();
    Child.Result mounted = command("mount", "-o", options, device, folder.toString());
    command("losetup", "--detach", device).mustSucceed();
    mounted.mustSucceed();
  }

  /** Mounts a dataset at a new mountpoint; an error when that fails. */
  public Mount mount(Path origin, String... options) {
    return mountAt(origin, folder("mnt" + mounts.size()), options);
  }

  /** Mounts a source that may be in S3 at a new mountpoint, with more environment. */
  public Mount mountSource(String source, Map<String, String> environment, String... options) {
    return mountWith(List.of(), environment, source, folder("mnt" + mounts.size()), options);
  }

  /** Mounts a dataset at a place; over itself when that is the origin. */
  public Mount mountAt(Path origin, Path mountpoint, String... options) {
    return mountWith(List.of(), Map.of(), origin.toString(), mountpoint, options);
  }

  /**
   * Mounts a dataset, with a command in front (that executes its arguments) and more environment.
   */
  public Mount mountWith(
      List<String> prefix,
      Map<String, String> environment,
      String source,
      Path mountpoint,
      String... options) {
    Mount mount = new Mount(this, id + "-" + mounts.size(), source, mountpoint);
    mounts.add(mount);
    List<String> command = new ArrayList<>(prefix);
    command.addAll(mount.command(options));
    mount.started(run(environment, command).mustSucceed());
    return mount;
  }

  /** A mount that the test starts itself. */
  public Mount declare(Path origin) {
    Mount mount =
        new Mount(this, id + "-" + mounts.size(), origin.toString(), folder("mnt" + mounts.size()));
    mounts.add(mount);
    return mount;
  }

  /** Runs the launcher. */
  public Child.Result holdfast(String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(launcher());
    command.addAll(List.of(arguments));
    return run(Map.of(), command);
  }

  /** Returns a port of this machine on which nobody listens. */
  public static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  public static String launcher() {
    return HOME.resolve("bin/holdfast").toString();
  }

  /** Runs a command to its end; an error when it does not succeed. */
  public Child.Result command(String... command) {
    return run(Map.of(), List.of(command));
  }

  public Child.Result run(Map<String, String> environment, List<String> command) {
    Child child = start(environment, command);
    if (!child.endsWithin(COMMAND_DEADLINE)) {
      child.kill();
    }
    return child.await(END_DEADLINE);
  }

  /** Starts a process that ends with the sandbox at the latest. */
  public Child start(String... command) {
    return start(Map.of(), List.of(command));
  }

  public Child start(Map<String, String> environment, List<String> command) {
    int number = files.incrementAndGet();
    Path out = folder("out").resolve(number + ".out");
    Path err = out.resolveSibling(number + ".err");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
    builder.environment().put(ProcessTable.MARK, id);
    builder.environment().put("TMPDIR", temporary().toString());
    builder.environment().putAll(environment);
    builder
        .environment()
        .merge(
            "HOLDFAST_JAVA_OPTIONS",
            "-Djava.io.tmpdir=" + temporary(),
            (own, all) -> own + " " + all);
    try {
      Child child = new Child(builder.start(), command, out, err);
      children.add(child);
      return child;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The command that runs a program of the tests in a JVM of its own. The program may use nothing
   * but the JDK.
   */
  public static List<String> java(Class<?> program, Object... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "-Xshare:auto",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx64m",
                "-cp",
                classes(program),
                program.getName()));
    for (Object argument : arguments) {
      command.add(argument.toString());
    }
    return command;
  }

  public Child startJava(Class<?> program, Object... arguments) {
    return start(Map.of(), java(program, arguments));
  }

  private static String classes(Class<?> program) {
    try {
      return Path.of(program.getProtectionDomain().getCodeSource().getLocation().toURI())
          .toString();
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }
}
