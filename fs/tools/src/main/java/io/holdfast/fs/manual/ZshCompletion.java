package io.holdfast.fs.manual;

import io.holdfast.fs.manual.Definition.Argument;
import io.holdfast.fs.manual.Definition.Choice;
import io.holdfast.fs.manual.Definition.Command;
import io.holdfast.fs.manual.Definition.Kind;
import java.util.List;
import java.util.stream.Collectors;

/** Makes the completion script for zsh, with the purpose of each word. Stateless. */
final class ZshCompletion {
  private static final String FRAME =
      """
      #compdef NAME
      # Completion of NAME in zsh.

      _NAME_mounts() {
        local -a names
        names=(/run/holdfast/*.sock(N:t:r) ${XDG_RUNTIME_DIR:-/run}/holdfast/*.sock(N:t:r))
        _wanted mounts expl 'running mount' compadd -a names
        _files -/
      }

      _NAME_configured() {
        local -a names
        names=(/etc/holdfast/*.yaml(N:t:r))
        (( EUID )) && names+=(${XDG_CONFIG_HOME:-$HOME/.config}/holdfast/*.yaml(N:t:r))
        _wanted configured expl 'mount with a file' compadd -a names
      }

      _NAME_configuration() {
        _NAME_configured
        _files
      }

      _NAME() {
        local context state state_descr line
        typeset -A opt_args
        _arguments -C \\
      TOP    '1: :->command' \\
          '*:: :->arguments'
        case $state in
          command)
            local -a commands
            commands=(
      COMMANDS      )
            _describe -t commands command commands
            ;;
          arguments)
            case $words[1] in
      EACH      esac
            ;;
        esac
      }

      if [ "${funcstack[1]-}" = _NAME ]; then
        _NAME "$@"
      else
        compdef _NAME NAME
      fi
      """;

  private ZshCompletion() {}

  static String of(Definition program) {
    String commands =
        program.commands().stream()
            .map(one -> "        %s\n".formatted(described(one)))
            .collect(Collectors.joining());
    return FRAME
        .replace("TOP", options(program.options(), "    "))
        .replace("COMMANDS", commands)
        .replace(
            "EACH",
            program.commands().stream().map(ZshCompletion::of).collect(Collectors.joining()))
        .replace("NAME", program.name());
  }

  private static String described(Command command) {
    return Completions.quoted(command.name() + ":" + Completions.brief(command.header()));
  }

  private static String of(Command command) {
    StringBuilder text = new StringBuilder("        " + command.name() + ")\n");
    text.append("          _arguments \\\n").append(options(command.options(), "            "));
    List<Argument> arguments = command.arguments();
    for (int i = 0; i < arguments.size(); i++) {
      Argument one = arguments.get(i);
      String place = i + 1 == arguments.size() ? "*" : String.valueOf(i + 1);
      String spec = place + ":" + message(one.label()) + ":" + action(one.kind(), one.values());
      text.append("            ").append(Completions.quoted(spec)).append(" \\\n");
    }
    return text.append("            && return\n          ;;\n").toString();
  }

  private static String options(List<Choice> options, String indent) {
    StringBuilder text = new StringBuilder();
    for (Choice option : options) {
      for (String name : option.names()) {
        String spec =
            (option.repeatable() ? "*" : "")
                + name
                + (option.takesValue() && name.startsWith("--") ? "=" : "")
                + "["
                + Completions.brief(option.description()).replace("[", "\\[").replace("]", "\\]")
                + "]"
                + (option.takesValue()
                    ? ":" + message(option.label()) + ":" + action(option.kind(), option.values())
                    : "");
        text.append(indent).append(Completions.quoted(spec)).append(" \\\n");
      }
    }
    return text.toString();
  }

  private static String message(String label) {
    return label.replace(":", "\\:");
  }

  private static String action(Kind kind, List<String> values) {
    if (!values.isEmpty()) {
      return "(" + String.join(" ", values) + ")";
    }
    return switch (kind) {
      case TEXT -> " ";
      case FILE -> "_files";
      case DIRECTORY -> "_files -/";
      case MOUNT -> "_NAME_mounts";
      case CONFIGURED -> "_NAME_configured";
      case CONFIGURATION -> "_NAME_configuration";
    };
  }
}
