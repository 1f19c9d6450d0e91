package io.holdfast.peer.membership;

import io.holdfast.peer.PeerSetupException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * The folder in which the nodes leave their addresses for each other. JGroups opens files there by
 * their names again and again, and follows symlinks. So only this process's user and root may be
 * able to put anything into the folder, or another folder in its place: otherwise a link could have
 * a daemon of root write to any file. Stateless.
 *
 * <p>The user of a process may be another one on a network filesystem, which shows root as nobody.
 * So a file that this process makes in the folder tells which user that is.
 */
final class MembersFolder {
  private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
  private static final String WANTED = "unix:mode,uid";
  private static final int ROOT = 0;
  private static final int OTHERS_MAY_WRITE = 0022;
  private static final int STICKY = 01000;
  private static final int PERMISSIONS = 07777;

  private MembersFolder() {}

  /**
   * Creates the folder where there is none, and checks it.
   *
   * @param directory the directory that all nodes can write to
   * @return the same directory by a path without symlinks
   * @throws PeerSetupException where the folder cannot be written to, or others can replace it or
   *     what is in it
   */
  static Path prepare(Path directory) throws PeerSetupException {
    if (!Files.isDirectory(directory)) {
      throw new PeerSetupException(
          "the directory '%s' for finding peers does not exist: make it, or mount it"
              .formatted(directory));
    }
    Path folder = directory.resolve(ClusterStack.GROUP);
    try {
      Path real = directory.toRealPath();
      folder = real.resolve(ClusterStack.GROUP);
      createIfAbsent(folder);
      check(folder);
      return real;
    } catch (IOException e) {
      throw new PeerSetupException(
          "the directory '%s' for finding peers cannot be written to: change its owner or mode"
              .formatted(folder),
          e);
    }
  }

  private static void createIfAbsent(Path folder) throws IOException, PeerSetupException {
    try {
      Files.createDirectory(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    } catch (FileAlreadyExistsException e) {
      if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
        throw new PeerSetupException(
            "'%s' for finding peers is no directory: remove it, or name another directory"
                .formatted(folder),
            e);
      }
    }
  }

  private static void check(Path folder) throws IOException, PeerSetupException {
    int self = ownerOfNewFiles(folder);
    Path each = folder;
    int tolerated = 0; // who can write to the folder itself replaces files in it, sticky or not
    while (each != null) {
      Map<String, Object> found = Files.readAttributes(each, WANTED, LinkOption.NOFOLLOW_LINKS);
      int owner = (Integer) found.get("uid");
      int mode = (Integer) found.get("mode");
      boolean shared = (mode & OTHERS_MAY_WRITE) != 0 && (mode & tolerated) == 0;
      if (shared || (owner != ROOT && owner != self)) {
        throw new PeerSetupException(
            ("others could replace what is in '%s' for finding peers, by %s (owner %d, mode %04o):"
                    + " run 'chown %d %s' and 'chmod go-w %s', or name another directory")
                .formatted(folder, each, owner, mode & PERMISSIONS, self, each, each));
      }
      each = each.getParent();
      tolerated = STICKY;
    }
  }

  /** Returns the user to whom the filesystem gives the files of this process. */
  private static int ownerOfNewFiles(Path folder) throws IOException {
    byte[] token = UUID.randomUUID().toString().getBytes(StandardCharsets.US_ASCII);
    Path file = folder.resolve(UUID.randomUUID() + ".new");
    try (SeekableByteChannel open =
        Files.newByteChannel(
            file,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
      int unused = open.write(ByteBuffer.wrap(token));
      return ownerOfOpenFile(token, file);
    } finally {
      Files.deleteIfExists(file);
    }
  }

  /**
   * Finds an open file by its content, since who owns the folder can have another file at its path.
   */
  private static int ownerOfOpenFile(byte[] token, Path file) throws IOException {
    try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(DESCRIPTORS)) {
      for (Path each : descriptors) {
        if (holds(each, token)) {
          return (Integer) Files.getAttribute(each, "unix:uid");
        }
      }
    }
    throw new AccessDeniedException(file.toString(), null, "its owner cannot be told");
  }

  private static boolean holds(Path descriptor, byte[] token) {
    try {
      return Files.isRegularFile(descriptor)
          && Files.size(descriptor) == token.length
          && Arrays.equals(Files.readAllBytes(descriptor), token);
    } catch (IOException e) {
      return false; // closed meanwhile, or another user's
    }
  }
}
