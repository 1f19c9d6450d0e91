package io.holdfast.fs.cli;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.host.CliException;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.linux.Scratch;
import io.holdfast.fs.settings.ConfigFile;
import io.holdfast.fs.settings.Given;
import io.holdfast.fs.settings.MountNames;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.SettingsException;
import io.holdfast.fs.settings.request.ConfigLookup;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * What {@code mount -t holdfast} and /etc/fstab call, by the script {@code mount.holdfast}: {@code
 * holdfast mount} with the options of mount(8).
 */
@Command(
    name = MountHelperCommand.NAME,
    hidden = true,
    customSynopsis = "mount.holdfast SOURCE|NAME MOUNTPOINT [-sfnv] [-N NAMESPACE] [-o OPTIONS]",
    header = "Mount a dataset with the options of mount(8).",
    footerHeading = "%nExamples:%n",
    footer = "  mount -t holdfast -o capacity=64G,nofail /nfs/imagenet /data/imagenet")
final class MountHelperCommand implements Callable<Integer> {
  static final String NAME = "mount.holdfast";

  private static final long MS_RDONLY = 1;
  private static final long MS_NOSUID = 2;
  private static final long MS_NODEV = 4;
  private static final long MS_NOEXEC = 8;
  private static final long MS_REMOUNT = 32;
  private static final long MS_BIND = 4096;

  private final CliContext context;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(index = "0", paramLabel = "SOURCE|NAME")
  private String source = "";

  @Parameters(index = "1", paramLabel = "MOUNTPOINT")
  private String mountpoint = "";

  @Option(names = "-o", paramLabel = "OPTIONS", description = "With commas between.")
  private List<String> options = new ArrayList<>();

  @Option(names = "-s", description = "Ignore unknown options.")
  private boolean sloppy;

  @Option(names = "-f", description = "Mount nothing, only look at the options.")
  private boolean fake;

  @Option(names = "-v", description = "Say what is done.")
  private boolean verbose;

  @Option(names = "-N", paramLabel = "NAMESPACE", description = "Mount in that namespace.")
  private @Nullable String namespace;

  MountHelperCommand(CliContext context) {
    this.context = context;
  }

  @Option(names = "-n", description = "Nothing: there is no /etc/mtab any more.")
  void noTable(boolean given) {}

  @Option(names = "-t", paramLabel = "TYPE", description = "Nothing: there is one type.")
  void type(String given) {}

  @Override
  public Integer call() {
    try {
      return mount();
    } catch (CliException | SettingsException e) {
      return HelperRun.failed(spec, e);
    }
  }

  private int mount() {
    if (namespace != null) {
      throw HelperRun.enter(context, namespace, ownWords());
    }
    CommandSpec own = Objects.requireNonNull(spec);
    CommandSpec mount = own.root().subcommands().get("mount").getCommandSpec();
    HelperOptions given = new HelperOptions(mount, String.join(",", options), sloppy);
    List<String> words = new ArrayList<>(List.of("mount"));
    words.addAll(given.words());
    if (source.contains("/")) {
      words.addAll(List.of("--", source, mountpoint));
    } else {
      words.addAll(List.of("--name=" + source, "--", sourceOf(source), mountpoint));
    }
    if (verbose) {
      PrintWriter out = context.out(spec);
      given.ignored().forEach(option -> out.println("holdfast: ignored '" + option + "'"));
      out.println("holdfast " + String.join(" ", words));
      out.flush();
    }
    if (fake) {
      return 0;
    }
    int code = HelperRun.run(own, words);
    if (code == 0 && given.noPrograms() && context.host().uid() == 0) {
      forbidPrograms(context.host().locate(Path.of(mountpoint)));
    }
    return code;
  }

  /** Without a slash it is no path, but the name of a mount, whose file has the rest. */
  private String sourceOf(String name) {
    ConfigLookup lookup = new ConfigLookup(context.host());
    Path file =
        Optional.of(name)
            .filter(MountNames::isName)
            .flatMap(lookup::find)
            .orElseThrow(() -> noFile(name));
    return ConfigFile.read(file)
        .get(SettingTable.SOURCE)
        .map(Given::value)
        .orElseThrow(
            () -> CliException.usage("%s has no 'source': write 'source: PATH'".formatted(file)));
  }

  private static CliException noFile(String name) {
    return CliException.usage(
        ("'%s' is neither a path nor s3://BUCKET/PREFIX, nor the name of a mount: there is no"
                + " /etc/holdfast/%s.yaml")
            .formatted(name, name));
  }

  private List<String> ownWords() {
    List<String> words = new ArrayList<>(List.of(NAME, source, mountpoint));
    options.forEach(text -> words.addAll(List.of("-o", text)));
    words.addAll(sloppy ? List.of("-s") : List.of());
    words.addAll(fake ? List.of("-f") : List.of());
    words.addAll(verbose ? List.of("-v") : List.of());
    return words;
  }

  /** The rest of what mount(8) can ask for holds for each mount of ours. */
  private static void forbidPrograms(Path at) {
    byte[] path = Linux.pathBytes(at.toString());
    if (path.length > Scratch.PATH_CAPACITY) {
      throw CliException.couldNot("the path '" + at + "' is too long for noexec");
    }
    long place = Linux.scratch().path();
    Memory.putString(place, path);
    long flags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;
    if (LIBC.mount(0, place, 0, flags, 0) != 0) {
      throw CliException.couldNot("noexec: " + Linux.describe(Linux.errno()));
    }
  }
}
