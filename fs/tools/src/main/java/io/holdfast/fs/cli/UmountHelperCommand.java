package io.holdfast.fs.cli;

import io.holdfast.fs.client.Targets;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.linux.MountTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * What umount(8) calls, by the script {@code umount.fuse.holdfast}: the pins of a mount keep it
 * busy, so that the kernel alone would refuse. It goes through the daemon, as {@code holdfast
 * umount}.
 */
@Command(
    name = UmountHelperCommand.NAME,
    hidden = true,
    customSynopsis = "umount.holdfast MOUNTPOINT [-flnrv] [-N NAMESPACE]",
    header = "End a mount, with the options of umount(8).",
    footerHeading = "%nExamples:%n",
    footer = "  umount /data/imagenet")
final class UmountHelperCommand implements Callable<Integer> {
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

  UmountHelperCommand(CliContext context) {
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
      return HelperRun.failed(spec, e);
    }
  }

  private int unmount() throws IOException {
    if (namespace != null) {
      throw HelperRun.enter(context, namespace, ownWords());
    }
    Path at = context.host().locate(Path.of(mountpoint));
    boolean served = new Targets(context.host()).find(mountpoint).isPresent();
    if (lazy && served) {
      boolean ours =
          context.host().mounts().at(at).filter(MountTable.Mount::isHoldfast).isPresent();
      if (ours) {
        context.host().detach(at); // which the daemon notices, and ends
      }
      return 0;
    }
    List<String> words = new ArrayList<>(List.of("umount"));
    words.addAll(force || lazy ? List.of("--force") : List.of());
    words.addAll(List.of("--", mountpoint));
    return HelperRun.run(Objects.requireNonNull(spec), words);
  }

  private List<String> ownWords() {
    List<String> words = new ArrayList<>(List.of(NAME, mountpoint));
    words.addAll(force ? List.of("-f") : List.of());
    words.addAll(lazy ? List.of("-l") : List.of());
    return words;
  }
}
