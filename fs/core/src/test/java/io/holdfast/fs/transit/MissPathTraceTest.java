package io.holdfast.fs.transit;

import static io.holdfast.fs.transit.TransitFixture.MIB;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadReply;
import io.holdfast.fs.origin.FakeOrigin;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.transit.TransitFixture.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * ARCHITECTURE.md describes the way of a miss by names of methods; these are the methods that run.
 */
final class MissPathTraceTest {
  private static final Path DOCUMENT = Path.of("../..", "packaging", "docs", "ARCHITECTURE.md");
  private static final int MOST_HOPS = 15;

  private final List<String> trace = new ArrayList<>();
  private List<String> stack = List.of();

  /** Adds the methods on the stack that were not there the last time. */
  private void look() {
    List<String> now =
        StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE)
            .walk(
                frames ->
                    new ArrayList<>(
                        frames
                            .filter(MissPathTraceTest::isOurs)
                            .map(MissPathTraceTest::name)
                            .toList()));
    Collections.reverse(now);
    int same = 0;
    while (same < Math.min(now.size(), stack.size()) && now.get(same).equals(stack.get(same))) {
      same++;
    }
    trace.addAll(now.subList(same, now.size()));
    stack = now;
  }

  /** Methods of the tested code; without methods of tests, and those that only pass on. */
  private static boolean isOurs(StackWalker.StackFrame frame) {
    String place =
        frame.getDeclaringClass().getProtectionDomain().getCodeSource() == null
            ? ""
            : frame
                .getDeclaringClass()
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .getPath();
    return place.endsWith("/classes/")
        && frame.getClassName().startsWith("io.holdfast.fs.transit.")
        && !frame.getMethodName().contains("$")
        && !frame.getMethodName().equals("take");
  }

  private static String name(StackWalker.StackFrame frame) {
    String type = frame.getClassName().replaceFirst(".*\\.", "").replaceFirst("\\$.*", "");
    return type + "." + frame.getMethodName();
  }

  /** Returns the document's list: the lines between the fences behind a name. */
  private static List<String> documented(String of) throws IOException {
    List<String> lines = Files.readAllLines(DOCUMENT);
    int at = lines.indexOf("```" + of) + 1;
    assertThat(at).as("the way of a %s in %s", of, DOCUMENT).isPositive();
    List<String> methods = new ArrayList<>();
    for (; !lines.get(at).equals("```"); at++) {
      methods.add(lines.get(at).strip().split(" ", 2)[0]);
    }
    return methods;
  }

  @ParameterizedTest
  @ValueSource(strings = {"local-miss", "peer-miss"})
  void read_missed_goesTheWayThatIsDocumented(String kind) throws IOException {
    try (TransitFixture t = TransitFixture.direct(MIB, 4 * MIB)) {
      File file = t.file("f", 100_000, 1);
      t.origin.setGate(
          new FakeOrigin.Gate() {
            @Override
            public void read(OriginPath path, long offset, int length) {
              look();
            }
          });
      t.listener.admits =
          item -> {
            look();
            return true;
          };
      PeerSource peers =
          (item, range, forPeer, address, answered) -> {
            look();
            answered.accept(new PeerSource.Arrival(true, true));
          };
      Transit transit =
          new Transit(
              new Transit.Sources(
                  t.origin, kind.equals("local-miss") ? PeerSource.NONE : peers, Runnable::run),
              new ItemLayout(MIB),
              2 * MIB,
              new PlainFetchers(Runnable::run, Runnable::run),
              System::nanoTime,
              Duration.ofSeconds(10),
              t.listener);
      transit.read(file.content(), 0, 4096, TransitFixture.NEAR, new Looking());
      t.listener.pinAll();
      transit.close();
    }
    List<String> documented = documented(kind);
    assertThat(trace).isEqualTo(documented);
    long hops = 0;
    for (int i = 1; i < trace.size(); i++) {
      hops += type(trace.get(i)).equals(type(trace.get(i - 1))) ? 0 : 1;
    }
    System.out.printf("%s: %d calls from one file to another%n", kind, hops);
    assertThat(hops).isLessThanOrEqualTo(MOST_HOPS);
  }

  private static String type(String method) {
    return method.substring(0, method.indexOf('.'));
  }

  private final class Looking implements ReadReply {
    @Override
    public void data(CheckedBytes bytes) {
      look();
    }

    @Override
    public void failed(FsException cause) {
      throw new AssertionError(cause);
    }
  }
}
