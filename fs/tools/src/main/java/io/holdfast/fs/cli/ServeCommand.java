package io.holdfast.fs.cli;

import io.holdfast.fs.FsException;
import io.holdfast.fs.daemon.Supervision;
import io.holdfast.fs.settings.BindingChoice;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.SettingsDocument;
import io.holdfast.fs.start.DaemonState;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code holdfast serve}, which {@code holdfast mount} starts: becomes the daemon of a mount. */
@Command(
    name = ServeCommand.NAME,
    hidden = true,
    customSynopsis = "holdfast serve STATE",
    header = "Be the daemon of a mount, as its state directory says.",
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = "  holdfast serve /run/holdfast/data-imagenet.state")
final class ServeCommand implements Callable<Integer> {
  static final String NAME = DaemonState.DAEMON_COMMAND;

  private final CliContext context;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(index = "0", paramLabel = "STATE", description = "The mount's state directory.")
  private String directory = "";

  ServeCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws FsException {
    DaemonState state = DaemonState.at(Path.of(directory));
    SettingsDocument document = state.document();
    Supervision supervision = null;
    if (document.settings().get(SettingTable.BINDING) == BindingChoice.KERNEL) {
      supervision = Supervision.at(state.directory());
    } else {
      state.remove();
    }
    return context.daemonProcess(document, supervision).serve(context.out(spec));
  }
}
