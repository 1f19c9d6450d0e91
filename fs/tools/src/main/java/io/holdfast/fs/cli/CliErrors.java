package io.holdfast.fs.cli;

import io.holdfast.fs.FsException;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.settings.SettingsException;
import io.holdfast.fs.units.NearestWord;
import io.holdfast.fs.units.Visible;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Turns what goes wrong into one line for the user and an exit code. Stateless. */
final class CliErrors {
  private CliErrors() {}

  /** The words on the command line are wrong. */
  static int usage(ParameterException failure) {
    CommandLine command = failure.getCommandLine();
    boolean refused =
        failure.getCause() instanceof CliException && failure.getArgSpec() instanceof OptionSpec;
    print(command, refused ? refusal(failure) : line(failure));
    return CliException.USAGE;
  }

  /** One of {@link OptionValues} refused a value. */
  private static String refusal(ParameterException failure) {
    OptionSpec option = (OptionSpec) failure.getArgSpec();
    return option.longestName() + " " + failure.getCause().getMessage();
  }

  /** The command failed. */
  static int failure(Exception failure, CommandLine command) {
    if (failure instanceof CliException known) {
      print(command, String.valueOf(known.getMessage()));
      return known.exitCode();
    }
    if (failure instanceof SettingsException known) {
      print(command, String.valueOf(known.getMessage()));
      return CliException.USAGE;
    }
    if (failure instanceof FsException known) {
      print(command, String.valueOf(known.getMessage()));
      return CliException.COULD_NOT;
    }
    print(command, "internal error: " + failure + where(failure) + ": please report it");
    return CliException.COULD_NOT;
  }

  /** No command was given. */
  static ParameterException noCommand(CommandLine top) {
    return new ParameterException(
        top, "no command: choose one of " + String.join(", ", commands(top)));
  }

  private static List<String> commands(CommandLine top) {
    return top.getSubcommands().values().stream()
        .map(CommandLine::getCommandSpec)
        .filter(command -> !command.usageMessage().hidden())
        .map(CommandSpec::name)
        .toList();
  }

  private static String where(Exception failure) {
    StackTraceElement[] trace = failure.getStackTrace();
    return trace.length == 0 ? "" : " at " + trace[0];
  }

  private static void print(CommandLine command, String message) {
    command.getErr().println("holdfast: " + Visible.of(message));
    command.getErr().flush();
  }

  private static String line(ParameterException failure) {
    CommandLine command = failure.getCommandLine();
    String see = "See '" + command.getCommandSpec().qualifiedName() + " --help'";
    List<String> unmatched = command.getUnmatchedArguments();
    if (failure instanceof UnmatchedArgumentException exception) {
      unmatched = exception.getUnmatched();
    }
    Optional<String> option = unmatched.stream().filter(word -> word.startsWith("-")).findFirst();
    if (option.isPresent()) {
      String name = option.get().replaceFirst("=.*", "");
      return "unknown option '" + name + "'" + didYouMean(name, options(command)) + see;
    }
    if (!unmatched.isEmpty()) {
      return unknownWord(command, unmatched.get(0)) + see;
    }
    String message = String.valueOf(failure.getMessage()).lines().findFirst().orElse("wrong usage");
    if (failure instanceof MissingParameterException) {
      message =
          message
              .replaceFirst("^Missing required (parameter|option)s?: ", "missing ")
              .replaceFirst(
                  "^Missing required parameter for option '(.*)' \\((.*)\\)$",
                  "$1 needs a value: $2");
    }
    return message.substring(0, 1).toLowerCase(Locale.ROOT)
        + message.substring(1)
        + (message.endsWith(".") ? " " : ". ")
        + see;
  }

  private static String unknownWord(CommandLine command, String word) {
    if (command.getSubcommands().isEmpty()) {
      return "too many arguments: '" + word + "' is not expected. ";
    }
    List<String> commands = new ArrayList<>(commands(command));
    return "unknown command '" + word + "'" + didYouMean(word, commands);
  }

  private static List<String> options(CommandLine command) {
    List<String> names = new ArrayList<>();
    CommandSpec spec = command.getCommandSpec();
    spec.options().stream()
        .filter(option -> !option.hidden())
        .forEach(option -> names.addAll(List.of(option.names())));
    spec.negatedOptionsMap().keySet().forEach(names::add);
    return names;
  }

  private static String didYouMean(String word, List<String> known) {
    return NearestWord.of(word, known).map(near -> ": did you mean '" + near + "'? ").orElse(". ");
  }
}
