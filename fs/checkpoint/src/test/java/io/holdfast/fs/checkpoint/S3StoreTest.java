package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.checkpoint.FatedBucket.Fate;
import io.holdfast.fs.origin.SharedS3Server;
import io.holdfast.fs.origin.s3.ObjectBucket;
import io.holdfast.fs.origin.s3.WritableBucket;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import jnr.constants.platform.Errno;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A bucket of a real server as the store. */
@ExtendWith(SharedS3Server.class)
class S3StoreTest extends StoreContract {
  private final S3TestStores stores = new S3TestStores();
  private FatedBucket bucket;

  @Override
  Store open(String owner, Path fronts, boolean isHeld) throws IOException {
    FatedBucket opened = new FatedBucket(stores.bucket());
    Store store = new S3Store(opened, stores.place(), owner, isHeld, fronts, () -> 7);
    bucket = opened;
    return store;
  }

  @AfterEach
  void close() {
    stores.close();
  }

  private List<String> changesOfFiles() {
    return bucket.changes().stream().filter(change -> !change.contains(S3Keys.OWN)).toList();
  }

  private void save(String name, int value) throws Exception {
    make("tmp", Stat.DIRECTORY | 0700);
    for (String file : List.of("tmp/b", "tmp/a")) {
      make(file, Stat.REGULAR | 0600);
      write(file, value, 0);
    }
    perform(new Operation.Rename("tmp", name, 0));
  }

  @Test
  void checkpointThatIsRenamedAtItsEnd_isPutOnce_andTheMarkerLast() throws Exception {
    make("a-marker", Stat.REGULAR | 0600);
    save("step-7", 1);
    write("a-marker", 2, 0);

    assertSame();

    assertThat(changesOfFiles()).hasSize(3).last().isEqualTo("upload a-marker");
    assertThat(changesOfFiles()).contains("upload step-7/a", "upload step-7/b");
  }

  @Test
  void directoryOfAnEarlierRow_isCopiedByTheStore_andOldNamesGo() throws Exception {
    save("step-7", 1);
    persist();
    bucket.changes().clear();

    perform(new Operation.Rename("step-7", "best", 0));
    assertSame();

    assertThat(changesOfFiles())
        .containsExactlyInAnyOrder(
            "copy best/a", "copy best/b", "delete step-7/a", "delete step-7/b");
  }

  @Test
  void objectWhoseNameTheStoreHas_isPutUnderTheRow_andGetsItsNameBehindTheIndex() throws Exception {
    make("latest", Stat.REGULAR | 0600);
    write("latest", 1, 0);
    persist();
    bucket.changes().clear();

    write("latest", 2, 500);
    assertSame();

    List<String> changes = bucket.changes();
    int index = changes.indexOf("replace " + S3Keys.INDEX);
    assertThat(changes.indexOf("copy latest")).isGreaterThan(index);
    assertThat(changes.stream().filter(c -> c.startsWith("upload " + S3Keys.ROWS))).hasSize(1);
    try (ObjectBucket other = stores.bucket()) {
      assertThat(other.keys(S3Keys.ROWS, 10)).isEmpty();
    }
  }

  @Test
  void attributesAlone_changeTheIndexAlone() throws Exception {
    make("a", Stat.REGULAR | 0600);
    write("a", 1, 0);
    persist();
    bucket.changes().clear();

    perform(new Operation.Attributes("a", 0644, -1, -1, 1, 2));
    assertSame();

    assertThat(bucket.changes()).containsExactly("replace " + S3Keys.INDEX);
  }

  @Test
  void largeFiles_goAndComeInParts() throws Exception {
    make("a", Stat.REGULAR | 0600);
    perform(new Operation.Resize("a", 11 << 20));
    for (int i = 0; i < 10; i++) {
      write("a", i, i << 20);
    }
    assertSame();
    perform(new Operation.Rename("a", "b", 0));
    assertSame();
    write("b", 7, 3000);
    assertSame();
  }

  @Test
  void fileThatBecomesADirectory_inOneRow_isReplaced() throws Exception {
    make("a", Stat.REGULAR | 0600);
    write("a", 1, 0);
    persist();

    perform(new Operation.Remove("a", false));
    make("a", Stat.DIRECTORY | 0700);
    make("a/x", Stat.REGULAR | 0600);
    write("a/x", 2, 0);
    assertSame();
    perform(new Operation.Remove("a/x", false), new Operation.Remove("a", true));
    make("a", Stat.REGULAR | 0600);
    assertSame();
  }

  @Test
  void objectThatSomebodyHasChanged_isNotRead() throws Exception {
    make("a", Stat.REGULAR | 0600);
    write("a", 1, 0);
    persist();
    stores.put("a", new byte[1000]);

    assertThatThrownBy(() -> store().openToRead("a", store().stat("a")))
        .isInstanceOf(ErrnoException.class)
        .hasMessageContaining("a: the bucket has another object than the index says");
    write("a", 2, 5);
    assertThatThrownBy(this::persist).hasMessageContaining("another object than the index says");
  }

  /** The answer got lost: the row that is tried again finds itself in the bucket. */
  @Test
  void row_whoseIndexIsThere_isNotPutAgain() throws Exception {
    make("a", Stat.REGULAR | 0600);
    write("a", 1, 0);
    Persister persister = new Persister(front(), store(), 0, 0, SaveMeter.ofProcess());
    persister.stepNow();
    persister.stepNow();
    bucket.decide(2, Fate.FAILS_AFTERWARDS); // behind plan and object: the index
    assertThatThrownBy(persister::stepNow).hasMessageContaining("fate");
    persister.failed(ErrnoException.because(Errno.EIO, "", "fate"));
    assertThat(front().pendingOperations()).isEqualTo(2);
    make("b", Stat.REGULAR | 0600);
    bucket.changes().clear();

    persister.stepNow();

    assertThat(front().pendingOperations()).isEqualTo(1);
    assertThat(bucket.changes()).isEmpty();
    assertSame();
  }

  /** Each attempt left another copy in the bucket, until its quota was full for good. */
  @Test
  void rowThatFailsAgainAndAgain_leavesTheObjectsOfOneAttempt() throws Exception {
    for (String name : List.of("a", "b")) {
      make(name, Stat.REGULAR | 0600);
      write(name, 1, 0);
    }
    persist();
    write("a", 2, 0);
    write("b", 2, 0);
    Persister persister = new Persister(front(), store(), 0, 0, SaveMeter.ofProcess());
    for (int i = 0; i < 4; i++) {
      persister.stepNow();
      persister.stepNow();
      int staged = i == 0 ? 0 : 2; // of the attempt before, which are deleted
      bucket.decide(staged + 2, Fate.FAILS); // behind plan and the first object
      assertThatThrownBy(persister::stepNow).hasMessageContaining("fate");
      persister.failed(ErrnoException.because(Errno.EIO, "", "fate"));
    }

    try (ObjectBucket other = stores.bucket()) {
      assertThat(other.keys(S3Keys.ROWS, 10)).hasSize(1);
      assertSame();
      ((S3Store) store()).settle();
      assertThat(other.keys(S3Keys.ROWS, 10)).isEmpty();
    }
  }

  /** It stayed in the front for as long as the operation failed: for ever, or until a crash. */
  @Test
  void operationThatFails_keepsNothingBeforeItFromTheStore() throws Exception {
    make("log", Stat.REGULAR | 0600);
    write("log", 1, 0);
    persist();
    stores.put("log", new byte[1000]);
    save("step-7", 1);
    write("log", 2, 5);

    assertThatThrownBy(this::persist).hasMessageContaining("another object than the index says");

    assertThat(front().pendingOperations()).isEqualTo(1);
    assertThat(store().stat("step-7/a").size()).isEqualTo(1000);
    assertThatThrownBy(this::persist).hasMessageContaining("another object than the index says");
  }

  /** It may come whenever it likes: its row is not there, and its operations are in other ones. */
  @Test
  void index_thatIsLate_neverArrives() throws Exception {
    make("a", Stat.REGULAR | 0600);
    write("a", 1, 0);
    persist();
    write("a", 2, 0);
    Persister persister = new Persister(front(), store(), 0, 0, SaveMeter.ofProcess());
    persister.stepNow();
    bucket.decide(2, Fate.IS_LATE); // behind plan and object: the index
    assertThatThrownBy(persister::stepNow).hasMessageContaining("fate");
    persister.failed(ErrnoException.because(Errno.EIO, "", "fate"));
    write("a", 3, 500);

    persister.stepNow();

    assertThat(bucket.isLate()).isTrue();
    assertThat(bucket.arrive()).isFalse();
    persister.stepNow();
    persister.stepNow();
    assertThat(front().pendingOperations()).isZero();
    assertSame();
  }

  @Test
  void storeOfAKilledProcess_isReadAtOnce_andSettledLater() throws Exception {
    make("a", Stat.REGULAR | 0600);
    write("a", 1, 0);
    persist();
    write("a", 2, 0);
    bucket.decide(5, Fate.IS_KILLED); // behind owner, download, plan, object, index: the copy
    assertThatThrownBy(this::persist).isInstanceOf(FatedBucket.Killed.class);
    reopen();

    assertThat(bucket.changes()).noneMatch(change -> change.startsWith("copy"));
    assertThat(Picture.of(store())).isEqualTo(Picture.of(front()));
    persist();
    ((S3Store) store()).settle();
    assertThat(bucket.changes()).contains("copy a");
    assertThat(Picture.of(store())).isEqualTo(Picture.of(front()));
    try (ObjectBucket other = stores.bucket()) {
      assertThat(other.keys(S3Keys.ROWS, 10)).isEmpty();
    }
  }

  /** The client sends a request again that got no answer. */
  @Test
  void nameOfTheMount_thatIsSentTwice_isNoted() throws Exception {
    bucket.decide(1, Fate.IS_SENT_TWICE); // behind the owner

    store().noteMount();

    try (ObjectBucket raw = stores.bucket()) {
      assertThat(raw.get(S3Keys.LAST).bytes()).asString().isEqualTo("one");
    }
  }

  /** The front of the later mount would be taken for old, and that of the earlier one for new. */
  @Test
  void nameOfAMount_thatIsLate_hidesNoLaterOne() throws Exception {
    try (ObjectBucket raw = stores.bucket()) {
      raw.delete(S3Keys.OWNER);
      try (Store later = open("two", directory.resolve("second"), false)) {
        later.noteMount();
        later.release(true);
      }
      String unused = raw.create(S3Keys.OWNER, "one".getBytes(StandardCharsets.UTF_8));

      assertThatThrownBy(() -> store().noteMount())
          .hasMessageContaining("another node has taken the store over")
          .matches(e -> ((ErrnoException) e).is(Errno.EBUSY));

      assertThat(raw.get(S3Keys.LAST).bytes()).asString().isEqualTo("two");
    }
  }

  @Test
  void largestFile_fitsIntoTheFrontTwice() throws Exception {
    assertThat(store().largestFile())
        .isPositive()
        .isLessThanOrEqualTo(ObjectBucket.LARGEST_OBJECT)
        .isLessThanOrEqualTo(directory.toFile().getTotalSpace() / 2);
  }

  @Test
  void keysOfTheStoreItself_areNoFiles() throws Exception {
    assertThat(store().list("")).isEmpty();
    make("a", Stat.REGULAR | 0600);
    persist();
    assertThat(store().list("")).hasSize(1);
  }

  /** The message to a front whose store is empty advises to copy that name. */
  @Test
  void prefixWithTheNameOfTheLastMountAlone_isTaken() throws Exception {
    try (S3TestStores named = new S3TestStores()) {
      named.put(S3Keys.LAST, "one".getBytes(StandardCharsets.UTF_8));
      Path front = directory.resolve("second");
      try (S3Store taken =
          new S3Store(named.bucket(), named.place(), "one", false, front, () -> 7)) {
        assertThat(taken.lastMount()).isEqualTo("one");
        assertThat(taken.isBare()).isFalse();
      }
    }
  }

  @Test
  void prefixWithOtherObjects_isRefused_andStaysFree() throws Exception {
    try (S3TestStores full = new S3TestStores()) {
      full.put("data", new byte[1]);
      for (int i = 0; i < 2; i++) {
        assertThatThrownBy(
                () -> new S3Store(full.bucket(), full.place(), "x", false, directory, () -> 7))
            .isInstanceOf(FsException.class)
            .hasMessageContaining("there are objects (data) and no index of Holdfast");
      }
    }
  }

  /** All that its last plan names would be deleted. */
  @Test
  void prefixWithAPlan_andNoIndex_isRefused() throws Exception {
    try (S3TestStores full = new S3TestStores();
        ObjectBucket raw = full.bucket()) {
      full.put(S3Keys.PLAN, "data".getBytes(StandardCharsets.UTF_8));

      assertThatThrownBy(
              () -> new S3Store(full.bucket(), full.place(), "x", false, directory, () -> 7))
          .isInstanceOf(FsException.class)
          .hasMessageContaining("and no index of Holdfast");
      assertThat(raw.keys("", 10)).containsExactly(S3Keys.PLAN);
    }
  }

  @Test
  void storeThatCannotBeOpened_staysFree_unlessItWasThisNodes() throws Exception {
    try (S3TestStores damaged = new S3TestStores();
        ObjectBucket raw = damaged.bucket()) {
      damaged.put(S3Keys.INDEX, new byte[100]);
      assertThatThrownBy(
              () -> new S3Store(damaged.bucket(), damaged.place(), "x", false, directory, () -> 7))
          .hasMessageContaining("the index in the bucket is damaged");
      assertThat(raw.get(S3Keys.OWNER)).isNull();

      damaged.put(S3Keys.OWNER, "x".getBytes(StandardCharsets.UTF_8));
      assertThatThrownBy(
              () -> new S3Store(damaged.bucket(), damaged.place(), "x", false, directory, () -> 7))
          .hasMessageContaining("the index in the bucket is damaged");
      assertThat(raw.get(S3Keys.OWNER)).isNotNull();
    }
  }

  /** How a bucket treats the condition of a PUT. */
  private interface Replacement {
    String put(ObjectBucket bucket, String key, byte[] bytes) throws FsException;
  }

  private static ObjectBucket with(String method, Replacement replacement, ObjectBucket bucket) {
    return (ObjectBucket)
        Proxy.newProxyInstance(
            ObjectBucket.class.getClassLoader(),
            new Class<?>[] {ObjectBucket.class},
            (proxy, called, arguments) -> {
              if (called.getName().equals(method)) {
                byte[] bytes = (byte[]) arguments[arguments.length - 1];
                return replacement.put(bucket, (String) arguments[0], bytes);
              }
              try {
                return called.invoke(bucket, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  private void refuses(String method, Replacement replacement, String message) throws Exception {
    try (S3TestStores other = new S3TestStores();
        ObjectBucket raw = other.bucket()) {
      ObjectBucket such = with(method, replacement, other.bucket());
      assertThatThrownBy(() -> new S3Store(such, other.place(), "x", false, directory, () -> 7))
          .hasMessageContaining(message);
      assertThat(raw.keys("", 10)).isEmpty();
    }
  }

  @Test
  void bucketThatIgnoresIfMatch_isRefused_andStaysFree() throws Exception {
    refuses("replace", ObjectBucket::put, "(If-Match): two nodes could write at once");
  }

  /** Nothing would ever be persisted there, and the mount looked as if all was well. */
  @Test
  void bucketThatNeverTakesAnIfMatch_isRefused_andStaysFree() throws Exception {
    refuses(
        "replace",
        (bucket, key, bytes) -> {
          throw new FsException(FsError.STALE, "no");
        },
        "whose ETag it has told (If-Match)");
  }

  /** Swift says 501 there. */
  @Test
  void bucketThatKnowsNoConditions_isRefused_andStaysFree() throws Exception {
    refuses(
        "create",
        (bucket, key, bytes) -> {
          throw new FsException(FsError.UNSUPPORTED, "the store says 501");
        },
        "refuses conditions (the store says 501). Checkpoints need a store");
  }

  @Test
  void indexThatIsDamaged_isRefused() throws Exception {
    make("a", Stat.REGULAR | 0600);
    persist();
    stores.put(S3Keys.INDEX, "nonsense".getBytes(StandardCharsets.UTF_8));

    assertThatThrownBy(() -> open("one", directory.resolve("front"), false))
        .hasMessageContaining("the index in the bucket is damaged");
  }

  @Test
  void bucketThatIsNotThere_isNamed() {
    assertThatThrownBy(
            () ->
                new S3Store(
                    new WritableBucket(
                        SharedS3Server.settings(
                            SharedS3Server.endpoint(),
                            "s3://no-such-bucket/run",
                            Duration.ofSeconds(20)),
                        WritableBucket.Parts.STANDARD),
                    "s3://no-such-bucket/run",
                    "one",
                    false,
                    directory,
                    () -> 7))
        .isInstanceOf(FsException.class)
        .hasMessageContaining("no bucket no-such-bucket");
  }

  @Test
  void rowOnItsWay_leavesNothingInTheFront() throws Exception {
    make("a", Stat.REGULAR | 0600);
    write("a", 1, 0);
    persist();
    int fd = store().openToRead("a", store().stat("a"));
    LIBC.close(fd);

    assertThat(directory.resolve("front/row")).isEmptyDirectory();
  }
}
