package io.holdfast.fs.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Sandbox;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class KeptOrdersTest {
  private Sandbox sandbox;
  private Path directory;
  private long free = 1 << 20;
  private KeptOrders kept;

  @BeforeEach
  void create() throws IOException {
    sandbox = Sandbox.create();
    directory = sandbox.root().resolve("orders");
    kept = next();
  }

  private KeptOrders next() {
    return new KeptOrders(directory, path -> free);
  }

  @AfterEach
  void close() throws IOException {
    sandbox.close();
  }

  private static FileSequence pass(long... ids) {
    FileSequence pass = new FileSequence();
    for (long id : ids) {
      pass.add(id);
    }
    return pass;
  }

  private static long[] ids(FileSequence pass) {
    return LongStream.range(0, pass.size()).map(i -> pass.get((int) i)).toArray();
  }

  @Test
  void order_isReadAsItWasKept() {
    long[] large = LongStream.range(0, 40_000).map(i -> FileSequence.LARGEST - 7 * i).toArray();
    kept.keep("a", "announced", pass(3, 1, 2));
    kept.keep("b", "sampler", pass(large));
    kept.then("a", pass(9));
    kept.progress("b", new Order.Progress(0, 39_000, 38_998));

    List<KeptOrders.Kept> read = next().read();

    assertThat(read).extracting(KeptOrders.Kept::job).containsExactly("a", "b");
    assertThat(read).extracting(KeptOrders.Kept::source).containsExactly("announced", "sampler");
    assertThat(read.get(0).passes()).hasSize(2);
    assertThat(ids(read.get(0).passes().get(0))).containsExactly(3, 1, 2);
    assertThat(ids(read.get(0).passes().get(1))).containsExactly(9);
    assertThat(read.get(0).progress()).isEqualTo(Order.Progress.NONE);
    assertThat(ids(read.get(1).passes().get(0))).isEqualTo(large);
    assertThat(read.get(1).progress()).isEqualTo(new Order.Progress(0, 39_000, 38_998));
  }

  /** The place that was there is worth something only with its pass. */
  @Test
  void placeThatCannotBeWritten_leavesThePassesOfTheOneBefore() throws IOException {
    kept.keep("a", "announced", pass(3, 1, 2));
    kept.then("a", pass(9));
    Files.createSymbolicLink(directory.resolve("1.place"), Path.of("/nonexistent/place"));

    kept.progress("a", new Order.Progress(1, 0, 0));

    List<KeptOrders.Kept> read = next().read();
    assertThat(read).hasSize(1);
    assertThat(read.get(0).passes()).hasSize(2);
  }

  /** The next daemon may be of another version. */
  @Test
  void format_isThatOfEarlierVersions() throws IOException {
    kept.keep("job", "announced", pass(1, 258));
    kept.progress("job", new Order.Progress(0, 2, 1));
    HexFormat hex = HexFormat.of();
    assertThat(hex.formatHex(Files.readAllBytes(directory.resolve("1.0.order"))))
        .isEqualTo(
            "48464f31" // HFO1
                + "00036a6f62" // job
                + "0009616e6e6f756e636564" // announced
                + "00000002"
                + "0100000000"
                + "0201000000"
                + "0000000085ecfe2e"); // CRC-32C of the two numbers
    assertThat(hex.formatHex(Files.readAllBytes(directory.resolve("1.place"))))
        .isEqualTo("000000000000000200000001");
  }

  @Test
  void place_isCountedFromTheOrdersFirstPass_alsoByLaterDaemons() {
    kept.keep("job", "announced", pass(1));
    kept.then("job", pass(2));
    kept.then("job", pass(3));
    kept.then("job", pass(4));
    kept.progress("job", new Order.Progress(1, 1, 1));
    kept = next();
    assertThat(kept.read().get(0).passes()).hasSize(3);
    kept.progress("job", new Order.Progress(1, 0, 0));
    kept.then("job", pass(5));
    kept = next();

    List<FileSequence> passes = kept.read().get(0).passes();

    assertThat(passes).hasSize(3);
    assertThat(ids(passes.get(0))).containsExactly(3);
    assertThat(ids(passes.get(2))).containsExactly(5);
  }

  /** All orders together leave as much room as they take. */
  @Test
  void orders_forWhichThereIsNoRoom_areNotKept() throws IOException {
    free = 100;
    kept.keep("a", "announced", pass(1, 2, 3));
    assertThat(directory.resolve("1.0.order")).exists();
    free = 100 - Files.size(directory.resolve("1.0.order"));
    kept.then("a", pass(1, 2, 3, 4, 5, 6, 7, 8, 9));

    assertThat(next().read()).as("a part of an order is worse than none").isEmpty();
    assertThat(directory).isEmptyDirectory();
    free = 1000;
    kept.keep("a", "announced", pass(4));
    assertThat(next().read()).hasSize(1);
  }

  @Test
  void directory_thatCannotBeMade_isNoFailure() throws IOException {
    Files.createFile(directory);
    kept.keep("a", "announced", pass(1));
    kept.progress("a", new Order.Progress(0, 1, 1));
    kept.then("a", pass(2));
    kept.forget("a");
    assertThat(next().read()).isEmpty();
    assertThat(new KeptOrders(null).read()).isEmpty();
  }
}
