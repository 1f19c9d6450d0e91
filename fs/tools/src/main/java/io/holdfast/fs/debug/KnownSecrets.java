package io.holdfast.fs.debug;

import io.holdfast.fs.doctor.Answers;
import io.holdfast.fs.doctor.BoundedCommand;
import io.holdfast.fs.doctor.MachineFiles;
import io.holdfast.fs.doctor.Subject;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Finds the secrets that are in use, so that they can be removed wherever they stand: secrets of
 * environments, and the content of secret files. Keeps them nowhere. Immutable.
 */
final class KnownSecrets {
  private static final Duration DEADLINE = Duration.ofSeconds(1);
  private static final int LARGEST = 1 << 18;

  /** Settings that name a file with a secret. */
  static final List<String> FILES = List.of("cluster-secret-file", "tls-key", "page-token-file");

  private final MachineFiles files;

  KnownSecrets(MachineFiles files) {
    this.files = files;
  }

  /** Returns the secrets of an environment. */
  static List<String> of(Map<String, String> environment) {
    List<String> secrets = new ArrayList<>();
    environment.forEach(
        (name, value) -> {
          // the name of a file is no secret, and a bug report needs it
          if (Redactor.isSecretName(name) && !name.endsWith("_FILE")) {
            secrets.add(value);
          }
          userInfo(value)
              .ifPresent(
                  user -> {
                    secrets.add(user);
                    secrets.add(user.substring(user.indexOf(':') + 1));
                  });
        });
    return secrets;
  }

  /** Returns the user and password before the host of an address, as for proxies. */
  private static Optional<String> userInfo(String address) {
    int begin = address.indexOf("://");
    int end = address.lastIndexOf('@');
    return begin < 0 || end < begin
        ? Optional.empty()
        : Optional.of(address.substring(begin + 3, end));
  }

  /**
   * Finds the secrets of a daemon. A child process reads the daemon's environment, because the read
   * may have to wait for the lock of the daemon's memory.
   *
   * @param taker takes each secret, even if others cannot be read
   * @return a line about the search, for a reader
   * @throws IOException if there may be secrets that were not found
   */
  String ofProcess(Subject subject, Consumer<String> taker)
      throws IOException, InterruptedException {
    List<String> unread = new ArrayList<>();
    String environ = files.path("proc/" + subject.pid() + "/environ").toString();
    for (String variable : read(environ, unread).split("\0", -1)) {
      int equals = variable.indexOf('=');
      if (equals > 0) {
        of(Map.of(variable.substring(0, equals), variable.substring(equals + 1))).forEach(taker);
      }
    }
    if (!subject.isTrusted()) {
      unread.add("the files that a daemon of another user names");
    } else if (subject.socket() != null) {
      Answers answers = Answers.ask(subject.socket(), Duration.ZERO);
      if (answers.config().isEmpty()) {
        unread.add("what " + String.join(", ", FILES) + " name");
      }
      for (String key : FILES) {
        Optional<String> file = answers.setting(key);
        if (file.isPresent()) {
          taker.accept(read(file.get(), unread));
        }
      }
    }
    if (!unread.isEmpty()) {
      throw new IOException(
          "cannot be read: %s; only what looks like a secret was taken out"
              .formatted(String.join(", ", unread)));
    }
    return "The secrets of its environment and its files were taken out.\n";
  }

  private static String read(String file, List<String> unread) throws InterruptedException {
    try {
      Optional<BoundedCommand.Output> output =
          BoundedCommand.run(DEADLINE, LARGEST, List.of("cat", "--", file));
      if (output.isPresent() && output.get().exit() == 0) {
        return output.get().all();
      }
    } catch (IOException e) {
      // there is no cat: reported like the other failures
    }
    unread.add(file);
    return "";
  }
}
