package io.holdfast.fs.cli;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.doctor.Diagnosis;
import io.holdfast.fs.doctor.Doctor;
import io.holdfast.fs.doctor.DoctorText;
import io.holdfast.fs.doctor.Level;
import io.holdfast.fs.units.Visible;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
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

  @Parameters(
      arity = "0..1",
      paramLabel = "MOUNTPOINT|NAME",
      description = "Which mount. Default: all of them.")
  private @Nullable String target;

  @Option(names = "--json", description = "As one JSON object.")
  private boolean json;

  DoctorCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    Doctor.Surroundings around = Surroundings.of(context.host());
    List<Diagnosis> report =
        new Doctor(around).examine(Surroundings.subjects(around.finder(), target));
    PrintWriter out = context.out(spec);
    if (json) {
      out.println(
          Visible.json(
              JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(DoctorText.map(report))));
    } else {
      out.print(DoctorText.of(report, this::painted));
    }
    out.flush();
    return DoctorText.count(report, Level.FAIL) == 0 ? 0 : CliException.COULD_NOT;
  }

  private String painted(Level level, String word) {
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
