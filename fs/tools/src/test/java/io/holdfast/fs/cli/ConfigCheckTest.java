package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.host.FakeHost;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code config --check} of a file that no mount has read yet. */
class ConfigCheckTest {
  @TempDir Path temp;
  private FakeHost host;
  private CliRun run;
  private Path file;

  @BeforeEach
  void prepare() throws IOException {
    temp = temp.toRealPath();
    host = new FakeHost(temp.resolve("run"));
    host.configurationDirectories.add(Files.createDirectory(temp.resolve("etc")));
    run = new CliRun(host);
    file = temp.resolve("etc/imagenet.yaml");
  }

  @Test
  void file_thatIsRight_showsWhatAMountWouldTake() throws IOException {
    Files.writeString(
        file, "source: /data/imagenet\ncapacity: 50%\nkeep: ['*.idx', val/]\npin: soft\n");
    host.environment.put("HOLDFAST_PIN", "hard");
    for (String target : List.of("imagenet", file.toString())) {
      run.out.getBuffer().setLength(0);
      assertThat(run.run("config", "--check", target)).as(run.err.toString()).isZero();
      assertThat(run.out.toString())
          .startsWith("setting ")
          .containsPattern("\nsource +/data/imagenet +" + file + ":1\n")
          .containsPattern("\nmountpoint +/data/imagenet +default\n")
          .containsPattern("\nname +imagenet +argument\n")
          .containsPattern("\ncapacity +48828125K \\(46.6 GiB\\) +" + file + ":2\n")
          .containsPattern("\npin +hard +environment HOLDFAST_PIN\n");
    }
    assertThat(host.control.path()).doesNotExist();
  }

  @Test
  void file_asJson_hasValuesAsTheFileWouldHaveThem() throws IOException {
    Files.writeString(file, "source: /data/imagenet\ncapacity: 50%\nkeep: ['*.idx', val/]\n");
    assertThat(run.run("config", "--json", "--check", "imagenet")).isZero();
    assertThat(JSON.std.listFrom(run.out.toString()))
        .contains(
            row("capacity", "48828125K", "48828125K (46.6 GiB)", file + ":2"),
            row("keep", List.of("*.idx", "val/"), "*.idx val/", file + ":3"),
            Map.of("setting", "log-file", "text", "-", "source", "default"));
  }

  /** Arguments that fstab or a script gives need not be in the file. */
  @ParameterizedTest
  @ValueSource(strings = {"", "uid: 7", "source: s3://bucket/x"})
  void file_withoutTheArguments_isRightToo(String line) throws IOException {
    Path loose = temp.resolve("loose.yaml");
    Files.writeString(loose, line + "\n");
    assertThat(run.run("config", "--check", loose.toString())).as(run.err.toString()).isZero();
    assertThat(run.out.toString())
        .containsPattern("\nmountpoint +- +to be given to 'holdfast mount'\n")
        .containsPattern("\nname +- +to be given to 'holdfast mount'\n");
  }

  @Test
  void file_thatIsWrong_isToldInOneLine() throws IOException {
    Files.writeString(file, "source: /data/imagenet\ncapcity: 64G\n");
    assertThat(run.run("config", "--check", "imagenet")).isEqualTo(2);
    assertThat(run.err.toString())
        .isEqualTo("holdfast: " + file + ":2: unknown key 'capcity': did you mean 'capacity'?\n");
    assertThat(run.out.toString()).isEmpty();
  }

  @Test
  void file_thatIsNotThere_isToldInOneLine() {
    assertThat(run.run("config", "--check", "openimages")).isEqualTo(2);
    assertThat(run.err.toString())
        .isEqualTo(
            "holdfast: 'openimages' has no file: there is no %s/etc/openimages.yaml\n"
                .formatted(temp));
    assertThat(run.run("config", "--check", temp + "/x.yaml")).isEqualTo(2);
    assertThat(run.run("config", "--check")).isEqualTo(2);
    assertThat(run.run("config", "imagenet", "--check", "openimages")).isEqualTo(2);
    assertThat(run.err.toString())
        .endsWith(
            """
            holdfast: %s/x.yaml: there is no such file: check the path
            holdfast: --check needs a value: FILE|NAME. See 'holdfast config --help'
            holdfast: --check and a mount exclude each other: give one of them
            """
                .formatted(temp));
  }

  @Test
  void variable_thatIsMistyped_isNoted() throws IOException {
    Files.createFile(file);
    host.environment.put("HOLDFAST_CAPACTY", "64G");
    host.environment.put("HOLDFAST_SERVICE_HOST", "10.0.0.1");
    host.environment.put("HOLDFAST_PORT", "tcp://10.0.0.1:7070");
    host.environment.put("HOLDFAST_HEAP", "1g");
    assertThat(run.run("config", "--check", "imagenet")).isZero();
    assertThat(run.err.toString())
        .isEqualTo(
            "holdfast: the variable HOLDFAST_CAPACTY is not known: did you mean"
                + " HOLDFAST_CAPACITY?\n");
  }

  private static Map<String, Object> row(String setting, Object value, String text, String source) {
    return Map.of("setting", setting, "value", value, "text", text, "source", source);
  }
}
