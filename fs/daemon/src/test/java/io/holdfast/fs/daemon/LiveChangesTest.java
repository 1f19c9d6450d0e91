package io.holdfast.fs.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.control.ConfigText;
import io.holdfast.fs.settings.Given;
import io.holdfast.fs.settings.GivenSettings;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.Source;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LiveChangesTest {
  private static final long GIBIBYTE = 1L << 30;

  @TempDir private Path state;

  private final Settings settings =
      builder().set(SettingTable.CAPACITY, 64L << 20, "flag --capacity").build();
  private final List<Long> placed = new ArrayList<>();

  private static Settings.Builder builder() {
    return Settings.builder(
        new Source.Directory(Path.of("/data")), Path.of("/mnt"), 100 * GIBIBYTE);
  }

  private LiveChanges live() {
    return live(settings);
  }

  private LiveChanges live(Settings of) {
    LiveChanges[] live = new LiveChanges[1];
    live[0] = new LiveChanges(of, state, () -> placed.add(live[0].capacity()));
    return live[0];
  }

  private static String config(LiveChanges live) {
    return ConfigText.of(live.settings());
  }

  @Test
  void settings_capacityChanged_areThoseThatHoldAndSayWhoDidIt() {
    LiveChanges live = live();
    assertThat(config(live)).isEqualTo(ConfigText.of(settings.report()));

    live.changed(32L << 20, false);

    assertThat(placed).containsExactly(32L << 20);
    assertThat(config(live)).containsPattern("capacity +32M +holdfast capacity\n");
    assertThat(live.settings()).hasSameSizeAs(settings.report());
    assertThat(config(live())).as("the next daemon's").isEqualTo(config(live));
  }

  @Test
  void settings_capacityForgotten_areTheOptions() throws IOException {
    live().changed(32L << 20, true);
    assertThat(live().isCapacityOfNodeBudget()).as("a capacity of its own stays that").isFalse();

    LiveChanges.forgetCapacity(state);

    assertThat(live().capacity()).isEqualTo(64L << 20);
    assertThat(config(live())).isEqualTo(ConfigText.of(settings.report()));
  }

  @Test
  void settings_forgottenCapacityRemembered_areAsBefore() throws IOException {
    live().changed(32L << 20, false);
    String before = config(live());
    Map<String, Object> forgotten = LiveChanges.forgetCapacity(state);

    LiveChanges.remember(state, forgotten);

    assertThat(config(live())).isEqualTo(before);
  }

  @Test
  void settings_forgottenCapacityChangedSince_areTheLaterOnes() throws IOException {
    live().changed(32L << 20, false);
    Map<String, Object> forgotten = LiveChanges.forgetCapacity(state);
    live().changed(16L << 20, false);

    LiveChanges.remember(state, forgotten);

    assertThat(live().capacity()).isEqualTo(16L << 20);
  }

  /** Until a user says how much it is to be. */
  @Test
  void capacityOfTheNodesBudget_staysThatWhileTheBudgetIsDivided() {
    Given part = Given.ofNodeBudget(64L << 20, Path.of("/etc/holdfast/node.yaml"));
    Settings joined = GivenSettings.of(List.of(part)).settings(builder());
    String source = " +node budget \\(/etc/holdfast/node.yaml\\)\n";
    assertThat(live(joined).isCapacityOfNodeBudget()).isTrue();
    assertThat(config(live(joined))).containsPattern("capacity +64M" + source);

    live(joined).changed(32L << 20, true);

    assertThat(live(joined).isCapacityOfNodeBudget()).isTrue();
    assertThat(config(live(joined))).containsPattern("capacity +32M" + source);

    live(joined).changed(48L << 20, false);

    assertThat(live(joined).isCapacityOfNodeBudget()).isFalse();
    assertThat(config(live(joined))).containsPattern("capacity +48M +holdfast capacity\n");
    live(joined).changed(32L << 20, true);
    assertThat(live(joined).isCapacityOfNodeBudget()).isFalse();
  }
}
