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

/**
 * Finds out which secrets are in use, so that they can be taken out wherever they stand: those of
 * environments, and what the secret files of a cluster hold. They are kept nowhere. Immutable.
 */
final class KnownSecrets {
  private static final Duration DEADLINE = Duration.ofSeconds(1);
  private static final int LARGEST = 1 << 18;

  /** Settings that name a file with a secret. */
  private static final List<String> FILES = List.of("cluster-secret-file", "tls-key");

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
   * Returns those of a daemon. A child process reads its environment: it may have to wait for the
   * lock of the daemon's memory.
   */
  List<String> ofProcess(Subject subject) throws InterruptedException {
    List<String> secrets = new ArrayList<>();
    String environ = read(files.path("proc/" + subject.pid() + "/environ").toString());
    for (String variable : environ.split("\0", -1)) {
      int equals = variable.indexOf('=');
      if (equals > 0) {
        secrets.addAll(of(Map.of(variable.substring(0, equals), variable.substring(equals + 1))));
      }
    }
    if (subject.socket() != null) {
      Answers answers = Answers.ask(subject.socket(), Duration.ZERO);
      for (String key : FILES) {
        secrets.add(read(answers.setting(key).orElse("/dev/null")));
      }
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
