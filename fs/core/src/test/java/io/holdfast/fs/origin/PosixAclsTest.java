package io.holdfast.fs.origin;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.NativeFiles;
import io.holdfast.fs.origin.posix.PosixOrigin;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The ACLs that an origin finds, and the questions that it asks. */
final class PosixAclsTest {
  private static final String ACCESS = "system.posix_acl_access";
  private static final int USER = 2;
  private static final int GROUP = 8;
  private static final OriginPath FILE = OriginPath.of("file");

  /** Long after whatever the test does. */
  private final InstantSource later =
      InstantSource.fixed(Instant.now().plus(Duration.ofMinutes(1)));

  private PosixStore store;

  @BeforeEach
  void create() throws IOException {
    store = new PosixStore();
    Files.writeString(store.root().resolve("file"), "content");
    mode("file", "rw-r--r--");
  }

  @AfterEach
  void remove() throws IOException {
    store.close();
  }

  private void mode(String name, String permissions) throws IOException {
    Files.setPosixFilePermissions(
        store.root().resolve(name), PosixFilePermissions.fromString(permissions));
  }

  /** Gives a file an entry for one more user or group, and a mask that has all of its rights. */
  private void setAcl(String name, int tag, int rights) {
    ByteBuffer value = ByteBuffer.allocate(44).order(ByteOrder.LITTLE_ENDIAN).putInt(2);
    put(value, 1, 6, -1);
    if (tag == USER) {
      put(value, USER, rights, 65_534);
    }
    put(value, 4, 4, -1);
    if (tag == GROUP) {
      put(value, GROUP, rights, 65_534);
    }
    put(value, 0x10, 7, -1);
    put(value, 0x20, 4, -1);
    assertThat(NativeFiles.attribute(store.root().resolve(name).toString(), ACCESS, value.array()))
        .isTrue();
  }

  private static void put(ByteBuffer value, int tag, int rights, int id) {
    value.putShort((short) tag).putShort((short) rights).putInt(id);
  }

  private Origin open(InstantSource clock) throws FsException {
    return PosixOrigin.open(store.root(), clock);
  }

  private static Map<String, Attributes> listed(Origin origin, KnownEntries known)
      throws FsException {
    Map<String, Attributes> all = new HashMap<>();
    Origin.EntrySink sink =
        (name, type, inode, attributes) ->
            all.put(new String(name, StandardCharsets.UTF_8), attributes);
    origin.list(OriginPath.ROOT, sink.knowing(known));
    return all;
  }

  @Test
  void acl_ofAFile_isKnownByStatAndListing() throws Exception {
    setAcl("file", USER, 0);
    Files.writeString(store.root().resolve("plain"), "");
    try (Origin origin = open(later)) {
      Attributes stat = origin.stat(FILE);
      assertThat(stat.mode() & 0777).isEqualTo(0674);
      assertThat(Acl.isPosix(stat.acl())).isTrue();
      assertThat(Acl.strictMode(stat) & 0777).isEqualTo(0600);
      assertThat(listed(origin, KnownEntries.NONE).get("file").acl()).isEqualTo(stat.acl());
      assertThat(listed(origin, KnownEntries.NONE).get("plain").acl()).isEqualTo(Acl.NONE);
    }
  }

  /** The change of an ACL changes the time that tells it; nothing else of the file does. */
  @Test
  void acl_changed_isNoticedByTheTimeOfChange() throws Exception {
    try (Origin origin = open(later)) {
      Attributes without = origin.stat(FILE);
      assertThat(without.acl()).isEqualTo(Acl.NONE);
      setAcl("file", GROUP, 7);
      Attributes with = origin.stat(FILE, without);
      assertThat(Acl.strictMode(with) & 0777).isEqualTo(0644);
      setAcl("file", GROUP, 0);
      assertThat(Acl.strictMode(origin.stat(FILE, with)) & 0777).isEqualTo(0600);
    }
  }

  /** The origin uses the known ACL, even a wrong one: it asks nothing. */
  @Test
  void acl_ofAnEntryThatIsAsItWas_isNotAskedForAgain() throws Exception {
    setAcl("file", USER, 0);
    try (Origin origin = open(later)) {
      Attributes stat = origin.stat(FILE);
      Attributes marked = stat.withAcl(Acl.foreign(0111));
      assertThat(origin.stat(FILE, marked)).isEqualTo(marked);
      KnownEntries known = name -> marked(name, marked);
      assertThat(listed(origin, known).get("file")).isEqualTo(marked);
    }
  }

  private static @Nullable Attributes marked(byte[] name, Attributes marked) {
    return OriginPath.of(name).equals(FILE) ? marked : null;
  }

  /** Another change may have the same time, where times are coarse. */
  @Test
  void acl_askedForJustAfterAChange_isAskedForAgain() throws Exception {
    setAcl("file", USER, 0);
    try (Origin origin = open(InstantSource.system());
        Origin settled = open(later)) {
      Attributes young = origin.stat(FILE);
      assertThat(young.acl()).isNotEqualTo(settled.stat(FILE).acl());
      assertThat(Acl.strictMode(young) & 0777).isEqualTo(0600);
      assertThat(settled.stat(FILE, young).acl()).isEqualTo(settled.stat(FILE).acl());
      assertThat(young.sameButForAccess(settled.stat(FILE))).isTrue();
    }
  }

  @Test
  void symlinks_areNotAskedFor() throws Exception {
    Files.createSymbolicLink(store.root().resolve("link"), Path.of("file"));
    setAcl("file", USER, 0);
    try (Origin origin = open(later)) {
      assertThat(origin.stat(OriginPath.of("link")).acl()).isEqualTo(Acl.NONE);
      assertThat(listed(origin, KnownEntries.NONE).get("link").acl()).isEqualTo(Acl.NONE);
    }
  }

  @Test
  void store_withoutAcls_hasNone() throws Exception {
    try (Origin origin = PosixOrigin.open(Path.of("/proc/self"), later)) {
      assertThat(origin.stat(OriginPath.of("status")).acl()).isEqualTo(Acl.NONE);
    }
  }
}
