package io.holdfast.fs.debug;

import io.holdfast.fs.doctor.BoundedCommand;
import io.holdfast.fs.doctor.MachineFiles;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds out which secrets are in use, so that they can be taken out wherever they stand: those of
 * environments, and what the secret files of a cluster hold. They are kept nowhere. Immutable.
 */
final class KnownSecrets {
  private static final Duration DEADLINE = Duration.ofSeconds(1);
  private static final int LARGEST = 1 << 18;

  /** An option that names a file with a secret, as one word or two. */
  private static final Pattern FILE =
      Pattern.compile("--(?:cluster-secret-file|tls-key)[=\\x00]([^\\x00]+)");

  private final MachineFiles files;

  KnownSecrets(MachineFiles files) {
    this.files = files;
  }

  /** Returns those of an environment. */
  static List<String> of(Map<String, String> environment) {
    List<String> secrets = new ArrayList<>();
    environment.forEach(
        (name, value) -> {
          // the name of a file is no secret, and would be missed
          if (Redactor.isSecretName(name) && !name.endsWith("_FILE")) {
            secrets.add(value);
          }
        });
    return secrets;
  }

  /**
   * Returns those of a process. Child processes read what the kernel says of it: they may have to
   * wait for the lock of its memory.
   */
  List<String> ofProcess(long pid) throws InterruptedException {
    List<String> secrets = new ArrayList<>();
    for (String variable :
        read(files.path("proc/" + pid + "/environ").toString()).split("\0", -1)) {
      int equals = variable.indexOf('=');
      if (equals > 0) {
        secrets.addAll(of(Map.of(variable.substring(0, equals), variable.substring(equals + 1))));
      }
    }
    Matcher file = FILE.matcher(read(files.path("proc/" + pid + "/cmdline").toString()));
    while (file.find()) {
      secrets.add(read(file.group(1)));
    }
    return secrets;
  }

  private static String read(String file) throws InterruptedException {
    try {
      return BoundedCommand.run(DEADLINE, LARGEST, List.of("cat", "--", file))
          .filter(output -> output.exit() == 0)
          .map(BoundedCommand.Output::all)
          .orElse("");
    } catch (IOException e) {
      return "";
    }
  }
}
