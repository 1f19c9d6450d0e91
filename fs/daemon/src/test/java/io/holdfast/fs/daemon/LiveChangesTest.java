package io.holdfast.fs.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.control.ConfigText;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.Source;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LiveChangesTest {
  private static final long GIBIBYTE = 1L << 30;

  @TempDir private Path state;

  private final Settings settings =
      Settings.builder(new Source.Directory(Path.of("/data")), Path.of("/mnt"), 100 * GIBIBYTE)
          .set(SettingTable.CAPACITY, 64L << 20, "flag --capacity")
          .build();
  private final List<Long> placed = new ArrayList<>();

  private LiveChanges live() {
    return new LiveChanges(settings, state, placed::add);
  }

  private static String config(LiveChanges live) {
    return ConfigText.of(live.settings());
  }

  @Test
  void settings_capacityChanged_areThoseThatHoldAndSayWhoDidIt() {
    LiveChanges live = live();
    assertThat(config(live)).isEqualTo(ConfigText.of(settings.report()));

    live.changed(32L << 20);

    assertThat(placed).containsExactly(32L << 20);
    assertThat(config(live)).containsPattern("capacity +32M +holdfast capacity\n");
    assertThat(live.settings()).hasSameSizeAs(settings.report());
    assertThat(config(live())).as("the next daemon's").isEqualTo(config(live));
  }

  @Test
  void settings_capacityForgotten_areTheOptions() throws IOException {
    live().changed(32L << 20);

    LiveChanges.forgetCapacity(state);

    assertThat(live().capacity()).isEqualTo(64L << 20);
    assertThat(config(live())).isEqualTo(ConfigText.of(settings.report()));
  }
}
