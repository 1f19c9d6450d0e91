package io.holdfast.model;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.it.Await;
import io.holdfast.it.Cluster;
import io.holdfast.it.ControlSocket;
import io.holdfast.it.Mount;
import io.holdfast.it.Sandbox;
import io.holdfast.posix.Posix;
import io.holdfast.posix.RawPath;
import io.holdfast.posix.Stat;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Two mounts that are peers. What is seen is what system calls on the first one say. */
final class MountSystem implements SystemUnderTest {
  private static final int ITEM = 1 << 20;
  private static final Duration LONGEST = Duration.ofSeconds(60);

  private static final String[] OPTIONS = {
    "--capacity", "64M", "--transit", "16M", "--item-size", "1M", "--window-age", "100ms"
  };

  private final Sandbox sandbox = new Sandbox();
  private final Path origin;
  private final Cluster cluster;
  private final Mount mount;
  private boolean peerIsUp = true;

  MountSystem() {
    sandbox.open();
    try {
      origin = sandbox.tmpfs("origin");
      cluster = new Cluster(sandbox, OPTIONS);
      cluster.start(origin, 2);
      mount = cluster.node(0).mount();
    } catch (AssertionError | RuntimeException e) {
      try {
        sandbox.close();
      } catch (AssertionError left) {
        e.addSuppressed(left);
      }
      throw e;
    }
  }

  @Override
  public Path origin() {
    return origin;
  }

  @Override
  public int itemSize() {
    return ITEM;
  }

  @Override
  public boolean believes() {
    return true;
  }

  /** The kernel keeps what it has listed to the end. */
  @Override
  public boolean listsTheMoment() {
    return false;
  }

  // what is seen

  private RawPath raw(String path) {
    return RawPath.of(mount.path(path));
  }

  private static String errno(IOException failure) {
    String message = String.valueOf(failure.getMessage());
    return message.substring(message.lastIndexOf(' ') + 1);
  }

  private static Shown shown(Stat stat) {
    if (stat.isDirectory()) {
      return Shown.DIRECTORY;
    }
    return stat.isSymlink()
        ? Shown.linkOfLength(stat.size())
        : Shown.file(stat.size(), stat.modified().seconds());
  }

  @Override
  public Shown look(String path) {
    try {
      return shown(Posix.lstat(raw(path)));
    } catch (IOException e) {
      return Shown.nothing(errno(e));
    }
  }

  @Override
  public List<String> list(String directory) throws Refused {
    List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(mount.path(directory))) {
      all.forEach(each -> names.add(each.getFileName().toString()));
      return names;
    } catch (DirectoryIteratorException e) {
      throw new Refused(errnoOf(e.getCause()), e);
    } catch (IOException e) {
      throw new Refused(errnoOf(e), e);
    }
  }

  private static String errnoOf(IOException failure) {
    if (failure instanceof NoSuchFileException) {
      return "ENOENT";
    }
    if (failure instanceof NotDirectoryException) {
      return "ENOTDIR";
    }
    String reason = failure instanceof FileSystemException of ? of.getReason() : "";
    return switch (String.valueOf(reason)) {
      case "No such file or directory" -> "ENOENT";
      case "Not a directory" -> "ENOTDIR";
      case "Stale file handle" -> "ESTALE";
      case "Invalid argument" -> "EINVAL";
      default -> failure.toString();
    };
  }

  @Override
  public String readLink(String path) throws Refused {
    try {
      return Posix.readlink(raw(path)).toString();
    } catch (IOException e) {
      throw new Refused(errno(e), e);
    }
  }

  @Override
  public Open open(String path) throws Refused {
    try {
      OpenFile file = new OpenFile(Posix.open(raw(path), Posix.O_RDONLY));
      if (file.look().isFile()) {
        return file;
      }
      file.close();
    } catch (IOException e) {
      throw new Refused(errno(e), e);
    }
    throw new Refused("EISDIR");
  }

  private static final class OpenFile implements Open {
    private final int fd;

    OpenFile(int fd) {
      this.fd = fd;
    }

    @Override
    public Shown look() throws Refused {
      try {
        return shown(Posix.fstat(fd));
      } catch (IOException e) {
        throw new Refused(errno(e), e);
      }
    }

    @Override
    public byte[] read(long offset, int length) throws Refused {
      try {
        return Posix.pread(fd, offset, length);
      } catch (IOException e) {
        throw new Refused(errno(e), e);
      }
    }

    @Override
    public void close() {
      Posix.close(fd);
    }
  }

  // what users do

  private static Map<String, Object> ask(Mount of, Map<String, Object> question) {
    try {
      return JSON.std.mapFrom(ControlSocket.ask(of.name(), JSON.std.asString(question)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void refresh(String path) throws Refused {
    refresh(mount, path);
  }

  private static void refresh(Mount of, String path) throws Refused {
    Map<String, Object> answer = ask(of, Map.of("command", "refresh", "path", path));
    if (!Boolean.TRUE.equals(answer.get("ok"))) {
      throw new Refused(answer.toString());
    }
  }

  @Override
  public void capacity(long bytes) {
    mount.setCapacity(bytes);
  }

  @Override
  public long residentBytes() {
    return mount.stats().residentBytes();
  }

  @Override
  public void peer(boolean up) {
    if (up == peerIsUp) {
      return;
    }
    peerIsUp = up;
    if (up) {
      cluster.node(1).host().heal();
    } else {
      cluster.node(1).host().reset(1);
    }
  }

  @Override
  public void awaitNothingHeld() throws Refused {
    for (Cluster.Node node : cluster.nodes()) {
      Mount each = node.mount();
      refresh(each, "");
      Await.until(LONGEST, "nothing is resident", () -> each.stats().residentBytes() == 0);
      Await.until(LONGEST, "nothing is locked", () -> each.lockedBytes() == 0);
      each.settledStats();
    }
  }

  @Override
  public void close() {
    sandbox.close();
  }

  @Override
  public String toString() {
    return "mounts";
  }
}
