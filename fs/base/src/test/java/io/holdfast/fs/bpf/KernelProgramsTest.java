package io.holdfast.fs.bpf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.FsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class KernelProgramsTest {
  @ParameterizedTest
  @CsvSource({"0:45, 45", "8:1, 8388609", "4095:1048575, -1", "0:1048575, 1048575"})
  void device_ofTheMountTable_isTheKernelsNumber(String text, int number) throws FsException {
    assertThat(KernelPrograms.number(text)).isEqualTo(number);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "45", "0:0", "0:-1", "-1:5", "4096:0", "0:1048576", "0:4:5", "a:b"})
  void device_thatIsNone_isRefused(String text) {
    assertThatThrownBy(() -> KernelPrograms.number(text))
        .isInstanceOf(FsException.class)
        .hasMessage("no device number: " + text);
  }

  /** On any kernel and with any rights: a way, or one line that says why there is none. */
  @Test
  void checkAnswer_onThisMachine_answersOrSaysWhyNot() {
    try {
      assertThat(KernelPrograms.prepare().checkAnswer()).isIn("lsm", "fmod_ret");
    } catch (FsException e) {
      assertThat(e.getMessage()).isNotBlank().hasLineCount(1);
    }
  }

  @Test
  void checkOpens_onThisMachine_passesOrSaysWhyNot() {
    try {
      KernelPrograms.prepare().checkOpens();
    } catch (FsException e) {
      assertThat(e.getMessage()).isNotBlank().hasLineCount(1);
    }
  }
}
