package io.holdfast.fs.cli;

import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;

/**
 * The program {@code holdfast}. Its exit codes are 0 for done, 1 for could not, 2 for wrong usage;
 * a failure prints one line.
 */
@Command(
    name = "holdfast",
    synopsisSubcommandLabel = "COMMAND",
    customSynopsis = "holdfast COMMAND [OPTIONS] [ARGUMENTS]",
    header = "Mount a training dataset so that what is read stays in memory.",
    commandListHeading = "%nCommands:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  holdfast mount /data/imagenet",
      "  holdfast stats",
      "  holdfast umount /data/imagenet",
      "  holdfast simulate /data/imagenet",
      "",
      "'holdfast COMMAND --help' tells more."
    },
    versionProvider = Holdfast.VersionText.class)
public final class Holdfast {
  /** Says the version for {@code --version}. */
  static final class VersionText implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {VersionCommand.text()};
    }
  }

  private Holdfast() {}

  /**
   * Runs a command and ends the process with its exit code.
   *
   * @param arguments the command, its options and arguments
   */
  public static void main(String[] arguments) {
    int exitCode;
    try {
      exitCode = commandLine(new CliContext(new LinuxHost())).execute(arguments);
    } catch (Error | RuntimeException e) {
      System.err.println("holdfast: internal error: " + e + ": please report it");
      exitCode = CliException.COULD_NOT;
    }
    System.exit(exitCode);
  }

  /** Puts the commands together. */
  static CommandLine commandLine(CliContext context) {
    CommandLine top = new CommandLine(new Holdfast());
    top.addSubcommand(new MountCommand(context));
    top.addSubcommand(new UmountCommand(context));
    top.addSubcommand(new StatsCommand(context));
    top.addSubcommand(new TopCommand(context));
    top.addSubcommand(new BenchCommand(context));
    top.addSubcommand(new PeersCommand(context));
    top.addSubcommand(new ConfigCommand(context));
    top.addSubcommand(new WarmCommand(context));
    top.addSubcommand(new PinCommand(context));
    top.addSubcommand(new UnpinCommand(context));
    top.addSubcommand(new DropCommand(context));
    top.addSubcommand(new CapacityCommand(context));
    top.addSubcommand(new RefreshCommand(context));
    top.addSubcommand(new RestartCommand(context));
    top.addSubcommand(new SimulateCommand(context));
    top.addSubcommand(new DoctorCommand(context));
    top.addSubcommand(new DebugCommand(context));
    top.addSubcommand(new CompletionCommand(context));
    top.addSubcommand(new VersionCommand(context));
    top.addSubcommand(new ManualCommand());
    top.addSubcommand(new MountHelperCommand(context));
    top.addSubcommand(new UmountHelperCommand(context));
    top.setOut(writer(System.out));
    top.setErr(writer(System.err));
    top.setParameterExceptionHandler(CliErrors::usage);
    top.setExecutionExceptionHandler(CliErrors::failure);
    top.setExecutionStrategy(
        parsed -> {
          CommandSpec command = parsed.commandSpec();
          if (!parsed.hasSubcommand()
              && command.userObject() instanceof Holdfast
              && !asksForHelp(parsed)) {
            throw CliErrors.noCommand(command.commandLine());
          }
          return new CommandLine.RunLast().execute(parsed);
        });
    addStandardOptions(top);
    return top;
  }

  private static boolean asksForHelp(CommandLine.ParseResult parsed) {
    return parsed.isUsageHelpRequested() || parsed.isVersionHelpRequested();
  }

  /** Every command has the help option, without each saying so. */
  private static void addStandardOptions(CommandLine top) {
    CommandLine.Model.OptionSpec help =
        CommandLine.Model.OptionSpec.builder("-h", "--help")
            .usageHelp(true)
            .description("Show this help.")
            .build();
    CommandLine.Model.OptionSpec version =
        CommandLine.Model.OptionSpec.builder("-V", "--version")
            .versionHelp(true)
            .description("Print the version.")
            .build();
    top.getCommandSpec().addOption(help).addOption(version);
    for (CommandLine command : top.getSubcommands().values()) {
      command.getCommandSpec().addOption(help);
    }
  }

  private static PrintWriter writer(PrintStream stream) {
    return new PrintWriter(stream, true, StandardCharsets.UTF_8);
  }
}
