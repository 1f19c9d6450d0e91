package io.holdfast.fs.residency;

import static io.holdfast.fs.linux.Libc.LIBC;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.ItemKey;
import io.holdfast.fs.Sandbox;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import io.holdfast.fs.transit.Item;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class ResidentTest {
  private static final int LENGTH = 10_000;

  private Sandbox sandbox;
  private Resident resident;
  private long mapping;

  @BeforeEach
  void create() throws IOException {
    sandbox = Sandbox.create();
    Path file = sandbox.path("file");
    Files.write(file, new byte[LENGTH]);
    long text = Linux.scratch().path();
    Memory.putString(text, Linux.pathBytes(file.toString()));
    int fd = LIBC.openat(Linux.AT_FDCWD, text, Linux.O_RDONLY, 0);
    mapping = LIBC.mmap(null, LENGTH, 1, 1, fd, 0).address();
    LIBC.close(fd);
    resident =
        new Resident(
            new Item(
                new ItemKey(1, 0),
                () -> OriginPath.ROOT,
                new Version(LENGTH, 1, 1, ""),
                0,
                LENGTH));
  }

  @AfterEach
  void remove() throws IOException {
    sandbox.close();
  }

  private boolean isMapped() throws IOException {
    return ProcessStatus.mappings(sandbox.root()) > 0;
  }

  @Test
  void enter_beforeThePin_givesNothing() throws IOException {
    assertThat(resident.enter()).isZero();
    assertThat(resident.isPinned()).isFalse();
    resident.release();
    assertThat(resident.pinned(mapping)).as("the caller unmaps").isFalse();
    assertThat(isMapped()).isTrue();
    OwnMount.unmap(mapping, LENGTH);
  }

  @Test
  void release_notInUse_unmapsAtOnce() throws IOException {
    assertThat(resident.pinned(mapping)).isTrue();
    assertThat(resident.isPinned()).isTrue();
    resident.release();
    assertThat(isMapped()).isFalse();
    assertThat(resident.isPinned()).isFalse();
    assertThat(resident.enter()).isZero();
    resident.release();
  }

  @Test
  void release_inUse_unmapsWhenTheLastUserLeaves() throws IOException {
    resident.pinned(mapping);
    assertThat(resident.enter()).isEqualTo(mapping);
    assertThat(resident.enter()).isEqualTo(mapping);
    resident.release();
    assertThat(resident.enter()).as("nobody else may enter").isZero();
    assertThat(isMapped()).isTrue();
    resident.leave();
    assertThat(isMapped()).isTrue();
    assertThat(Memory.getByte(mapping + LENGTH - 1)).isZero();
    resident.leave();
    assertThat(isMapped()).isFalse();
  }

  @Test
  void leave_notReleased_keepsTheMapping() throws IOException {
    resident.pinned(mapping);
    resident.enter();
    resident.leave();
    assertThat(isMapped()).isTrue();
    resident.release();
    assertThat(isMapped()).isFalse();
  }
}
