package io.holdfast.fs.debug;

import io.holdfast.fs.doctor.Doctor;
import io.holdfast.fs.doctor.Subject;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** An archive for a bug report, without secrets, got in a bounded time. Immutable. */
public final class DebugArchive {
  private static final Duration DEADLINE = Duration.ofSeconds(7);

  private final Doctor.Surroundings around;
  private final Map<String, String> environment;

  /**
   * Prepares one.
   *
   * @param environment of this process; what is secret of it is taken out of the archive
   */
  public DebugArchive(Doctor.Surroundings around, Map<String, String> environment) {
    this.around = around;
    this.environment = environment;
  }

  /**
   * Collects and writes a ZIP file.
   *
   * @param out gets it; is not closed
   * @param folder in which all files are there
   * @return a line for each file: its name, and its size or why it is missing
   */
  public List<String> write(OutputStream out, String folder, List<Subject> subjects)
      throws IOException {
    // They are looked for while the rest is: what has not come by then is left to the rules.
    Queue<String> secrets = new ConcurrentLinkedQueue<>(KnownSecrets.of(environment));
    for (Subject subject : subjects) {
      if (subject.pid() != 0) {
        Thread thread = new Thread(() -> add(secrets, subject), "secrets of " + subject.name());
        thread.setDaemon(true);
        thread.start();
      }
    }
    Bundle bundle = new Bundle(DEADLINE, () -> new Redactor(secrets));
    return bundle.pack(out, folder, new Sections(around).of(subjects), around.clock().instant());
  }

  private void add(Queue<String> secrets, Subject subject) {
    try {
      secrets.addAll(new KnownSecrets(around.files()).ofProcess(subject));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
