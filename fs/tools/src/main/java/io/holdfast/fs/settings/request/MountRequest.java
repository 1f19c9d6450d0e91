package io.holdfast.fs.settings.request;

import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.Host;
import io.holdfast.fs.host.UserDirectories;
import io.holdfast.fs.settings.BindingChoice;
import io.holdfast.fs.settings.Given;
import io.holdfast.fs.settings.GivenSettings;
import io.holdfast.fs.settings.Setting;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.Source;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** A mount that somebody wants, by all that was said of it. Immutable. */
public final class MountRequest {
  private final Host host;
  private final GivenSettings given;
  private final DaemonMemory memory;
  private final Source source;
  private final Path mountpoint;

  /**
   * Finds out which dataset is meant, and where it is to appear, for a daemon that this process
   * starts.
   *
   * @throws CliException when that is not said, or cannot be
   */
  public MountRequest(Host host, GivenSettings given) {
    this(host, given, DaemonMemory.ofThisProcess(host));
  }

  /**
   * Finds out the same for any daemon.
   *
   * @throws CliException when that is not said, or cannot be
   */
  MountRequest(Host host, GivenSettings given, DaemonMemory memory) {
    this.host = host;
    this.memory = memory;
    Given from = given.get(SettingTable.SOURCE).orElseThrow(() -> noSource(given));
    source = parse(from);
    Optional<Given> to = given.get(SettingTable.MOUNTPOINT);
    this.given = to.isPresent() ? given : given.with(overItself());
    mountpoint = to.map(MountRequest::path).orElseGet(this::sourceItself);
  }

  private CliException noSource(GivenSettings given) {
    Optional<String> config = given.get(SettingTable.CONFIG).map(Given::value);
    Optional<String> name = given.get(SettingTable.NAME).map(Given::value);
    String where = "or --name NAME of a mount that has a file";
    if (config.isPresent()) {
      where = "or write 'source: PATH' into " + config.get();
    } else if (name.isPresent()) {
      List<Path> candidates = new ConfigLookup(host).candidates(name.get());
      String files = candidates.stream().map(Path::toString).collect(Collectors.joining(", nor "));
      where = "there is no " + files;
    }
    return CliException.usage(
        "missing SOURCE: give it, %s. See 'holdfast mount --help'".formatted(where));
  }

  private static Source parse(Given from) {
    try {
      return Source.parse(from.value());
    } catch (IllegalArgumentException e) {
      boolean argument = from.source().equals(Given.ARGUMENT);
      throw CliException.usage((argument ? "" : from.label() + ": ") + e.getMessage());
    }
  }

  private static Path path(Given to) {
    if (to.value().isEmpty()) {
      throw CliException.usage("MOUNTPOINT is empty: give a directory");
    }
    return Path.of(to.value()).toAbsolutePath().normalize();
  }

  private Given overItself() {
    return new Given(SettingTable.MOUNTPOINT, List.of(source.toString()), "default");
  }

  private Path sourceItself() {
    if (source instanceof Source.Directory directory) {
      return directory.path();
    }
    throw CliException.usage(
        "missing MOUNTPOINT: '%s' needs a directory to appear at".formatted(source));
  }

  /** Returns everything that was said. */
  public GivenSettings given() {
    return given;
  }

  /** Returns where the dataset is, as the user said. */
  public Source source() {
    return source;
  }

  /** Returns where it is to appear, as the user said, absolute. */
  public Path mountpoint() {
    return mountpoint;
  }

  /** Returns the same with the places as they were found to be. */
  public MountRequest at(Source origin, Path place) {
    return new MountRequest(
        host,
        given
            .with(found(SettingTable.SOURCE, origin.toString()))
            .with(found(SettingTable.MOUNTPOINT, place.toString())),
        memory);
  }

  /** Returns the same with a value more. */
  public MountRequest with(Given one) {
    return new MountRequest(host, given.with(one), memory);
  }

  private Given found(Setting<?> place, String path) {
    return new Given(place, List.of(path), given.get(place).orElseThrow().source());
  }

  /**
   * Says what was said, with the defaults of this user on this machine.
   *
   * @throws CliException when a value is wrong
   */
  public Settings settings() {
    boolean root = host.uid() == 0;
    String byUser = root ? "default for root" : "default for users";
    BindingChoice best = root ? BindingChoice.KERNEL : BindingChoice.JNR_FUSE;
    Path state = UserDirectories.state(host.uid(), host.environment());
    Settings.Builder builder =
        Settings.builder(source, mountpoint, memory.usable())
            .heapBytes(memory.heap())
            .set(SettingTable.ALLOW_OTHER, root, byUser)
            .set(SettingTable.BINDING, best, byUser)
            .set(SettingTable.STATE_DIR, state, byUser);
    Setting<BindingChoice> binding = SettingTable.BINDING;
    GivenSettings chosen =
        given
            .get(binding)
            .filter(one -> one.value().equals(binding.word(BindingChoice.AUTO)))
            .map(auto -> new Given(binding, List.of(binding.word(best)), auto.source()))
            .map(given::with)
            .orElse(given);
    return chosen.settings(builder);
  }
}
