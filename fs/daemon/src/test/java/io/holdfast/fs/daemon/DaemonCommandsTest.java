package io.holdfast.fs.daemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.FsException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DaemonCommandsTest {
  /**
   * A client that has gone gets no answer, and this daemon stays. The mark stayed too, and the
   * supervisor took the next crash for a restart.
   */
  @Test
  void handOver_notRun_leavesNoMark(@TempDir Path state) throws FsException {
    Runnable handOver = DaemonCommands.handOver(Supervision.at(state), ServiceManager.nobody());

    assertThat(handOver).isNotNull();
    assertThat(state).isEmptyDirectory();
  }

  @Test
  void handOver_noSupervisor_isRefused() {
    assertThatThrownBy(() -> DaemonCommands.handOver(null, ServiceManager.nobody()))
        .isInstanceOf(FsException.class)
        .hasMessageContaining("it has no supervisor");
  }
}
