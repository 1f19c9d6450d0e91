package io.holdfast.fs.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.checkpoint.FatedBucket.Fate;
import io.holdfast.fs.checkpoint.FatedBucket.Killed;
import io.holdfast.fs.checkpoint.RandomProgram.Step;
import io.holdfast.fs.origin.SharedS3Server;
import io.holdfast.fs.origin.s3.ObjectBucket;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.commons.io.FileUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The contract with a bucket: whatever a program does, and whichever request fails or is the last
 * one before the daemon is killed, who reads the index finds the program's tree of some moment, and
 * all the objects that it names. At last there is nothing else in the bucket.
 */
@ExtendWith(SharedS3Server.class)
@Timeout(120)
class S3PrefixTest {
  private static final int STEPS = 60;
  private static final int PERSISTS = 3;
  private static final int MOST_REQUESTS = 25;
  private static final Fate[] FATES = Fate.values();

  private final AtomicLong clock = new AtomicLong(1_700_000_000_000_000_000L);
  private final Map<Long, Map<String, String>> pictures = new HashMap<>();
  private final RandomProgram program = new RandomProgram(() -> this.front);
  private final S3TestStores stores = new S3TestStores();
  private Path directory;
  private ObjectBucket reader;
  private FatedBucket bucket;
  private S3Store store;
  private Front front;
  private Persister persister;
  private long taken;

  @BeforeEach
  void begin() throws Exception {
    directory = Files.createTempDirectory("s3-prefix");
    reader = stores.bucket();
    open(null);
  }

  @AfterEach
  void end() throws Exception {
    program.closeFiles();
    front.closeFiles();
    store.close();
    reader.close();
    stores.close();
    FileUtils.deleteDirectory(directory.toFile());
  }

  /** Opens as a daemon does that may be killed, too: until one is not. */
  private void open(Random random) throws IOException {
    front = new Front(directory.resolve("front"), 1 << 30, true, clock::incrementAndGet);
    boolean isOpen = false;
    while (!isOpen) {
      bucket = new FatedBucket(stores.bucket());
      if (random != null && random.nextInt(3) == 0) {
        bucket.decide(random.nextInt(MOST_REQUESTS), FATES[random.nextInt(FATES.length)]);
      }
      try {
        Path place = directory.resolve("front");
        store =
            new S3Store(bucket, stores.place(), "this node", false, place, clock::incrementAndGet);
        isOpen = true;
      } catch (IOException | Killed e) {
        checkStore(); // the supervisor starts the next one
      }
    }
    persister = new Persister(front, store, 0, 0, SaveMeter.ofProcess());
  }

  @RepeatedTest(25)
  void index_isAPrefixOfTheProgram_andNamesWhatIsThere() throws Exception {
    long seed = new Random().nextLong();
    try {
      run(new Random(seed));
    } catch (Exception | Error e) {
      throw new AssertionError("seed " + seed, e);
    }
  }

  private void run(Random random) throws Exception {
    pictures.put(front.last(), Picture.of(front));
    for (int i = 0; i < STEPS; i++) {
      int kind = random.nextInt(RandomProgram.KINDS + PERSISTS);
      if (kind < RandomProgram.KINDS) {
        program.perform(new Step(kind, any(random), any(random), any(random)));
        pictures.put(front.last(), Picture.of(front));
      } else {
        if (random.nextBoolean()) {
          bucket.decide(random.nextInt(MOST_REQUESTS), FATES[random.nextInt(FATES.length)]);
        }
        for (int steps = random.nextInt(20); steps > 0; steps--) {
          persist(random);
        }
      }
    }
    while (front.pendingOperations() > 0) {
      persist(random);
    }
    checkStore();
    assertThat(S3TestStores.read(reader)).isEqualTo(pictures.get(front.last()));
    bucket.decide(Integer.MAX_VALUE, Fate.FAILS);
    store.settle();
    assertThat(Picture.of(store)).isEqualTo(pictures.get(front.last()));
    assertThat(new TreeSet<>(reader.keys("", Integer.MAX_VALUE))).isEqualTo(expectedKeys());
    store.release(true);
    assertThat(reader.get(S3Keys.OWNER)).isNull();
  }

  private static int any(Random random) {
    return random.nextInt(1 << 20);
  }

  private void persist(Random random) throws Exception {
    try {
      if (random.nextInt(3) == 0) {
        boolean unused = bucket.arrive(); // either is right: the store finds out
      }
      persister.stepNow();
    } catch (ErrnoException | Killed e) {
      if (bucket.isKilled()) {
        program.closeFiles();
        front.closeFiles();
        store.close();
        open(random);
      } else {
        assertThat(e).hasMessageContaining("fate");
        persister.failed((ErrnoException) e);
      }
      checkStore();
    }
  }

  /**
   * The index is that of a moment, has at least what is said to be durable, and never goes back.
   */
  private void checkStore() throws IOException {
    Map<String, String> now = S3TestStores.read(reader);
    long first = Math.max(taken, front.durable());
    long moment = first;
    while (moment <= front.last() && !now.equals(pictures.get(moment))) {
      moment++;
    }
    assertThat(moment)
        .as("the store is that of no moment since %d: %s", first, now)
        .isLessThanOrEqualTo(front.last());
    taken = moment;
  }

  private Set<String> expectedKeys() throws IOException {
    Set<String> keys = new TreeSet<>(List.of(S3Keys.OWNER, S3Keys.INDEX));
    if (reader.get(S3Keys.PLAN) != null) {
      keys.add(S3Keys.PLAN);
    }
    S3Keys names = new S3Keys(reader.prefix());
    List<String> directories = new ArrayList<>(List.of(""));
    while (!directories.isEmpty()) {
      String parent = directories.remove(0);
      for (FileTree.Entry entry : store.list(parent)) {
        String path = FileTree.child(parent, entry.name());
        if (entry.type() == Stat.DIRECTORY) {
          directories.add(path);
        } else if (entry.type() == Stat.REGULAR) {
          keys.add(names.of(path));
        }
      }
    }
    return keys;
  }
}
