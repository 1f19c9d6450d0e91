package io.holdfast.fs.cli;

import io.holdfast.fs.daemon.Settings;
import io.holdfast.fs.daemon.Source;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What a mount's next daemon is to be. What is said now comes before what was said at the mount by
 * options and environment. The file, which may have been edited, is read again; the environment,
 * which is another one, is not asked. Stateless.
 */
final class ChangedMount {
  /** What the kernel was told at the mount, or what the names of items depend on. */
  private static final Set<Settings.Key> FIXED =
      EnumSet.of(
          Settings.Key.NAME,
          Settings.Key.ITEM_SIZE,
          Settings.Key.XATTR,
          Settings.Key.ACL,
          Settings.Key.COUNT_OPENS,
          Settings.Key.BINDING,
          Settings.Key.ALLOW_OTHER,
          Settings.Key.FOREGROUND);

  private static final List<Settings.Key> PLACES =
      List.of(Settings.Key.SOURCE, Settings.Key.MOUNTPOINT);

  private ChangedMount() {}

  /**
   * Refuses options that say what cannot change.
   *
   * @throws CliException when there is one
   */
  static void refuseFixed(GivenSettings changes) {
    FIXED.forEach(key -> changes.get(key).ifPresent(ChangedMount::refuse));
  }

  /** Returns what the words of a daemon, behind "mount", say. */
  static GivenSettings ofDaemon(List<String> words) {
    int places = words.size() - PLACES.size();
    OptionTable.Parsed parsed =
        OptionTable.Parsed.of(
            words.subList(0, places - 1).stream()
                .filter(word -> !word.equals("--report") && !word.startsWith("--note="))
                .toList());
    GivenSettings given = parsed.given();
    for (int i = 0; i < PLACES.size(); i++) {
      given = given.with(Given.argument(PLACES.get(i), words.get(places + i)));
    }
    return given.withSources(parsed.from);
  }

  /**
   * Puts together what is to be.
   *
   * @param before what was said at the mount, with the places as they were found to be
   * @param changes what is said now
   * @throws CliException when something is wrong, or cannot change
   */
  static MountRequest of(Host host, GivenSettings before, GivenSettings changes) {
    GivenSettings lasting =
        before.filter(one -> !one.isFromFile() && !one.source().equals(ConfigLookup.FOUND));
    GivenSettings after = new ConfigLookup(host).withFile(changes.orElse(lasting));
    for (Settings.Key key : PLACES) {
      Given was = before.get(key).orElseThrow();
      Optional<Given> moved = after.get(key).filter(one -> !place(host, one).equals(was.value()));
      moved.ifPresent(ChangedMount::refuse);
      String source = after.get(key).orElse(was).source();
      after = after.with(new Given(key, was.values(), source));
    }
    MountRequest request = new MountRequest(host, after);
    Settings was = new MountRequest(host, before).settings();
    Settings will = request.settings();
    for (Settings.Key key : FIXED) {
      if (!was.text(key).equals(will.text(key))) {
        refuse(after.get(key).or(() -> before.get(key)).orElseThrow());
      }
    }
    return request;
  }

  private static String place(Host host, Given given) {
    boolean url = Source.URL.matcher(given.value()).matches();
    return url ? given.value() : host.locate(Path.of(given.value())).toString();
  }

  private static void refuse(Given change) {
    throw CliException.usage(
        change.label() + " cannot change while the mount is there: unmount it and mount again");
  }
}
