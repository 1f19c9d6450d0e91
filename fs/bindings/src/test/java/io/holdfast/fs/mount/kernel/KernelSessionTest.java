package io.holdfast.fs.mount.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.mount.MountOptions;
import io.holdfast.fs.mount.PendingReplies;
import io.holdfast.fs.mount.RequestThreads;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import jnr.constants.platform.Errno;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whole sessions with kernels of several versions, without a mount. */
final class KernelSessionTest {
  private static final int LOOKUP = 1;
  private static final int GETATTR = 3;
  private static final int OPEN = 14;
  private static final int READ = 15;
  private static final int GETXATTR = 22;
  private static final int INIT = 26;
  private static final int OPENDIR = 27;
  private static final int READDIRPLUS = 44;
  private static final Duration TTL = OneFile.TTL;
  private static final int WRITE = 16;
  private static final int INTERRUPT = 36;
  private static final int STATX = 52;

  /** The number of a thread that has ended. */
  private static final int NO_THREAD = Integer.MAX_VALUE;

  private static final long FILE = OneFile.FILE;
  private static final int SIZE = OneFile.SIZE;

  private final FakeKernel kernel = new FakeKernel();
  private final OneFile filesystem = new OneFile();
  private final List<Negotiation> agreed = new CopyOnWriteArrayList<>();
  private GrowingMemory memory;
  private RequestThreads threads;

  @BeforeEach
  void start() throws FsException {
    memory = GrowingMemory.ofProcess("requests");
    InFlight inFlight = new InFlight(memory);
    Channel channel = new Channel(kernel.descriptor());
    MountOptions options =
        new MountOptions(Path.of("/nowhere"), "test", TTL, true, false, true, false);
    Requests requests =
        new Requests(
            channel,
            inFlight,
            filesystem,
            options,
            new PendingReplies(),
            new KeptListings(node -> {}, System::nanoTime),
            new Requests.Initialized() {
              @Override
              public void agreed(Negotiation negotiation) {
                agreed.add(negotiation);
              }

              @Override
              public void answered() {}
            });
    threads = KernelReceiver.threads(channel, inFlight, requests);
    threads.start();
  }

  @AfterEach
  void end() {
    kernel.close();
    Await.until("the threads ended", () -> threads.running() == 0);
    kernel.closeDaemonsEnd();
    memory.close();
  }

  /**
   * The offers of kernels, by the flags that their versions brought; the offer of 6.18 is a
   * recorded one.
   */
  @ParameterizedTest(name = "Linux {0}")
  @CsvSource({
    "5.4,  31, 0x3fffffb,     0x2446001, false",
    "5.10, 32, 0xffffffb,     0x2446001, false",
    "5.15, 34, 0x3ffffffb,    0x2446001, false",
    "6.1,  37, 0x37ffffffb,   0x42446001, false",
    "6.8,  39, 0x1f7ffffffb,  0x42446001, false",
    "6.9,  40, 0xff7ffffffb,  0x8042446001, true",
    "6.12, 41, 0x1ff73fffffb, 0x8042446001, true",
    "6.14, 42, 0x3ff73fffffb, 0x8042446001, true",
    "6.18, 45, 0x5fd73fffffb, 0x8042442001, true"
  })
  void session_ofEachKernel_works(
      String version, int minor, String offered, String taken, boolean resends) {
    FakeKernel.Reply init = kernel.ask(INIT, 0, FakeKernel.init(minor, Long.decode(offered)));
    assertThat(init.error()).isZero();
    assertThat(init.body().remaining()).isEqualTo(64);
    assertThat(init.body().getInt(4)).isEqualTo(minor);
    // an aborted connection says so
    long expected = Long.decode(taken) | 1L << 21;
    long flags =
        Integer.toUnsignedLong(init.body().getInt(12))
            | Integer.toUnsignedLong(init.body().getInt(32)) << Integer.SIZE;
    assertThat(Long.toHexString(flags)).as(version).isEqualTo(Long.toHexString(expected));
    assertThat(init.body().getShort(40)).as("seconds after which it ends the mount").isZero();
    assertThat(agreed).hasSize(1);
    assertThat(agreed.get(0).canResend()).isEqualTo(resends);
    assertServes();
  }

  private void assertServes() {
    FakeKernel.Reply entry = kernel.ask(LOOKUP, 1, FakeKernel.name("file"));
    assertThat(entry.error()).isZero();
    assertThat(entry.body().remaining()).isEqualTo(Wire.ENTRY);
    assertThat(entry.body().getLong(0)).isEqualTo(FILE);
    assertThat(entry.body().getLong(16)).as("seconds of the name").isEqualTo(1);
    assertThat(entry.body().getInt(32)).as("and nanoseconds").isEqualTo(500_000_000);
    FakeKernel.Reply missing = kernel.ask(LOOKUP, 1, FakeKernel.name("none"));
    assertThat(missing.error()).isZero();
    assertThat(missing.body().getLong(0)).isZero();
    assertThat(kernel.ask(GETATTR, FILE, FakeKernel.body(16)).body().remaining())
        .isEqualTo(Wire.ATTR_OUT);
    assertThat(error(OPEN)).isEqualTo(Errno.ENOSYS);
    assertThat(error(OPENDIR)).isEqualTo(Errno.ENOSYS);
    assertThat(error(WRITE)).isEqualTo(Errno.EROFS);
    assertThat(error(STATX)).isEqualTo(Errno.ENOSYS);
    ByteBuffer bytes = kernel.ask(READ, FILE, FakeKernel.read(1000, 131_072)).body();
    assertThat(bytes.remaining()).isEqualTo(SIZE - 1000);
    assertThat(bytes.get(5)).isEqualTo(OneFile.byteAt(1005));
    filesystem.entries = 2;
    FakeKernel.Reply listing = kernel.ask(READDIRPLUS, 1, FakeKernel.read(0, 4096));
    assertThat(listing.error()).isZero();
    int fourth = 3 * (Wire.ENTRY + 32);
    assertThat(listing.body().getLong(fourth)).as("the fourth entry leads to").isEqualTo(FILE);
    ByteBuffer wanted = FakeKernel.body(8 + "user.x".length() + 1).putInt(0, 100);
    wanted.put(8, "user.x".getBytes(StandardCharsets.UTF_8));
    assertThat(kernel.ask(GETXATTR, FILE, wanted).body().remaining()).isEqualTo(5);
  }

  private Errno error(int opcode) {
    return Errno.valueOf(-kernel.ask(opcode, FILE, FakeKernel.body(64)).error());
  }

  /** A thousand waiting READs need no thread; the thread that has the bytes of each answers it. */
  @Test
  void reads_thatWait_needNoThread() {
    kernel.ask(INIT, 0, FakeKernel.init(45, 0x5fd73fffffbL));
    filesystem.holdReads = true;
    List<Long> numbers = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      numbers.add(kernel.send(READ, FILE, FakeKernel.read(100L * i, 100)));
      int sent = i + 1;
      Await.until("the request received", () -> filesystem.held.size() == sent);
    }
    assertThat(threads.running()).isLessThanOrEqualTo(6);
    assertServesWhileReadsWait();
    List<Long> answered = new ArrayList<>();
    for (int i = 0; i < numbers.size(); i++) {
      filesystem.held.get(i).run();
      FakeKernel.Reply reply = kernel.receive();
      assertThat(reply.body().get(0)).isEqualTo(OneFile.byteAt(i * 100));
      answered.add(reply.unique());
    }
    assertThat(answered).isEqualTo(numbers);
  }

  private void assertServesWhileReadsWait() {
    assertThat(kernel.ask(LOOKUP, 1, FakeKernel.name("file")).error()).isZero();
  }

  @Test
  void read_interrupted_isAnsweredAtOnceAndOnlyOnce() {
    kernel.ask(INIT, 0, FakeKernel.init(45, 0x5fd73fffffbL));
    kernel.setCaller(NO_THREAD);
    filesystem.holdReads = true;
    long waiting = kernel.send(READ, FILE, FakeKernel.read(0, 100));
    Await.until("the request received", () -> filesystem.held.size() == 1);
    kernel.send(INTERRUPT, 0, FakeKernel.body(8).putLong(0, waiting));

    FakeKernel.Reply reply = kernel.receive();

    assertThat(reply.unique()).isEqualTo(waiting);
    assertThat(Errno.valueOf(-reply.error())).isEqualTo(Errno.EINTR);
    filesystem.held.get(0).run();
    assertServesWhileReadsWait();
  }

  /** The kernel refuses what comes for it later. */
  @Test
  void lookup_callerIsEnding_isAnsweredAtOnce() {
    kernel.ask(INIT, 0, FakeKernel.init(45, 0x5fd73fffffbL));
    kernel.setCaller(NO_THREAD);
    filesystem.holdLookups = new CountDownLatch(1);
    long waiting = kernel.send(LOOKUP, 1, FakeKernel.name("file"));
    Await.until("the request received", () -> filesystem.lookups.get() == 1);
    kernel.send(INTERRUPT, 0, FakeKernel.body(8).putLong(0, waiting));

    FakeKernel.Reply reply = kernel.receive();

    assertThat(reply.unique()).isEqualTo(waiting);
    assertThat(Errno.valueOf(-reply.error())).isEqualTo(Errno.EINTR);
    filesystem.holdLookups.countDown();
    assertThat(kernel.receive().unique()).isEqualTo(waiting);
    assertServesWhileReadsWait();
  }

  /**
   * The kernel gives no number of a caller in another pid namespace. A Go program's SIGURG ended
   * each lookup that it came into.
   */
  @Test
  void lookup_callerCannotBeSeen_isBrokenOffOnlyAfterALongWait() {
    kernel.ask(INIT, 0, FakeKernel.init(45, 0x5fd73fffffbL));
    filesystem.holdLookups = new CountDownLatch(1);
    long begun = System.nanoTime();
    long waiting = kernel.send(LOOKUP, 1, FakeKernel.name("file"));
    Await.until("the request received", () -> filesystem.lookups.get() == 1);
    FakeKernel.Reply reply;
    do {
      kernel.send(INTERRUPT, 0, FakeKernel.body(8).putLong(0, waiting));
      reply = kernel.receive();
    } while (Errno.valueOf(-reply.error()) == Errno.EAGAIN);

    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThan(Duration.ofSeconds(1));
    assertThat(reply.unique()).isEqualTo(waiting);
    assertThat(Errno.valueOf(-reply.error())).isEqualTo(Errno.EINTR);
    filesystem.holdLookups.countDown();
    assertThat(kernel.receive().unique()).isEqualTo(waiting);
  }

  /** Names that an origin which hangs is asked for, by the processes of a large machine. */
  @Test
  void lookups_thatWait_keepNobodyElseWaiting() {
    kernel.ask(INIT, 0, FakeKernel.init(45, 0x5fd73fffffbL));
    filesystem.holdLookups = new CountDownLatch(1);
    int count = 200;
    for (int i = 1; i <= count; i++) {
      kernel.send(LOOKUP, 1, FakeKernel.name("file"));
      int sent = i;
      Await.until("the request received", () -> filesystem.lookups.get() == sent);
    }
    assertThat(kernel.ask(GETATTR, FILE, FakeKernel.body(16)).error()).isZero();
    filesystem.holdLookups.countDown();
    for (int i = 1; i <= count; i++) {
      assertThat(kernel.receive().error()).isZero();
    }
  }

  /**
   * A request that a timer's signal interrupts goes on, and the kernel tells of the next signal
   * too.
   */
  @ParameterizedTest
  @ValueSource(ints = {READ, LOOKUP})
  void interrupted_callerGoesOn_waitsAndIsAskedAbout(int opcode) {
    kernel.ask(INIT, 0, FakeKernel.init(45, 0x5fd73fffffbL));
    filesystem.holdReads = true;
    filesystem.holdLookups = new CountDownLatch(1);
    kernel.setCaller((int) ProcessHandle.current().pid());
    long waiting =
        opcode == READ
            ? kernel.send(READ, FILE, FakeKernel.read(0, 100))
            : kernel.send(LOOKUP, 1, FakeKernel.name("file"));
    Await.until(
        "the request received", () -> filesystem.held.size() + filesystem.lookups.get() == 1);
    long interrupt = kernel.send(INTERRUPT, 0, FakeKernel.body(8).putLong(0, waiting));

    FakeKernel.Reply reply = kernel.receive();

    assertThat(reply.unique()).isEqualTo(interrupt);
    assertThat(Errno.valueOf(-reply.error())).isEqualTo(Errno.EAGAIN);
    filesystem.holdLookups.countDown();
    filesystem.held.forEach(Runnable::run);
    FakeKernel.Reply answer = kernel.receive();
    assertThat(answer.unique()).isEqualTo(waiting);
    assertThat(answer.error()).isZero();
  }

  /** It may be told before the thread that has received the request has noted it. */
  @Test
  void interrupted_whatIsNotKnown_isToBeAskedAgain() {
    kernel.ask(INIT, 0, FakeKernel.init(45, 0x5fd73fffffbL));
    FakeKernel.Reply reply = kernel.ask(INTERRUPT, 0, FakeKernel.body(8).putLong(0, 4711));
    assertThat(Errno.valueOf(-reply.error())).isEqualTo(Errno.EAGAIN);
  }
}
