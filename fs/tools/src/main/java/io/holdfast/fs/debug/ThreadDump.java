package io.holdfast.fs.debug;

import io.holdfast.fs.doctor.BoundedCommand;
import io.holdfast.fs.doctor.MachineFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The stacks of a daemon's threads, from its virtual machine. A child process asks, because a
 * daemon that hangs does not answer. Immutable.
 */
final class ThreadDump {
  private static final Duration DEADLINE = Duration.ofSeconds(5);
  private static final int LARGEST = 3 << 20;

  private final MachineFiles files;

  ThreadDump(MachineFiles files) {
    this.files = files;
  }

  String of(long pid) throws IOException, InterruptedException {
    char state = files.procfs().state(pid);
    if ("TtZX?".indexOf(state) >= 0) {
      throw new IOException("the process is in state " + state + " and cannot be asked");
    }
    Optional<BoundedCommand.Output> output =
        BoundedCommand.run(
            DEADLINE,
            LARGEST,
            List.of(
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "-Xshare:auto",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-m",
                "jdk.jcmd/sun.tools.jcmd.JCmd",
                Long.toString(pid),
                "Thread.print",
                "-l"));
    if (output.isEmpty()) {
      takeQuestionBack(pid);
      throw new IOException(
          "no answer of its virtual machine in %d s".formatted(DEADLINE.toSeconds()));
    }
    if (output.get().exit() != 0) {
      throw new IOException("jcmd failed: " + output.get().text());
    }
    return output.get().all();
  }

  /** Removes the file by which a child process asked, if the child was killed. */
  private void takeQuestionBack(long pid) throws IOException {
    String question = ".attach_pid" + pid;
    Files.deleteIfExists(files.path("proc/" + pid + "/cwd/" + question));
    Files.deleteIfExists(files.path("tmp/" + question));
  }
}
