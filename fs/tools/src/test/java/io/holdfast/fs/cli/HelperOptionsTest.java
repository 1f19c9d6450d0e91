package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.FakeHost;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.Model.CommandSpec;

class HelperOptionsTest {
  private static final CommandSpec MOUNT =
      Holdfast.commandLine(new CliContext(new FakeHost(Path.of("/nowhere"))))
          .getSubcommands()
          .get("mount")
          .getCommandSpec();

  private static HelperOptions read(String text) {
    return new HelperOptions(MOUNT, text, false);
  }

  @Test
  void options_ofMount_becomeItsWords() {
    assertThat(read("capacity=64G,keep=val/,keep=*.idx,s3-path-style,no-allow-other").words())
        .containsExactly(
            "--capacity=64G", "--keep=val/", "--keep=*.idx", "--s3-path-style", "--no-allow-other");
  }

  @Test
  void commas_inQuotesOrBehindBackslashes_separateNothing() {
    assertThat(read("peers=\"a:1,b:1\",keep=c\\,d,keep=say\\\"no\\\"").words())
        .containsExactly("--peers=a:1,b:1", "--keep=c,d", "--keep=say\"no\"");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "rw",
        "ro,noatime,noexec,nosuid,nodev,nofail,_netdev,user",
        "defaults,noauto,x-systemd.automount,x-systemd.idle-timeout=5min,X-mount.mkdir,comment=my",
        "",
        ",,"
      })
  void options_thatMeanNothingHere_areAccepted(String text) {
    assertThat(read(text).words()).isEmpty();
  }

  @Test
  void option_ofFuse_isUnderstood() {
    assertThat(read("allow_other").words()).containsExactly("--allow-other");
  }

  @ParameterizedTest
  @CsvSource({"noexec,true", "'noexec,exec',false", "'exec,noexec',true", "ro,false"})
  void programs_areForbidden_byWhatIsSaidLast(String text, boolean forbidden) {
    assertThat(read(text).noPrograms()).isEqualTo(forbidden);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "capcity=64G | unknown option 'capcity'",
        "foreground | unknown option 'foreground'",
        "report | unknown option 'report'",
        "help | unknown option 'help'",
        "capacity | option 'capacity' needs a value: 'capacity=SIZE|P%'",
        "remount,ro | 'holdfast restart'",
        "keep=\"a | a quotation mark is missing"
      })
  void option_thatCannotBe_isToldInOneLine(String text, String message) {
    assertThatThrownBy(() -> read(text))
        .isInstanceOf(CliException.class)
        .hasMessageContaining(message);
  }

  @Test
  void sloppy_unknownOption_isIgnored() {
    HelperOptions options = new HelperOptions(MOUNT, "capcity=64G,pin=soft", true);
    assertThat(options.words()).containsExactly("--pin=soft");
    assertThat(options.ignored()).containsExactly("capcity=64G");
  }
}
