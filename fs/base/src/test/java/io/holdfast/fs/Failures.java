package io.holdfast.fs;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.assertj.core.api.Assertions;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Assertions on the codes of failures. */
public final class Failures {
  private Failures() {}

  /** Asserts that a call fails with one of these codes and a message of one line. */
  public static void assertFails(ThrowingCallable call, FsError... codes) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            FsException.class,
            failure -> {
              Assertions.assertThat(failure.code()).isIn(List.of(codes));
              Assertions.assertThat(failure.getMessage()).isNotBlank().doesNotContain("\n");
            });
  }
}
