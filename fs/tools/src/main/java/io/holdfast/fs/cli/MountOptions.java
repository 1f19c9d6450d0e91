package io.holdfast.fs.cli;

import io.holdfast.fs.settings.Given;
import io.holdfast.fs.settings.GivenSettings;
import io.holdfast.fs.settings.Group;
import io.holdfast.fs.settings.Setting;
import io.holdfast.fs.settings.SettingTable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.ArgGroupSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/**
 * The options of mount and restart, which picocli gets from the rows of {@link SettingTable}, and
 * what was given of them. Stateless.
 */
final class MountOptions {
  private MountOptions() {}

  /** Gives a command these options. */
  static CommandSpec addTo(CommandSpec command) {
    int order = 0;
    for (Group group : Group.values()) {
      if (group != Group.PLACES) {
        command.addArgGroup(options(group, ++order));
      }
    }
    return command;
  }

  private static ArgGroupSpec options(Group group, int order) {
    ArgGroupSpec.Builder options =
        ArgGroupSpec.builder().validate(false).order(order).heading("%n" + group.title() + ":%n");
    SettingTable.rows(group).forEach(setting -> options.addArg(option(setting)));
    return options.build();
  }

  private static OptionSpec option(Setting<?> setting) {
    OptionSpec.Builder option =
        OptionSpec.builder(setting.flag()).description(setting.help().toArray(String[]::new));
    if (setting.isYesOrNo()) {
      return option.type(Boolean.class).negatable(true).build();
    }
    option.paramLabel(setting.label());
    if (setting.isList()) {
      option.type(List.class).auxiliaryTypes(String.class);
    } else {
      option.type(setting.isPath() ? Path.class : String.class);
    }
    return option.build();
  }

  /** Returns what the words of a command line say. */
  static GivenSettings given(ParseResult parsed) {
    List<Given> given = new ArrayList<>();
    for (OptionSpec option : parsed.matchedOptions()) {
      setting(option).ifPresent(setting -> given.add(Given.flag(setting, values(setting, option))));
    }
    return GivenSettings.of(given);
  }

  private static List<String> values(Setting<?> setting, OptionSpec option) {
    // What picocli has as the text of --no-x is that of --x.
    return setting.isYesOrNo()
        ? List.of(String.valueOf(option.<Object>getValue()))
        : option.stringValues();
  }

  /** Returns the setting that an option is of; empty for options such as --help. */
  static Optional<Setting<?>> setting(OptionSpec option) {
    return SettingTable.find(option.longestName().substring(2)).filter(Setting::isOption);
  }
}
