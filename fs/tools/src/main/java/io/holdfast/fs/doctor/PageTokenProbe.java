package io.holdfast.fs.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Checks the file with the token of a mount's page: a daemon that is started again reads it again,
 * and has no page if it cannot. Looks at the file, and never into it.
 */
final class PageTokenProbe implements Probe {
  private static final String WANTED = "unix:mode,uid,size,isRegularFile";
  private static final int OTHERS = 077;
  private static final int OWNER_READS = 0400;
  private static final int PERMISSIONS = 07777;

  /** The fewest characters of a token. */
  private static final long SHORTEST = 16;

  private final Subject subject;
  private final PendingAnswers pending;
  private final MachineFiles files;

  PageTokenProbe(Subject subject, PendingAnswers pending, MachineFiles files) {
    this.subject = subject;
    this.pending = pending;
    this.files = files;
  }

  @Override
  public String name() {
    return "page";
  }

  @Override
  public List<Finding> run() throws InterruptedException {
    Answers answers = pending.answers();
    Optional<String> token = answers.setting("page-token-file");
    if (answers.setting("page").isEmpty() || token.isEmpty()) {
      return List.of();
    }
    Path file = Path.of(token.get());
    try {
      int daemon = (Integer) Files.getAttribute(files.path("proc/" + subject.pid()), "unix:uid");
      return List.of(judge(file, Files.readAttributes(file, WANTED), daemon));
    } catch (NoSuchFileException e) {
      return List.of(
          Finding.fail(
              "its token file '%s' is gone: started again, the mount has no page".formatted(file),
              "(umask 077; head -c 32 /dev/urandom | base64 >%s)".formatted(file)));
    } catch (IOException e) {
      return List.of(Finding.warn("its token file cannot be looked at: " + e.getMessage(), ""));
    }
  }

  private static Finding judge(Path file, Map<String, Object> attributes, int daemon) {
    int mode = (Integer) attributes.get("mode") & PERMISSIONS;
    int owner = (Integer) attributes.get("uid");
    String what = "its token file '%s', mode %o, ".formatted(file, mode);
    if (!(Boolean) attributes.get("isRegularFile")) {
      return Finding.fail(what + "is no regular file", "give another --page-token-file");
    }
    if ((mode & OTHERS) != 0) {
      return Finding.fail(
          what + "can be read by others, who then see the page; started again, the mount has none",
          "chmod 600 %s; with another token in it if others may have read it".formatted(file));
    }
    boolean isRead = daemon == 0 || (owner == daemon && (mode & OWNER_READS) != 0);
    if (!isRead || (owner != 0 && owner != daemon)) {
      return Finding.fail(
          what
              + "is of user %d, and the daemon of user %d does not take it: started again, the mount has no page"
                  .formatted(owner, daemon),
          "chown %d %s; chmod 600 %s".formatted(daemon, file, file));
    }
    if ((Long) attributes.get("size") < SHORTEST) {
      return Finding.fail(
          what + "has fewer than %d characters".formatted(SHORTEST),
          "(umask 077; head -c 32 /dev/urandom | base64 >%s)".formatted(file));
    }
    return Finding.ok(what + "is read by its daemon alone");
  }
}
