package io.holdfast.fs.settings.request;

import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.Host;
import io.holdfast.fs.settings.Given;
import io.holdfast.fs.settings.GivenSettings;
import io.holdfast.fs.settings.Group;
import io.holdfast.fs.settings.Setting;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.SettingsDocument;
import io.holdfast.fs.settings.Source;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What a mount's next daemon is to be. What is said now comes before what was said at the mount by
 * options and environment. The file, which may have been edited, is read again; the environment,
 * which is another one, is not asked. Stateless.
 */
public final class ChangedMount {
  private static final List<Setting<?>> PLACES = SettingTable.rows(Group.PLACES);

  private ChangedMount() {}

  /**
   * Refuses options that say what cannot change.
   *
   * @throws CliException when there is one
   */
  public static void refuseFixed(GivenSettings changes) {
    changes.filter(one -> one.setting().isFixed()).all().forEach(ChangedMount::refuse);
  }

  /**
   * Puts together what is to be.
   *
   * @param before what the daemon was told
   * @param changes what is said now
   * @param memory what the next daemon is to have
   * @throws CliException when something is wrong, or cannot change
   */
  public static MountRequest of(
      Host host, SettingsDocument before, GivenSettings changes, DaemonMemory memory) {
    GivenSettings said = before.given();
    GivenSettings lasting =
        said.filter(
            one ->
                !one.isFromFile()
                    && !one.source().equals(ConfigLookup.FOUND)
                    && !one.isOfNodeBudget());
    GivenSettings after = new ConfigLookup(host).withFile(changes.orElse(lasting));
    Optional<Given> part = said.get(SettingTable.CAPACITY).filter(Given::isOfNodeBudget);
    if (part.isPresent() && after.get(SettingTable.CAPACITY).isEmpty()) {
      after = after.with(part.get());
    }
    for (Setting<?> key : PLACES) {
      Given was = said.get(key).orElseThrow();
      Optional<Given> moved = after.get(key).filter(one -> !place(host, one).equals(was.value()));
      moved.ifPresent(ChangedMount::refuse);
      String source = after.get(key).orElse(was).source();
      after = after.with(new Given(key, was.values(), source));
    }
    MountRequest request = new MountRequest(host, after, memory);
    Settings was = before.settings();
    Settings will = request.settings();
    for (Setting<?> key : SettingTable.rows()) {
      if (key.isFixed() && !was.text(key).equals(will.text(key))) {
        refuse(after.get(key).or(() -> said.get(key)).orElseThrow());
      }
    }
    return request;
  }

  private static String place(Host host, Given given) {
    return Source.isPath(given.value())
        ? host.locate(Path.of(given.value())).toString()
        : given.value();
  }

  private static void refuse(Given change) {
    throw CliException.usage(
        change.label() + " cannot change while the mount is there: unmount it and mount again");
  }
}
