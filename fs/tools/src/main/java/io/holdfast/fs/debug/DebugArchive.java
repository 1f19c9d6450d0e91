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

/** An archive for a bug report, without secrets, made in a bounded time. Immutable. */
public final class DebugArchive {
  private static final Duration DEADLINE = Duration.ofSeconds(7);

  private final Doctor.Machine machine;
  private final Map<String, String> environment;

  /**
   * Creates an archive, which collects nothing yet.
   *
   * @param environment the environment of this process; the archive has none of its secrets
   */
  public DebugArchive(Doctor.Machine machine, Map<String, String> environment) {
    this.machine = machine;
    this.environment = environment;
  }

  /**
   * Collects and writes a ZIP file.
   *
   * @param out takes the file; is not closed
   * @param folder the folder of all files in the archive
   * @return a line for each file, for people: its name, and its size or why it is missing
   */
  public List<String> write(OutputStream out, String folder, List<Subject> subjects)
      throws IOException {
    Queue<String> secrets = new ConcurrentLinkedQueue<>(KnownSecrets.of(environment));
    List<Section> sections = new Sections(machine).of(subjects, secrets::add);
    Bundle bundle = new Bundle(DEADLINE, () -> new Redactor(secrets));
    return bundle.pack(out, folder, sections, machine.clock().instant());
  }
}
