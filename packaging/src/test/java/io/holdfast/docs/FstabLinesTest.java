package io.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks the lines of {@code /etc/fstab} that documents show. */
class FstabLinesTest {
  /**
   * systemd starts what has {@code _netdev} at once: Holdfast could open the directory below the
   * NFS mount that it was to read.
   */
  @ParameterizedTest
  @ValueSource(strings = {"docs/OPERATIONS.md", "deb/mount.holdfast.8"})
  void line_ofASourceOnTheNode_waitsForTheMountOfTheSource(String document) throws IOException {
    assertThat(Files.readString(Path.of(document)).replace("\\-", "-").lines())
        .filteredOn(line -> line.matches("\\S+ +/data/\\S+ +holdfast +\\S+ +0 0"))
        .hasSize(3)
        .allMatch(
            line ->
                line.startsWith("s3://")
                    || line.contains(",x-systemd.requires-mounts-for=/nfs/imagenet "));
  }
}
