package io.holdfast.fs.linux;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Checks that nobody else can replace a file that this process writes or believes. Otherwise a link
 * could have a daemon of root append to any file, or believe what others have written. Only this
 * process's user and root may be able to replace it. Stateless.
 */
public final class TrustedPlace {
  private static final int ROOT = 0;
  private static final int OTHERS_MAY_WRITE = 0002;
  private static final int GROUP_MAY_WRITE = 0020;

  /** The first number of groups of people. The group of all users is below it, mostly 100. */
  private static final int FIRST_OF_PEOPLE = 1000;

  private static final int ALL_USERS = 100;
  private static final int STICKY = 01000;

  /**
   * A place that is not trusted. The message says in one line which place it is, and what to do.
   */
  public static final class Untrusted extends IOException {
    private static final long serialVersionUID = 1;

    private Untrusted(String text) {
      super(text);
    }
  }

  private TrustedPlace() {}

  /**
   * Checks a file, which need not exist, and the directories above it.
   *
   * @param what names the file's use in the message, such as "the log"
   * @throws Untrusted if others could put another file in its place, or have done so
   */
  public static void check(String what, Path file) throws IOException {
    int self = Procfs.ownUid();
    Path absolute = file.toAbsolutePath().normalize();
    checkFile(what, absolute, self, self);
    checkAbove(what, absolute, self, self);
  }

  /**
   * Checks a socket, which need not exist, and the directories above it. It may belong to another
   * user, who listens there, and so may its directories. No third user may be able to put it there.
   *
   * @param what names the socket's use in the message, such as "the log"
   * @throws Untrusted if third users could put another socket in its place, or have done so
   */
  public static void checkSocket(String what, Path socket) throws IOException {
    int self = Procfs.ownUid();
    Path absolute = socket.toAbsolutePath().normalize();
    Path parent = absolute.getParent();
    Integer owner = attribute(absolute, "unix:uid");
    boolean mayBeOthers = owner != null && parent != null && !isShared(parent.toRealPath());
    int other = mayBeOthers ? owner : self;
    checkFile(what, absolute, self, other);
    checkAbove(what, absolute, self, other);
  }

  private static boolean isShared(Path directory) throws IOException {
    Integer owner = attribute(directory, "unix:uid");
    Integer group = attribute(directory, "unix:gid");
    Integer mode = attribute(directory, "unix:mode");
    return owner == null || group == null || mode == null || mayOthersWrite(mode, owner, group);
  }

  private static void checkAbove(String what, Path file, int self, int other) throws IOException {
    checkDirectories(what, file, self, other);
    Path parent = file.getParent();
    if (parent != null && Files.exists(parent)) {
      checkDirectories(what, parent.toRealPath().resolve("file"), self, other);
    }
  }

  private static void checkFile(String what, Path file, int self, int other) throws IOException {
    Integer owner = attribute(file, "unix:uid");
    if (owner == null) {
      return;
    }
    if (Files.isSymbolicLink(file)) {
      throw new Untrusted("%s %s is a symbolic link: name the file itself".formatted(what, file));
    }
    if (owner != ROOT && owner != self && owner != other) {
      throw new Untrusted(
          "%s %s belongs to user %d: remove it, or choose another place"
              .formatted(what, file, owner));
    }
  }

  private static void checkDirectories(String what, Path file, int self, int other)
      throws IOException {
    for (Path each = file.getParent(); each != null; each = each.getParent()) {
      Integer owner = attribute(each, "unix:uid");
      Integer group = attribute(each, "unix:gid");
      Integer mode = attribute(each, "unix:mode");
      if (owner == null || group == null || mode == null || Files.isSymbolicLink(each)) {
        continue;
      }
      boolean shared = mayOthersWrite(mode, owner, group) && (mode & STICKY) == 0;
      if (shared || (owner != ROOT && owner != self && owner != other)) {
        throw new Untrusted(
            ("%s %s is in %s, where others could put another file in its place (owner %d, mode"
                    + " %04o): choose another place, or 'chown %d %s' and 'chmod go-w %s'")
                .formatted(what, file, each, owner, mode & 07777, self, each, each));
      }
    }
  }

  private static boolean mayOthersWrite(int mode, int owner, int group) {
    boolean people = group >= FIRST_OF_PEOPLE || group == ALL_USERS || group < 0;
    return (mode & OTHERS_MAY_WRITE) != 0
        || ((mode & GROUP_MAY_WRITE) != 0
            && people
            && !PrivateGroups.ofMachine().isPrivate(owner, group));
  }

  private static @Nullable Integer attribute(Path path, String name) throws IOException {
    try {
      return (Integer) Files.getAttribute(path, name, LinkOption.NOFOLLOW_LINKS);
    } catch (NoSuchFileException e) {
      return null;
    }
  }
}
