package io.holdfast.fs.mount.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Memory;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The offers of kernels in INIT, and the answers to them. */
final class NegotiationTest {
  private static final int WANTED = 0x42646001;

  /** RESEND. */
  private static final int WANTED_2 = 0x80;

  private static final int READDIRPLUS_AUTO = 1 << 14;

  private final Pointer memory =
      jnr.ffi.Memory.allocateDirect(Runtime.getSystemRuntime(), 256, true);
  private final long offer = memory.address();
  private final long answer = memory.address() + 128;

  private Negotiation offered(int major, int minor, int flags) throws FsException {
    Memory.putInt(offer, major);
    Memory.putInt(offer + 4, minor);
    Memory.putInt(offer + 8, 131_072);
    Memory.putInt(offer + 12, flags);
    Memory.putInt(offer + 16, flags);
    return Negotiation.of(offer, false);
  }

  /** Protocols from the oldest that will do to one that is not there yet. */
  @ParameterizedTest
  @CsvSource({
    "19, 19, 24, false, false, true",
    "22, 22, 24, false, false, true",
    "28, 28, 64, false, false, true",
    "29, 29, 64, true, false, true",
    "31, 31, 64, true, false, true",
    "40, 40, 64, true, false, true",
    "44, 44, 64, true, false, true",
    "45, 45, 64, true, true, false",
    "60, 45, 64, true, true, false"
  })
  void offer_ofEachMinor_isTakenAsFarAsBothGo(
      int minor, int taken, int length, boolean opensDirectories, boolean clears, boolean chooses)
      throws FsException {
    Negotiation negotiation = offered(7, minor, -1);
    assertThat(negotiation.write(answer)).isEqualTo(length);
    assertThat(negotiation.opensDirectories()).isEqualTo(opensDirectories);
    assertThat(negotiation.clearsWhatFollows()).isEqualTo(clears);
    assertThat(negotiation.choosesWhoLooks()).isEqualTo(chooses);
    assertThat(Memory.getInt(answer)).isEqualTo(7);
    assertThat(Memory.getInt(answer + 4)).isEqualTo(taken);
    assertThat(Memory.getInt(answer + 8)).isEqualTo(131_072);
    assertThat(Memory.getInt(answer + 12)).isEqualTo(chooses ? WANTED : WANTED & ~READDIRPLUS_AUTO);
    assertThat(Memory.getShort(answer + 16)).isEqualTo(128);
    assertThat(Memory.getShort(answer + 18)).isEqualTo(96);
    assertThat(Memory.getInt(answer + 24)).as("time in nanoseconds").isEqualTo(1);
    assertThat(Memory.getShort(answer + 28)).as("pages of a request").isEqualTo(256);
    assertThat(Memory.getInt(answer + 32)).isEqualTo(WANTED_2);
    assertThat(Memory.getShort(answer + 40)).as("seconds of a request").isZero();
    assertThat(negotiation.canResend()).isTrue();
  }

  @Test
  void flags_thatAreNotOffered_areNotTaken() throws FsException {
    Negotiation negotiation = offered(7, 31, 1);
    negotiation.write(answer);
    assertThat(Memory.getInt(answer + 12)).isEqualTo(1);
    assertThat(Memory.getShort(answer + 28)).isZero();
    assertThat(Memory.getInt(answer + 32)).as("flags of a word that is not there").isZero();
    assertThat(Memory.getShort(answer + 40)).isZero();
    assertThat(negotiation.canResend()).isFalse();
  }

  /**
   * A kernel that decides by lists asks for the list of each file, so it does so only if it is told
   * to.
   */
  @Test
  void acls_areTakenWhereTheyAreWantedAlone() throws FsException {
    assertThat(offered(7, 45, -1).decidesByAcls()).isFalse();
    Negotiation wanted = Negotiation.of(offer, true);
    assertThat(wanted.decidesByAcls()).isTrue();
    wanted.write(answer);
    assertThat(Memory.getInt(answer + 12)).isEqualTo((WANTED & ~READDIRPLUS_AUTO) | 1 << 20);
    Memory.putInt(offer + 12, 1);
    assertThat(Negotiation.of(offer, true).decidesByAcls()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"7, 18", "6, 45", "8, 0"})
  void offer_ofAnotherProtocol_isRefused(int major, int minor) {
    assertThatThrownBy(() -> offered(major, minor, -1))
        .isInstanceOf(FsException.class)
        .hasMessage(
            "the kernel speaks FUSE %d.%d: 7.19 is the oldest that will do"
                .formatted(major, minor));
  }
}
