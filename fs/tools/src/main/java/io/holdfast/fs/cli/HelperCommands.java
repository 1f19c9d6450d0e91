package io.holdfast.fs.cli;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.host.CliException;
import io.holdfast.fs.linux.Fstab;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.linux.MountTable;
import io.holdfast.fs.linux.Scratch;
import io.holdfast.fs.settings.ConfigFile;
import io.holdfast.fs.settings.Given;
import io.holdfast.fs.settings.MountNames;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.SettingsException;
import io.holdfast.fs.settings.request.ConfigLookup;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The helpers that mount(8) and umount(8) call. */
final class HelperCommands {
  /** As in mount(8): the invocation was wrong. */
  private static final int INCORRECT = 1;

  /** As in mount(8): the mount or unmount failed. */
  private static final int FAILED = 32;

  private HelperCommands() {}

  /** Runs another command in this process; returns the exit code that mount(8) expects. */
  private static int run(CommandSpec helper, List<String> words) {
    CommandLine top = helper.root().commandLine();
    return code(top.execute(words.toArray(String[]::new)));
  }

  /** Tells what went wrong; returns the exit code that mount(8) expects. */
  private static int failed(@Nullable CommandSpec helper, RuntimeException failure) {
    CommandLine line = Objects.requireNonNull(helper).commandLine();
    return code(CliErrors.failure(failure, line));
  }

  /** Turns an exit code of a command into that of a helper. */
  private static int code(int exitCode) {
    return switch (exitCode) {
      case 0 -> 0;
      case CliException.USAGE -> INCORRECT;
      default -> FAILED;
    };
  }

  /**
   * Becomes the same helper in another mount namespace, which only a process of one thread can
   * enter.
   *
   * @param words this helper's, without the namespace
   * @return where that fails
   */
  private static CliException enter(CliContext context, String namespace, List<String> words) {
    String home = System.getProperty("holdfast.home", "");
    List<String> all = new ArrayList<>(List.of("/usr/bin/nsenter", "--mount=" + namespace, "--"));
    all.add(Path.of(home, "bin/holdfast").toString());
    all.addAll(words);
    context.become(all);
    return CliException.couldNot("nsenter cannot be started: install util-linux");
  }

  /**
   * {@code holdfast mount} with the options of mount(8). {@code mount -t holdfast} and /etc/fstab
   * call it, by the script {@code mount.holdfast}.
   */
  @Command(
      name = Mount.NAME,
      hidden = true,
      customSynopsis = "mount.holdfast SOURCE|NAME MOUNTPOINT [-sfnv] [-N NAMESPACE] [-o OPTIONS]",
      header = "Mount a dataset with the options of mount(8).",
      footerHeading = "%nExamples:%n",
      footer = "  mount -t holdfast -o capacity=64G,nofail /nfs/imagenet /data/imagenet")
  static final class Mount implements Callable<Integer> {
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

    Mount(CliContext context) {
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
        return failed(spec, e);
      }
    }

    private int mount() {
      if (namespace != null) {
        throw enter(context, namespace, ownWords());
      }
      CommandSpec own = Objects.requireNonNull(spec);
      CommandSpec mount = own.root().subcommands().get("mount").getCommandSpec();
      HelperOptions given = new HelperOptions(mount, String.join(",", options), sloppy);
      List<String> words = new ArrayList<>(List.of("mount"));
      words.addAll(given.words());
      String meant = nameOrSource();
      if (meant.contains("/")) {
        words.addAll(List.of("--", meant, mountpoint));
      } else {
        words.addAll(List.of("--name=" + meant, "--", sourceOf(meant), mountpoint));
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
      int code = run(own, words);
      if (code == 0 && given.noPrograms() && context.host().uid() == 0) {
        forbidPrograms(context.host().locate(Path.of(mountpoint)));
      }
      return code;
    }

    /**
     * Returns the source, or the name that {@code /etc/fstab} has instead of it: mount(8) makes a
     * path of a name that its working directory has an entry of, which is {@code /} at boot.
     */
    private String nameOrSource() {
      String name = source.substring(source.lastIndexOf('/') + 1);
      Fstab fstab = context.host().fstab();
      Path at = Path.of(mountpoint);
      boolean isName =
          source.startsWith("/")
              && (fstab.has(name, at) || fstab.has(name, context.host().locate(at)));
      return isName ? name : source;
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

  /**
   * {@code holdfast umount} with the options of umount(8), which calls it by the script {@code
   * umount.fuse.holdfast}: the pins of a mount keep it busy, so that the kernel alone would refuse.
   */
  @Command(
      name = Umount.NAME,
      hidden = true,
      customSynopsis = "umount.holdfast MOUNTPOINT [-flnrv] [-N NAMESPACE]",
      header = "End a mount, with the options of umount(8).",
      footerHeading = "%nExamples:%n",
      footer = "  umount /data/imagenet")
  static final class Umount implements Callable<Integer> {
    static final String NAME = "umount.holdfast";

    private final CliContext context;

    @Spec private @Nullable CommandSpec spec;

    @Parameters(index = "0", paramLabel = "MOUNTPOINT")
    private String mountpoint = "";

    @Option(names = "-f", description = "Kill a daemon that does not answer.")
    private boolean force;

    @Option(names = "-l", description = "Take the mount away at once, whatever the daemon does.")
    private boolean lazy;

    @Option(names = "-N", paramLabel = "NAMESPACE", description = "Unmount in that namespace.")
    private @Nullable String namespace;

    Umount(CliContext context) {
      this.context = context;
    }

    @Option(names = "-n", description = "Nothing: there is no /etc/mtab any more.")
    void noTable(boolean given) {}

    @Option(names = "-r", description = "Nothing: the mount is read-only.")
    void readOnly(boolean given) {}

    @Option(names = "-v", description = "Nothing: what is done is told in any case.")
    void verbose(boolean given) {}

    @Option(names = "-t", paramLabel = "TYPE", description = "Nothing: there is one type.")
    void type(String given) {}

    @Override
    public Integer call() throws IOException {
      try {
        return unmount();
      } catch (CliException e) {
        return failed(spec, e);
      }
    }

    private int unmount() throws IOException {
      if (namespace != null) {
        throw enter(context, namespace, ownWords());
      }
      Path at = context.host().locate(Path.of(mountpoint));
      boolean served = context.targets().find(mountpoint).isPresent();
      if (lazy && served) {
        Optional<MountTable.Mount> ours =
            context.host().mounts().at(at).filter(MountTable.Mount::isHoldfast);
        if (ours.filter(MountTable.Mount::isCheckpoint).isPresent() && !force) {
          context.host().detachLazily(at); // the daemon goes on until the store has everything
        } else if (ours.isPresent()) {
          context.host().detach(at); // which the daemon notices, and ends
        }
        return 0;
      }
      List<String> words = new ArrayList<>(List.of("umount"));
      words.addAll(force || lazy ? List.of("--force") : List.of());
      words.addAll(List.of("--", mountpoint));
      return run(Objects.requireNonNull(spec), words);
    }

    private List<String> ownWords() {
      List<String> words = new ArrayList<>(List.of(NAME, mountpoint));
      words.addAll(force ? List.of("-f") : List.of());
      words.addAll(lazy ? List.of("-l") : List.of());
      return words;
    }
  }
}
