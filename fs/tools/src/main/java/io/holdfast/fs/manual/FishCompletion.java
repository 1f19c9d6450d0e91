package io.holdfast.fs.manual;

import io.holdfast.fs.manual.Definition.Argument;
import io.holdfast.fs.manual.Definition.Choice;
import io.holdfast.fs.manual.Definition.Command;
import io.holdfast.fs.manual.Definition.Kind;
import java.util.List;

/** Makes the completion script for fish, with the purpose of each word. Stateless. */
final class FishCompletion {
  private static final String FRAME =
      """
      # Completion of NAME in fish.

      function __NAME_mounts
          for socket in /run/holdfast/*.sock $XDG_RUNTIME_DIR/holdfast/*.sock
              string replace -f -r '^.*/([A-Za-z0-9._-]+)\\.sock$' '$1' $socket
          end
      end

      function __NAME_configured
          set -l files /etc/holdfast/*.yaml
          if test (id -u) -ne 0
              set -l own $HOME/.config
              set -q XDG_CONFIG_HOME; and set own $XDG_CONFIG_HOME
              set -a files $own/holdfast/*.yaml
          end
          string replace -f -r '^.*/([A-Za-z0-9._-]+)\\.yaml$' '$1' $files
      end

      complete -c NAME -f
      """;

  private FishCompletion() {}

  static String of(Definition program) {
    StringBuilder text = new StringBuilder(FRAME);
    program.options().forEach(option -> text.append(line(option, "__fish_use_subcommand")));
    for (Command command : program.commands()) {
      text.append(
          "complete -c NAME -n __fish_use_subcommand -a %s -d %s\n"
              .formatted(command.name(), quoted(Completions.brief(command.header()))));
    }
    for (Command command : program.commands()) {
      String when = quoted("__fish_seen_subcommand_from " + command.name());
      command.options().forEach(option -> text.append(line(option, when)));
      command.arguments().forEach(one -> text.append(line(one, when)));
    }
    return text.toString().replace("NAME", program.name());
  }

  private static String line(Choice option, String when) {
    StringBuilder line = new StringBuilder();
    for (String name : option.names()) {
      String spelling =
          name.startsWith("--") ? "-l " + name.substring(2) : "-s " + name.substring(1);
      line.append("complete -c NAME -n %s %s".formatted(when, spelling));
      if (option.takesValue()) {
        line.append(value(option.kind(), option.values(), " -r"));
      }
      line.append(" -d ").append(quoted(Completions.brief(option.description()))).append('\n');
    }
    return line.toString();
  }

  private static String line(Argument argument, String when) {
    String value = value(argument.kind(), argument.values(), "");
    return value.equals(" -f") ? "" : "complete -c NAME -n %s%s\n".formatted(when, value);
  }

  private static String value(Kind kind, List<String> values, String required) {
    if (!values.isEmpty()) {
      return required + " -f -a " + quoted(String.join(" ", values));
    }
    return switch (kind) {
      case TEXT -> required + " -f";
      case FILE -> required + " -F";
      case DIRECTORY -> required + " -f -a '(__fish_complete_directories)'";
      case MOUNT -> required + " -f -a '(__NAME_mounts) (__fish_complete_directories)'";
      case CONFIGURED -> required + " -f -a '(__NAME_configured)'";
      case CONFIGURATION -> required + " -F -a '(__NAME_configured)'";
    };
  }

  private static String quoted(String text) {
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
  }
}
