package io.holdfast.fs.cli;

import io.holdfast.fs.host.CliException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** What the helpers of mount(8) and umount(8) share. Stateless. */
final class HelperRun {
  /** As in mount(8): the invocation was wrong. */
  static final int INCORRECT = 1;

  /** As in mount(8): the mount or unmount failed. */
  static final int FAILED = 32;

  private HelperRun() {}

  /** Runs another command in this process; returns the exit code that mount(8) expects. */
  static int run(CommandSpec helper, List<String> words) {
    CommandLine top = helper.root().commandLine();
    return code(top.execute(words.toArray(String[]::new)));
  }

  /** Tells what went wrong; returns the exit code that mount(8) expects. */
  static int failed(@Nullable CommandSpec helper, RuntimeException failure) {
    CommandLine line = Objects.requireNonNull(helper).commandLine();
    return code(CliErrors.failure(failure, line));
  }

  /** Turns an exit code of a command into that of a helper. */
  private static int code(int exitCode) {
    return switch (exitCode) {
      case 0 -> 0;
      case CliException.USAGE -> INCORRECT;
      default -> FAILED;
    };
  }

  /**
   * Becomes the same helper in another mount namespace, which only a process of one thread can
   * enter.
   *
   * @param words this helper's, without the namespace
   * @return where that fails
   */
  static CliException enter(CliContext context, String namespace, List<String> words) {
    String home = System.getProperty("holdfast.home", "");
    List<String> all = new ArrayList<>(List.of("/usr/bin/nsenter", "--mount=" + namespace, "--"));
    all.add(Path.of(home, "bin/holdfast").toString());
    all.addAll(words);
    context.become(all);
    return CliException.couldNot("nsenter cannot be started: install util-linux");
  }
}
