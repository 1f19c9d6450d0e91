package io.holdfast.fs.cli;

import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.LinuxHost;
import io.holdfast.fs.host.StandardOutput;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.ObjectInputFilter;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IExecutionStrategy;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

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
      return new String[] {ProgramCommands.ShowVersion.text()};
    }
  }

  /**
   * Runs what was parsed, and says what went wrong. No lambdas: the library's classes are in the
   * format of Java 5, and those that a lambda implements cannot be in the class archive. To look
   * for one of them in all jars takes a fifth of the time of a short command.
   */
  private static final class Execution
      implements IExecutionStrategy, IParameterExceptionHandler, IExecutionExceptionHandler {
    @Override
    public int execute(ParseResult parsed) {
      CommandSpec command = parsed.commandSpec();
      if (!parsed.hasSubcommand()
          && command.userObject() instanceof Holdfast
          && !asksForHelp(parsed)) {
        throw CliErrors.noCommand(command.commandLine());
      }
      return new CommandLine.RunLast().execute(parsed);
    }

    private static boolean asksForHelp(ParseResult parsed) {
      return parsed.isUsageHelpRequested() || parsed.isVersionHelpRequested();
    }

    @Override
    public int handleParseException(ParameterException failure, String[] arguments) {
      return CliErrors.usage(failure);
    }

    @Override
    public int handleExecutionException(
        Exception failure, CommandLine command, ParseResult parsed) {
      return CliErrors.failure(failure, command);
    }
  }

  /** Those that need the definitions of others. */
  private static final Set<String> OF_COMMANDS =
      Set.of(
          "completion",
          ProgramCommands.Manual.NAME,
          HelperCommands.Mount.NAME,
          HelperCommands.Umount.NAME);

  private static final String REFUSES_ALL = "!*";

  private Holdfast() {}

  /**
   * Runs a command and ends the process with its exit code.
   *
   * @param arguments the command, its options and arguments
   */
  public static void main(String[] arguments) {
    int exitCode;
    try {
      refuseSerialized();
      exitCode = execute(arguments);
    } catch (OutOfMemoryError e) {
      System.err.println("holdfast: " + OutOfMemory.describe(e));
      exitCode = CliException.COULD_NOT;
    } catch (Error | RuntimeException e) {
      System.err.println("holdfast: internal error: " + e + ": please report it");
      exitCode = CliException.COULD_NOT;
    }
    System.exit(exitCode);
  }

  private static int execute(String[] arguments) {
    StandardOutput output = new StandardOutput(new FileOutputStream(FileDescriptor.out));
    CommandLine program = commandLine(new CliContext(new LinuxHost()), arguments);
    program.setOut(writer(output));
    int exitCode = program.execute(arguments);
    program.getOut().flush();
    return output.exitCode(exitCode, System.err);
  }

  /**
   * Has the process refuse objects of Java's serialization, also when another launcher than ours
   * started it. Ours says so by a property, which Java reads when it is about to read an object:
   * {@code ObjectInputFilter.Config} looks for a log in all jars, a fifth of a short command's
   * time.
   */
  static void refuseSerialized() {
    if (!REFUSES_ALL.equals(System.getProperty("jdk.serialFilter"))
        && ObjectInputFilter.Config.getSerialFilter() == null) {
      ObjectInputFilter.Config.setSerialFilter(each -> ObjectInputFilter.Status.REJECTED);
    }
  }

  /** Puts all commands together. */
  static CommandLine commandLine(CliContext context) {
    return commandLine(commands(context).values());
  }

  /**
   * Puts together what a command line needs: to look at a command's definition takes longer than
   * most commands do, so that only the one is looked at which is called; all of them where another
   * word comes first, and for those that deal with commands.
   */
  static CommandLine commandLine(CliContext context, String... arguments) {
    Map<String, Supplier<Object>> commands = commands(context);
    String first = arguments.length == 0 ? "" : arguments[0];
    Supplier<Object> called = OF_COMMANDS.contains(first) ? null : commands.get(first);
    return commandLine(called == null ? commands.values() : List.of(called));
  }

  private static Map<String, Supplier<Object>> commands(CliContext context) {
    Map<String, Supplier<Object>> commands = new LinkedHashMap<>();
    commands.put(MountCommand.NAME, () -> new MountCommand(context));
    commands.put("umount", () -> new UmountCommand(context));
    commands.put("stats", () -> new StatsCommand(context));
    commands.put("top", () -> new TopCommand(context));
    commands.put("analyze", () -> new AnalyzeCommand(context));
    commands.put("run", () -> new RunCommand(context));
    commands.put("bench", () -> new BenchCommand(context));
    commands.put("peers", () -> new PeersCommand(context));
    commands.put("config", () -> new ConfigCommand(context));
    commands.put("warm", () -> new WarmCommand(context));
    commands.put("order", () -> new OrderCommand(context));
    commands.put("pin", () -> new PinCommands.Pin(context));
    commands.put("unpin", () -> new PinCommands.Unpin(context));
    commands.put("drop", () -> new PinCommands.Drop(context));
    commands.put("capacity", () -> new CapacityCommand(context));
    commands.put("refresh", () -> new RefreshCommand(context));
    commands.put(RestartCommand.NAME, () -> new RestartCommand(context));
    commands.put(CheckpointCommand.NAME, () -> new CheckpointCommand(context));
    commands.put("simulate", () -> new SimulateCommand(context));
    commands.put("allocate", () -> new AllocateCommand(context));
    commands.put("doctor", () -> new DoctorCommand(context));
    commands.put("debug", () -> new DebugCommand(context));
    commands.put("completion", () -> new ProgramCommands.Completion(context));
    commands.put("version", () -> new ProgramCommands.ShowVersion());
    commands.put(ServeCommand.NAME, () -> new ServeCommand(context));
    commands.put(CheckpointServeCommand.NAME, () -> new CheckpointServeCommand(context));
    commands.put(ArchiveCommand.NAME, () -> new ArchiveCommand(context));
    commands.put(ProgramCommands.Manual.NAME, () -> new ProgramCommands.Manual());
    commands.put(HelperCommands.Mount.NAME, () -> new HelperCommands.Mount(context));
    commands.put(HelperCommands.Umount.NAME, () -> new HelperCommands.Umount(context));
    return commands;
  }

  private static CommandLine commandLine(Collection<Supplier<Object>> commands) {
    CommandLine top = new CommandLine(new Holdfast());
    top.setExpandAtFiles(false); // @FILE is a command's own word
    commands.forEach(command -> top.addSubcommand(command.get()));
    top.setErr(writer(System.err));
    Execution execution = new Execution();
    top.setParameterExceptionHandler(execution);
    top.setExecutionExceptionHandler(execution);
    top.setExecutionStrategy(execution);
    List.of(MountCommand.NAME, RestartCommand.NAME).stream()
        .flatMap(name -> Stream.ofNullable(top.getSubcommands().get(name)))
        .forEach(command -> MountOptions.addTo(command.getCommandSpec()));
    addStandardOptions(top);
    return top;
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

  private static PrintWriter writer(OutputStream stream) {
    return new PrintWriter(stream, true, StandardCharsets.UTF_8);
  }
}
