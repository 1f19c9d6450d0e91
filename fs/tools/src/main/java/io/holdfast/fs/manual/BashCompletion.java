package io.holdfast.fs.manual;

import io.holdfast.fs.manual.Definition.Argument;
import io.holdfast.fs.manual.Definition.Choice;
import io.holdfast.fs.manual.Definition.Command;
import io.holdfast.fs.manual.Definition.Kind;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Makes the completion script for bash 4 or newer, which needs no further package. Stateless. */
final class BashCompletion {
  private static final String FRAME =
      """
      # Completion of NAME in bash.

      # Names of mounts, from files that are named after them: the ending, the files.
      _NAME_names() {
        local file name
        for file in "${@:2}"; do
          [ -e "$file" ] || continue
          name=${file##*/}
          name=${name%"$1"}
          # compgen expands its words: other names than those of mounts could be commands.
          case $name in
            *[!A-Za-z0-9._-]*) ;;
            *) printf '%s\\n' "$name" ;;
          esac
        done
      }

      _NAME_mounts() {
        _NAME_names .sock /run/holdfast/*.sock "${XDG_RUNTIME_DIR:-/run}"/holdfast/*.sock
      }

      _NAME_configured() {
        _NAME_names .yaml /etc/holdfast/*.yaml
        [ "$EUID" -eq 0 ] || _NAME_names .yaml "${XDG_CONFIG_HOME:-$HOME/.config}"/holdfast/*.yaml
      }

      _NAME() {
        local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}
        local words='' kind='' before=''
        # --option=value is three words here, or one where COMP_WORDBREAKS has no '='.
        case $current in
          --*=*) option=${current%%=*} before=$option= current=${current#*=} ;;
        esac
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
          configured) words=$(_NAME_configured) ;;
          configuration) words=$(_NAME_configured) kind=file ;;
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
        [ -z "$before" ] || COMPREPLY=("${COMPREPLY[@]/#/$before}")
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
          case CONFIGURED -> "configured";
          case CONFIGURATION -> "configuration";
        };
    return "words='%s' kind=%s".formatted(String.join(" ", words), completed);
  }
}
