package io.holdfast.fs.cli;

import io.holdfast.fs.allocate.node.ExaminedMachine;
import io.holdfast.fs.doctor.Diagnosis;
import io.holdfast.fs.doctor.Doctor;
import io.holdfast.fs.doctor.DoctorText;
import io.holdfast.fs.doctor.Severity;
import io.holdfast.fs.host.CliException;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code holdfast doctor}: says what is wrong with the machine and its mounts, without a touch. */
@Command(
    name = "doctor",
    sortOptions = false,
    customSynopsis = "holdfast doctor [--json] [MOUNTPOINT|NAME]",
    header = "Examine the machine and its mounts, and tell how to fix them.",
    description = {
      "",
      "Each line is OK, WARN or FAIL, with what was found; below it, what fixes it. It answers"
          + " within 10 s, also when a daemon is stopped, a mount is dead or a source hangs: it"
          + " never touches a mount.",
      "",
      "Exit code 0 when nothing is FAIL, 1 otherwise."
    },
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  holdfast doctor                        # before the first mount, or when anything is odd",
      "  holdfast doctor /data/imagenet",
      "  holdfast doctor --json | jq '.findings[] | select(.level != \"OK\")'"
    })
final class DoctorCommand implements Callable<Integer> {
  private final CliContext context;

  @Spec private @Nullable CommandSpec spec;

  @Mixin private final ExaminedMounts mounts = new ExaminedMounts();

  @Mixin private final CommandOutput output = new CommandOutput();

  DoctorCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    Doctor.Machine machine = ExaminedMachine.of(context.host());
    List<Diagnosis> report = new Doctor(machine).examine(mounts.subjects(machine.finder()));
    if (output.isJson()) {
      output.json(DoctorText.map(report));
    } else {
      output.text(DoctorText.of(report, this::painted));
    }
    return DoctorText.count(report, Severity.FAIL) == 0 ? 0 : CliException.COULD_NOT;
  }

  private String painted(Severity level, String word) {
    Ansi ansi = Objects.requireNonNull(spec).commandLine().getColorScheme().ansi();
    String style =
        switch (level) {
          case OK -> "green";
          case WARN -> "yellow";
          case FAIL -> "red,bold";
        };
    return ansi.string("@|" + style + " " + word + "|@");
  }
}
