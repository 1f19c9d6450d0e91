package io.holdfast.fs.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ProcfsTest {
  /** Above the kernel's largest possible pid. */
  private static final int NOBODY = 1 << 23;

  private static final int OWN = (int) ProcessHandle.current().pid();

  @TempDir private Path root;

  private Procfs procfs() {
    return new Procfs(root);
  }

  private void write(String file, String text) throws IOException {
    Path path = root.resolve("proc").resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }

  @Test
  void fields_areFoundByTheirWholeName() throws IOException {
    write("meminfo", "MemTotalX: 1 kB\nMemTotal:\t 16 kB\nMemTotal: 3 kB\nEmpty:\nOdd: x1\n");
    Procfs.Fields fields = procfs().meminfo();
    assertThat(fields.bytes("MemTotal")).hasValue(16 << 10);
    assertThat(fields.number("MemTotal")).hasValue(16);
    assertThat(fields.number("Mem")).isEmpty();
    assertThat(fields.number("Empty")).isEmpty();
    assertThat(fields.bytes("Odd")).isEmpty();
    assertThat(fields.mask("MemFree")).isEmpty();
  }

  /**
   * The kernel escapes newlines in a thread's name; a thread could name another process as its own.
   */
  @Test
  void fields_inAThreadsName_areNone() throws IOException {
    write("7/status", "Name:\tx\rTgid:\t4242\nUmask:\t0022\nTgid:\t5\nPid:\t7\n");
    assertThat(procfs().processOf(7)).isEqualTo(5);
  }

  @Test
  void files_thatAreNotThere_areEmpty() {
    assertThat(procfs().meminfo().bytes("MemTotal")).isEmpty();
    assertThat(procfs().memoryStalls()).isZero();
    assertThat(procfs().number("sys/vm/max_map_count")).isEmpty();
    assertThat(procfs().commandLine("5")).isEmpty();
    assertThat(procfs().variable(5, "PATH")).isEmpty();
    assertThat(procfs().limit("5", "Max open files")).isEmpty();
    assertThat(procfs().process(5)).isEmpty();
    assertThat(procfs().processors()).isEmpty();
    assertThat(procfs().processOf(5)).isZero();
    assertThat(procfs().state(5)).isEqualTo(Procfs.GONE);
    assertThat(procfs().descriptors()).isEmpty();
    assertThat(procfs().isOwnThread(5)).isFalse();
  }

  /** The time of guests is in that of users, and only the line of all processors counts. */
  @Test
  void processors_areAllTogether() throws IOException {
    write("stat", "cpu  100 20 30 400 50 6 7 8 90 9\ncpu0 1 1 1 1 1 1 1 1 1 1\nintr 5\n");
    assertThat(procfs().processors())
        .hasValue(new Procfs.ProcessorTimes(6_210_000_000L, 4_500_000_000L));
    write("stat", "cpu  100 20 30 400\n");
    assertThat(procfs().processors()).isEmpty();
    write("stat", "cpu0 1 1 1 1 1 1 1 1 1 1\n");
    assertThat(procfs().processors()).isEmpty();
    Procfs.ProcessorTimes here = Procfs.host().processors().orElseThrow();
    assertThat(here.allNanos()).isPositive();
    assertThat(here.idleNanos()).isBetween(0L, here.allNanos());
  }

  @Test
  void memoryStalls_areThoseOfSome() throws IOException {
    write("pressure/memory", "some avg10=12.50 avg60=0.00 avg300=0.00 total=1\nfull avg10=1.00\n");
    assertThat(procfs().memoryStalls()).isEqualTo(12.5);
    write("pressure/memory", "some avg10=odd\n");
    assertThat(procfs().memoryStalls()).isZero();
  }

  @Test
  void process_nameWithBrackets_isTakenWhole() throws IOException {
    String numbers = " S 3 1 4 0 -1 0 0 0 0 0 1 2 7 7 20 0 1 0 99 1000 10\n";
    write("5/stat", "5 (torchrun) (x)" + numbers);
    assertThat(procfs().process(5))
        .hasValue(new Procfs.ProcessStat(5, "torchrun) (x", 3, 4, 99, 'S', 30_000_000));
    assertThat(procfs().state(5)).isEqualTo('S');
    write("5/stat", "5 (cut");
    assertThat(procfs().process(5)).isEmpty();
    assertThat(procfs().state(5)).isEqualTo(Procfs.GONE);
  }

  @Test
  void thread_ofAKernelThatTellsRunDelay_isTakenFromSchedstat() throws IOException {
    write("5/task/6/schedstat", "1234567 89 10\n");
    assertThat(procfs().thread(5, 6)).hasValue(new Procfs.ThreadTimes(1_234_567, 89));
    assertThat(procfs().thread(5, 7)).isEmpty();
  }

  /** Such a kernel writes zeros, or has no such file. */
  @Test
  void thread_ofAKernelThatDoesNot_isTakenFromStat() throws IOException {
    write("5/task/6/schedstat", "0 0 0\n");
    write("5/task/6/stat", "6 (x) S 3 1 4 0 -1 0 0 0 0 0 1 2 7 7 20 0 1 0 99 1000 10\n");
    write("5/task/7/stat", "7 (x) S 3 1 4 0 -1 0 0 0 0 0 0 0 7 7 20 0 1 0 99 1000 10\n");
    assertThat(procfs().thread(5, 6)).hasValue(new Procfs.ThreadTimes(30_000_000, 0));
    assertThat(procfs().thread(5, 7)).hasValue(new Procfs.ThreadTimes(0, 0));
  }

  @Test
  void process_thatItsParentHasNotWaitedFor_hasEnded() throws IOException {
    String numbers = " 3 1 4 0 -1 0 0 0 0 0 1 2 7 7 20 0 1 0 99 1000 10\n";
    write("5/stat", "5 (x) Z" + numbers);
    assertThat(procfs().process(5).orElseThrow().hasEnded()).isTrue();
    write("5/stat", "5 (x) D" + numbers);
    assertThat(procfs().process(5).orElseThrow().hasEnded()).isFalse();
  }

  @Test
  void limit_isToldSoftAndHard() throws IOException {
    write(
        "self/limits",
        """
        Limit                     Soft Limit           Hard Limit           Units
        Max open files            1024                 524288               files
        Max locked memory         unlimited            unlimited            bytes
        """);
    assertThat(procfs().limit(Procfs.SELF, "Max open files"))
        .hasValue(new Procfs.Limit(1024, 524288));
    assertThat(procfs().limit(Procfs.SELF, "Max locked memory"))
        .hasValue(new Procfs.Limit(Long.MAX_VALUE, Long.MAX_VALUE));
    assertThat(procfs().limit(Procfs.SELF, "Max processes")).isEmpty();
  }

  @Test
  void commandLine_wordsMayBeEmptyOrHaveBlanks() throws IOException {
    write("5/cmdline", "java\0-cp\0/a b\0\0mount\0");
    assertThat(procfs().commandLine("5")).containsExactly("java", "-cp", "/a b", "", "mount");
  }

  @Test
  void variable_isFoundByItsWholeName() throws IOException {
    write("5/environ", "XRUN=1\0RUN=a=b\0EMPTY=\0");
    assertThat(procfs().variable(5, "RUN")).hasValue("a=b");
    assertThat(procfs().variable(5, "EMPTY")).hasValue("");
    assertThat(procfs().variable(5, "RU")).isEmpty();
  }

  @Test
  void capabilities_areToldByTheEffectiveSet() throws IOException {
    assertThat(procfs().hasCapability(14, true)).isTrue();
    assertThat(procfs().hasCapability(14, false)).isFalse();
    write("self/status", "CapPrm:\tffffffffffffffff\nCapEff:\t8000000000004000\n");
    assertThat(procfs().hasCapability(14, false)).isTrue();
    assertThat(procfs().hasCapability(63, false)).isTrue();
    assertThat(procfs().hasCapability(21, true)).isFalse();
  }

  /** The kernel answers only the first read of such a number, however short that read is. */
  @Test
  void number_ofThisMachine_isReadInOnePiece() {
    assertThat(Procfs.host().number("sys/vm/max_map_count").orElseThrow()).isGreaterThan(1000);
  }

  @Test
  void processes_ofThisMachine_areToldAsTheyAre() throws IOException {
    for (Procfs procfs : new Procfs[] {Procfs.host(), Procfs.forIsolatedThreads(Path.of("/"))}) {
      Process child = new ProcessBuilder("cat").start();
      try {
        int pid = (int) child.pid();
        assertThat(procfs.processOf(pid)).isEqualTo(pid);
        assertThat(procfs.process(pid).orElseThrow().parent()).isEqualTo(OWN);
        assertThat(procfs.variable(pid, "PATH")).hasValue(System.getenv("PATH"));
        assertThat(procfs.processOf(Libc.LIBC.gettid())).isEqualTo(OWN);
        assertThat(procfs.isOwnThread(Libc.LIBC.gettid())).isTrue();
        assertThat(procfs.isOwnThread(pid)).isFalse();
        assertThat(procfs.descriptors().orElseThrow()).isGreaterThan(3);
        assertThat(new Cgroups(procfs).memberships(Integer.toString(pid)))
            .isEqualTo(new Cgroups(procfs).memberships(Procfs.SELF));
      } finally {
        child.destroy();
      }
      assertThat(procfs.process(NOBODY)).isEmpty();
      assertThat(procfs.processOf(NOBODY)).isZero();
      assertThat(procfs.processOf(0)).isZero();
    }
  }
}
