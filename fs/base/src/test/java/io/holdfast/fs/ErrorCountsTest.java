package io.holdfast.fs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ErrorCountsTest {
  /** The alert saw no increase in a cause that came into being with its first 8 failures. */
  @Test
  void everyCause_isThereBeforeItsFirstFailure() {
    ErrorCounts counts = new ErrorCounts();

    assertThat(counts.byCause())
        .hasSize(FsError.values().length)
        .containsEntry("io", 0L)
        .containsEntry("timed_out", 0L)
        .containsEntry("no_memory", 0L)
        .containsEntry("access_denied", 0L)
        .containsEntry("origin_silent", 0L);

    counts.count(FsError.ACCESS_DENIED);
    assertThat(counts.byCause()).containsEntry("access_denied", 1L).containsEntry("io", 0L);
  }
}
