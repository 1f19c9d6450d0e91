package io.holdfast.fs.cli;

import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.CommandRun;
import io.holdfast.fs.linux.Linux;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code holdfast run}: runs a command whose hits cost no message to the daemon. */
@Command(
    name = "run",
    sortOptions = false,
    customSynopsis = "holdfast run [--mount MOUNTPOINT|NAME] -- COMMAND...",
    header = "Run a command so that Python's hits cost no message.",
    description = {
      "",
      "Python before 3.14 asks for each file that open(path, 'rb') opens whether the file is a"
          + " terminal, and the kernel passes this question on to the mount: some 20 microseconds"
          + " for each hit. COMMAND and all that it starts run under a filter of system calls"
          + " (seccomp) with which the kernel answers it itself: no.",
      "",
      "The filter changes one thing: a terminal that COMMAND opens itself, like /dev/tty, does not"
          + " look like one. Its input and outputs (descriptors 0 to 2) do. So progress bars and"
          + " debuggers work; tmux, script and ssh's question for a password do not.",
      "",
      "For a user without CAP_SYS_ADMIN the kernel takes such a filter only together with"
          + " no_new_privs: sudo and other programs with special rights do not get these rights"
          + " below COMMAND.",
      "",
      "holdfast becomes COMMAND, with the same process number; the exit code is COMMAND's, 127 if"
          + " there is no such command, 126 if it cannot be run. Where the kernel refuses the"
          + " filter, COMMAND runs without it, and one line says so."
    },
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  holdfast run -- python3 train.py --epochs 90",
      "  holdfast run --mount /data/imagenet -- torchrun --nproc_per_node 8 train.py"
    })
final class RunCommand implements Callable<Integer> {
  private final CliContext context;

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--mount",
      paramLabel = "MOUNTPOINT|NAME",
      description = "Run COMMAND only if this mount is there.")
  private @Nullable String mount;

  @Parameters(
      arity = "0..*",
      hideParamSyntax = true,
      paramLabel = "-- COMMAND...",
      description = "The command to run, with its arguments.")
  private List<String> words = new ArrayList<>();

  RunCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    List<String> command = context.commandBehindOptions(spec);
    if (words.size() > command.size()) {
      throw CliException.usage("'" + words.get(0) + "' is not expected: put -- before the command");
    }
    if (command.isEmpty() || command.get(0).isEmpty()) {
      throw CliException.usage("no command: give one behind --");
    }
    if (mount != null) {
      context.targets().getAny(mount);
    }
    int refused = context.filterSystemCalls();
    if (refused != 0) {
      context
          .err(spec)
          .println(
              "holdfast: the kernel refuses the filter ("
                  + Linux.describe(refused)
                  + "): the command runs without it");
      context.err(spec).flush();
    }
    throw CommandRun.failure(command.get(0), context.becomeCommand(command.size()));
  }
}
