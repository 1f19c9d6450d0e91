package io.holdfast.peer;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;

/**
 * Reads a file that only its owner may read: a secret, or a private key. It checks the open file,
 * so that no other file can take its place between the check and the read. Stateless.
 */
public final class PrivateFile {
  private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
  private static final Path STATUS = Path.of("/proc/self/status");
  private static final String WANTED = "unix:mode,uid,dev,ino";
  private static final int OTHERS = 077;

  private PrivateFile() {}

  /**
   * Reads a file.
   *
   * @param what the kind of file, for messages
   * @param longest most bytes
   * @throws NoSuchFileException where there is no file
   * @throws PeerSetupException where other users may read or write the file, another user owns it,
   *     or it is no regular file or too long
   */
  public static byte[] read(Path file, String what, int longest)
      throws IOException, PeerSetupException {
    if (!Files.exists(file)) {
      throw new NoSuchFileException(file.toString());
    }
    if (!Files.isRegularFile(file)) {
      throw tooLong(file, what, longest);
    }
    try (InputStream in = Files.newInputStream(file)) {
      check(file, what, ofDescriptor(file));
      byte[] bytes = in.readNBytes(longest + 1);
      if (bytes.length > longest) {
        throw tooLong(file, what, longest);
      }
      return bytes;
    }
  }

  private static PeerSetupException tooLong(Path file, String what, int longest) {
    return new PeerSetupException(
        "%s '%s' is no file of at most %d bytes".formatted(what, file, longest));
  }

  private static void check(Path file, String what, Map<String, Object> attributes)
      throws IOException, PeerSetupException {
    int mode = (Integer) attributes.get("mode");
    if ((mode & OTHERS) != 0) {
      throw new PeerSetupException(
          "%s '%s' can be read by others: run 'chmod 600 %s'".formatted(what, file, file));
    }
    int owner = (Integer) attributes.get("uid");
    int user = user();
    if (owner != 0 && owner != user) {
      throw new PeerSetupException(
          "%s '%s' is owned by user %d: run 'chown %d %s', or use one of your own"
              .formatted(what, file, owner, user, file));
    }
  }

  /** Finds the descriptor of the file in this process, and reads its attributes. */
  private static Map<String, Object> ofDescriptor(Path file) throws IOException {
    Map<String, Object> wanted = Files.readAttributes(file, WANTED);
    try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(DESCRIPTORS)) {
      for (Path each : descriptors) {
        Map<String, Object> open = attributesOrNone(each);
        if (wanted.get("ino").equals(open.get("ino"))
            && wanted.get("dev").equals(open.get("dev"))) {
          return open;
        }
      }
    }
    throw new AccessDeniedException(file.toString(), null, "it was replaced while it was opened");
  }

  private static Map<String, Object> attributesOrNone(Path descriptor) {
    try {
      return Files.readAttributes(descriptor, WANTED);
    } catch (IOException e) {
      return Map.of(); // closed meanwhile, or no file at all
    }
  }

  /** Returns the effective user of this process. */
  private static int user() throws IOException {
    for (String line : Files.readAllLines(STATUS)) {
      if (line.startsWith("Uid:")) {
        return Integer.parseInt(line.split("\\s+", -1)[2]);
      }
    }
    throw new IOException(STATUS + " names no user");
  }
}
