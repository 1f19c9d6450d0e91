package io.holdfast.fs.manual;

import io.holdfast.fs.manual.Definition.Argument;
import io.holdfast.fs.manual.Definition.Choice;
import io.holdfast.fs.manual.Definition.Command;
import io.holdfast.fs.manual.Definition.Kind;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Completion in bash, 4 or newer; needs no further package. Stateless. */
final class BashCompletion {
  private static final String FRAME =
      """
      # Completion of NAME in bash.

      _NAME_mounts() {
        local socket
        for socket in /run/holdfast/*.sock "${XDG_RUNTIME_DIR:-/run}"/holdfast/*.sock; do
          [ -S "$socket" ] || continue
          socket=${socket##*/}
          printf '%s\\n' "${socket%.sock}"
        done
      }

      _NAME() {
        local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}
        local words='' kind=''
        # --option=value is three words here.
        if [ "$current" = '=' ]; then
          current=''
        elif [ "$option" = '=' ]; then
          option=${COMP_WORDS[COMP_CWORD - 2]}
        fi
        COMPREPLY=()
        if [ "$COMP_CWORD" -eq 1 ]; then
          words='COMMANDS'
        else
          case ${COMP_WORDS[1]}:$option in
      VALUES      *)
              case $current in
                -*)
                  case ${COMP_WORDS[1]} in
      OPTIONS            esac
                  ;;
                *)
                  case ${COMP_WORDS[1]} in
      ARGUMENTS            esac
                  ;;
              esac
              ;;
          esac
        fi
        case $kind in
          mount) words="$words $(_NAME_mounts)" kind=directory ;;
        esac
        local IFS=$' \\t\\n'
        [ -z "$words" ] || COMPREPLY=($(compgen -W "$words" -- "$current"))
        IFS=$'\\n'
        case $kind in
          file)
            compopt -o filenames
            COMPREPLY+=($(compgen -f -- "$current"))
            ;;
          directory)
            compopt -o filenames
            COMPREPLY+=($(compgen -d -- "$current"))
            ;;
        esac
      }

      complete -F _NAME NAME
      """;

  private BashCompletion() {}

  static String of(Definition program) {
    List<Command> commands = program.commands();
    String first =
        Stream.concat(commands.stream().map(Command::name), Completions.names(program.options()))
            .collect(Collectors.joining(" "));
    return FRAME
        .replace("COMMANDS", first)
        .replace("VALUES", each(commands, BashCompletion::values))
        .replace("OPTIONS", each(commands, BashCompletion::options))
        .replace("ARGUMENTS", each(commands, BashCompletion::arguments))
        .replace("NAME", program.name());
  }

  private static String each(
      List<Command> commands, java.util.function.Function<Command, String> f) {
    return commands.stream().map(f).collect(Collectors.joining());
  }

  private static String values(Command command) {
    StringBuilder lines = new StringBuilder();
    for (Choice option : command.options()) {
      if (option.takesValue()) {
        String patterns =
            option.names().stream()
                .map(name -> command.name() + ":" + name)
                .collect(Collectors.joining(" | "));
        lines.append("      %s) %s ;;\n".formatted(patterns, set(option.values(), option.kind())));
      }
    }
    return lines.toString();
  }

  private static String options(Command command) {
    return "            %s) words='%s' ;;\n".formatted(command.name(), Completions.names(command));
  }

  private static String arguments(Command command) {
    List<String> words =
        command.arguments().stream().flatMap(one -> one.values().stream()).toList();
    Kind kind =
        command.arguments().stream()
            .map(Argument::kind)
            .filter(one -> one != Kind.TEXT)
            .findFirst()
            .orElse(Kind.TEXT);
    return "            %s) %s ;;\n".formatted(command.name(), set(words, kind));
  }

  private static String set(List<String> words, Kind kind) {
    String completed =
        switch (kind) {
          case TEXT -> "''";
          case FILE -> "file";
          case DIRECTORY -> "directory";
          case MOUNT -> "mount";
        };
    return "words='%s' kind=%s".formatted(String.join(" ", words), completed);
  }
}
