package io.holdfast.fs.tasks;

import static io.holdfast.fs.tasks.TasksFixture.PAGE;
import static io.holdfast.fs.tasks.TasksFixture.files;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsException;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class TasksTest {
  private TasksFixture node;

  private TasksFixture with(int pages) throws IOException {
    node = new TasksFixture((long) pages * PAGE);
    return node;
  }

  @AfterEach
  void close() throws IOException {
    node.policy.check();
    node.close();
  }

  // warm

  @Test
  void warm_twice_fetchesEachItemOnce() throws IOException {
    with(100).files("train", 20);
    Map<String, Object> first = node.run("warm", "train");
    Map<String, Object> second = node.run("warm", "train");
    assertThat(first).containsEntry("state", "done").containsEntry("files", 20L);
    assertThat(files(first, "fetched")).isEqualTo(20);
    assertThat(files(second, "fetched")).isZero();
    assertThat(files(second, "resident")).isEqualTo(20);
    assertThat(node.originItems()).isEqualTo(20);
    assertThat(node.policy.residentItems()).isEqualTo(20);
  }

  @Test
  void warm_moreThanFits_fetchesJustWhatFits() throws IOException {
    with(30).files("train", 50);
    Map<String, Object> figures = node.run("warm");
    assertThat(files(figures, "fetched")).isEqualTo(30);
    assertThat(files(figures, "unfit")).isEqualTo(20);
    assertThat(node.originItems()).isEqualTo(30);
    assertThat(node.residency.figures().evictedItems()).isZero();
    assertThat(node.residency.figures().refusedItems()).isZero();
  }

  /** It waited for ever for a scan that counts a directory that always fails. */
  @Test
  void warm_folderThatTheOriginDoesNotList_fetchesTheRest_andTellsOfIt() throws IOException {
    with(100).files("train", 3);
    node.whole = false;
    Map<String, Object> figures = node.run("warm", "train");
    assertThat(figures).containsEntry("state", "done");
    assertThat(files(figures, "fetched")).isEqualTo(3);
    assertThat(figures.get("failed")).asString().contains("items=1");
    assertThat(figures)
        .containsEntry(
            "failures",
            List.of(
                "train: no scan has listed it whole (see the log), so some of its files may be unknown"));
    assertThat(node.run("check", "train").get("failed")).asString().contains("items=1");
  }

  @Test
  void warm_noFilesAreKnownWithoutAListing_fails() throws IOException {
    with(100);
    node.whole = false;
    assertThat(node.run("warm"))
        .containsEntry("state", "failed")
        .containsEntry(
            "error",
            "the root of the dataset: no scan has listed it whole (see the log), and no files are known");
  }

  /** They were in the table for ever, and eight of them left no place for any other. */
  @Test
  void tasks_thatFindNoThread_takeNoPlace() throws IOException {
    with(30).files("train", 3);
    node.threads.set(0);
    for (int i = 0; i <= Tasks.MOST; i++) {
      assertThatThrownBy(() -> node.run("warm")).isInstanceOf(OutOfMemoryError.class);
    }
    assertThat(node.tasks.running()).isEmpty();
    node.threads.set(Integer.MAX_VALUE);
    assertThat(node.run("warm")).containsEntry("state", "done");
  }

  /** The threads that had started went on, and nobody could stop them. */
  @Test
  void warm_thatFindsTooFewThreads_fails() throws IOException {
    with(300).files("train", 200);
    node.threads.set(3);
    Map<String, Object> figures = node.run("warm", List.of("train"), Map.of("threads", 8));
    assertThat(figures).containsEntry("state", "failed");
    assertThat(figures.get("error")).asString().contains("thread");
  }

  /** It was done, with the exit code 0. */
  @Test
  void warm_whoseThreadsFail_hasFailed() throws IOException {
    with(30).files("broken", 3);
    assertThat(node.run("warm", "broken"))
        .containsEntry("state", "failed")
        .containsEntry(
            "error", "internal error: java.lang.IllegalStateException: for the test: see the log");
  }

  /** An item that got in is counted by the policy and for a moment as pending, too. */
  @Test
  void warm_justAllFits_leavesNothingOut() throws IOException {
    with(40).files("train", 40);
    assertThat(files(node.run("warm"), "fetched")).isEqualTo(40);
  }

  @Test
  void warm_largeFile_countsAsOneFileOfItsItems() throws IOException {
    with(1000).file("large", 5 * TasksFixture.ITEM_SIZE / 2);
    Map<String, Object> figures = node.run("warm", "large");
    assertThat(files(figures, "fetched")).isEqualTo(1);
    assertThat(node.originItems()).isEqualTo(3);
    assertThat(figures.get("bytes")).isEqualTo(5L * TasksFixture.ITEM_SIZE / 2);
  }

  @Test
  void warm_itemsOfOtherNodes_areLeftToThem() throws IOException {
    with(100).files("others", 5);
    node.files("own", 5);
    Map<String, Object> figures = node.run("warm");
    assertThat(files(figures, "other")).isEqualTo(5);
    assertThat(node.originItems()).isEqualTo(5);
  }

  @Test
  void warm_globsAndPaths_takeEachFileOnce() throws IOException {
    with(100).files("a", 5);
    node.files("b", 5);
    Map<String, Object> figures =
        node.run("warm", List.of("a", "a/f1"), Map.of("globs", List.of("f1", "b/f[23]")));
    assertThat(figures).containsEntry("files", 8L);
    assertThat(node.originItems()).isEqualTo(8);
  }

  @Test
  void warm_namesInParts_beginsWithTheLast() throws IOException {
    with(100).files("a", 5);
    Map<String, Object> begun =
        node.tasks.request(Map.of("begin", "warm", "paths", List.of("a/f0"), "last", false));
    node.tasks.request(Map.of("id", begun.get("id"), "paths", List.of("a/f1"), "last", false));
    node.tasks.request(Map.of("id", begun.get("id"), "paths", List.of("a/f2"), "last", true));
    assertThat(node.end(begun)).containsEntry("files", 3L);
    assertThat(node.originItems()).isEqualTo(3);
  }

  @Test
  void warm_unknownNames_failsAndFetchesNothing() throws IOException {
    with(100).files("a", 5);
    assertThat(node.run("warm", "nix"))
        .containsEntry("state", "failed")
        .containsEntry("error", "there is no 'nix' in the dataset");
    assertThat(node.run("warm", "a", "a/f9", "b/c"))
        .containsEntry("error", "2 of 3 names are not in the dataset, such as 'a/f9'");
    assertThat(node.run("warm", List.of(), Map.of("globs", List.of("*.tar"))))
        .containsEntry("error", "there are no such files in the dataset");
    assertThat(node.originItems()).isZero();
  }

  @Test
  void warm_nobodyAsksAfterIt_ends() throws IOException {
    with(100).files("a", 5);
    Map<String, Object> begun = node.tasks.request(Map.of("begin", "warm", "last", false));
    node.clock.advance(Task.PATIENCE.minusSeconds(1));
    node.tasks.tick();
    node.tasks.request(Map.of("id", begun.get("id")));
    node.clock.advance(Task.PATIENCE.minusSeconds(1));
    node.tasks.tick();
    assertThat(node.tasks.running()).hasSize(1);
    node.clock.advance(Task.PATIENCE);
    node.tasks.tick();
    Await.until("it has ended", () -> node.tasks.running().isEmpty());
    assertThat(node.originItems()).isZero();
  }

  @Test
  void warm_inTheBackground_goesOnAlone() throws IOException {
    with(100).files("a", 5);
    node.listed = false;
    Map<String, Object> begun = node.tasks.request(Map.of("begin", "warm", "background", true));
    node.clock.advance(Task.PATIENCE.multipliedBy(2));
    node.tasks.tick();
    node.listed = true;
    assertThat(node.end(begun)).containsEntry("state", "done");
    assertThat(node.originItems()).isEqualTo(5);
  }

  @Test
  void tasks_told_stop() throws IOException {
    with(100).files("a", 5);
    node.listed = false;
    Map<String, Object> one = node.tasks.request(Map.of("begin", "warm"));
    Map<String, Object> other = node.tasks.request(Map.of("begin", "warm"));
    node.tasks.request(Map.of("id", one.get("id"), "stop", true));
    assertThat(node.end(one)).containsEntry("state", "stopped");
    assertThat(node.tasks.request(Map.of("stop", true))).containsEntry("stopped", 1);
    assertThat(node.end(other)).containsEntry("state", "stopped");
    assertThat(node.originItems()).isZero();
  }

  @Test
  void tasks_tooMany_areRefused() throws IOException {
    with(100).files("a", 5);
    for (int i = 0; i < Tasks.MOST; i++) {
      node.tasks.request(Map.of("begin", "warm", "last", false));
    }
    assertThatThrownBy(() -> node.tasks.request(Map.of("begin", "warm")))
        .isInstanceOf(FsException.class)
        .hasMessage("8 tasks are under way: wait for one, or stop one");
  }

  @ParameterizedTest
  @CsvSource({"begin,warn", "id,7", "order,upwards", "threads,0", "paths,/etc", "paths,a/../../b"})
  void request_withoutSense_isRefused(String key, String value) throws IOException {
    with(100);
    Object given = key.equals("paths") ? List.of(value) : value;
    Object typed = key.equals("id") || key.equals("threads") ? Integer.valueOf(value) : given;
    Map<String, Object> request =
        key.equals("id") || key.equals("begin")
            ? Map.of(key, typed)
            : Map.of("begin", "warm", key, typed);
    assertThatThrownBy(() -> node.tasks.request(request)).isInstanceOf(FsException.class);
    assertThat(node.tasks.running()).isEmpty();
  }

  // check

  @Test
  void check_someResident_namesTheOthersAndFetchesNothing() throws IOException {
    with(100).files("a", 3);
    node.files("b", 600);
    node.run("capacity", List.of(), Map.of("size", "45%"));
    node.run("warm", "a");
    Map<String, Object> figures = node.run("check");
    assertThat(files(figures, "resident")).isEqualTo(3);
    assertThat(files(figures, "missing")).isEqualTo(600);
    TreeSet<String> missing = new TreeSet<>();
    for (int pages = 0; pages < 2; pages++) {
      Object page =
          node.tasks
              .request(Map.of("id", figures.get("id"), "missing_from", missing.size()))
              .get("missing_paths");
      ((List<?>) page).forEach(each -> missing.add(String.valueOf(each)));
    }
    assertThat(missing).hasSize(600).allMatch(path -> path.startsWith("b/"));
    assertThat(node.originItems()).isEqualTo(3);
  }

  @Test
  void check_full_countsNothingAsMissing() throws IOException {
    with(30).files("a", 50);
    node.run("warm");
    Map<String, Object> figures = node.run("check");
    assertThat(files(figures, "missing")).isZero();
    assertThat(files(figures, "unfit")).isEqualTo(20);
  }

  // pin, unpin, drop

  @Test
  void pin_fullOfOthers_makesThemGiveWayAndStays() throws IOException {
    with(30).files("train", 50);
    node.files("val", 10);
    node.run("warm", "train");
    Map<String, Object> figures = node.run("pin", "val");
    assertThat(files(figures, "fetched")).isEqualTo(10);
    assertThat(node.policy.keptItems()).isEqualTo(10);
    assertThat(node.policy.residentItems()).isEqualTo(30);
    assertThat(node.tasks.request(Map.of("pins", true))).containsEntry("paths", List.of("val"));
    node.run("capacity", List.of(), Map.of("size", "12%"));
    assertThat(node.policy.residentItems()).isEqualTo(12);
    assertThat(node.policy.keptItems()).isEqualTo(10);
    assertThat(node.capacities).containsExactly(12L * PAGE);
  }

  @Test
  void pin_residents_fetchesNothing() throws IOException {
    with(30).files("val", 10);
    node.run("warm", "val");
    assertThat(files(node.run("pin", "val"), "fetched")).isZero();
    assertThat(node.policy.keptItems()).isEqualTo(10);
    assertThat(node.originItems()).isEqualTo(10);
  }

  @Test
  void pin_moreThanFits_saysHowMuchDoesNot() throws IOException {
    with(30).files("val", 40);
    Map<String, Object> figures = node.run("pin", "val");
    assertThat(files(figures, "fetched")).isEqualTo(30);
    assertThat(files(figures, "unfit")).isEqualTo(10);
  }

  /** The first one's names were recorded last: the next daemon did not keep the second's files. */
  @Test
  void pins_atOnce_areAllRecorded() throws IOException {
    with(30).files("val", 1);
    node.files("test", 1);
    AtomicReference<Map<String, Object>> other = new AtomicReference<>();
    node.onRecord =
        () -> {
          node.onRecord = () -> {};
          try {
            other.set(node.tasks.request(Map.of("begin", "pin", "paths", List.of("test"))));
          } catch (FsException e) {
            throw new AssertionError(e);
          }
          Await.until(
              "the other one has been recorded, or waits",
              () -> !node.recorded.isEmpty() || node.lastThread.getState() == Thread.State.BLOCKED);
        };
    node.run("pin", "val");
    node.end(other.get());
    assertThat(node.residency.pins().names().paths()).containsExactly("test", "val");
    assertThat(node.recorded.paths()).containsExactly("test", "val");
  }

  /** Without any name, all pins were gone. */
  @ParameterizedTest
  @CsvSource({"''", "val"})
  void unpin_stoppedWhileNamesArrive_leavesThePins(String arrived) throws IOException {
    with(30).files("val", 1);
    node.files("test", 1);
    node.run("pin", "val", "test");
    List<String> names = arrived.isEmpty() ? List.of() : List.of(arrived);
    Map<String, Object> begun =
        node.tasks.request(Map.of("begin", "unpin", "paths", names, "last", false));
    node.tasks.request(Map.of("id", begun.get("id"), "stop", true));
    assertThat(node.end(begun)).containsEntry("state", "stopped");
    assertThat(node.residency.pins().names().paths()).containsExactly("test", "val");
    assertThat(node.recorded.paths()).containsExactly("test", "val");
  }

  @Test
  void unpin_pinned_leavesThemToThePolicy() throws IOException {
    with(30).files("val", 10);
    node.run("pin", "val");
    Map<String, Object> figures = node.run("unpin", "val");
    assertThat(files(figures, "changed")).isEqualTo(10);
    assertThat(node.policy.keptItems()).isZero();
    assertThat(node.policy.residentItems()).isEqualTo(10);
    assertThat(node.run("unpin", "val"))
        .containsEntry("error", "'val' is not pinned, nor is anything below it");
  }

  @Test
  void drop_somePinned_makesRoomAndLeavesThoseUnlessForced() throws IOException {
    with(30).files("train", 20);
    node.files("val", 10);
    node.run("pin", "val");
    node.run("warm");
    Map<String, Object> figures = node.run("drop");
    assertThat(files(figures, "changed")).isEqualTo(20);
    assertThat(files(figures, "kept")).isEqualTo(10);
    assertThat(node.policy.residentItems()).isEqualTo(10);
    assertThat(files(node.run("warm", "train"), "fetched")).isEqualTo(20);
    Map<String, Object> forced = node.run("drop", List.of("val/f1"), Map.of("force", true));
    assertThat(files(forced, "changed")).isEqualTo(1);
    assertThat(node.policy.residentItems()).isEqualTo(29);
    assertThat(node.run("drop", "nix")).containsEntry("state", "failed");
  }

  // capacity

  /** The memory's guard, which knew the old capacity, took the new one back. */
  @Test
  void capacity_isToldBeforeItHolds() throws IOException {
    with(30);
    node.run("capacity", List.of(), Map.of("size", "12%"));
    assertThat(node.capacities).containsExactly(12L * PAGE);
    assertThat(node.capacitiesBefore).containsExactly(30L * PAGE);
  }

  @Test
  void capacity_upToASize_isWhatFits() throws IOException {
    with(30).files("a", 100);
    node.run("capacity", List.of(), Map.of("size", "1G", "up_to", true));
    assertThat(node.policy.capacity()).isEqualTo(50L * PAGE);
    node.run("capacity", List.of(), Map.of("size", "12%", "up_to", true));
    assertThat(node.policy.capacity()).isEqualTo(12L * PAGE);
  }

  /** It was the user's until the guard looked again, though other programs needed the memory. */
  @Test
  void capacity_loweredWhileOthersNeedTheMemory_isNoMoreThanTheGuardAllows() throws IOException {
    with(30);
    node.allowed = 10L * PAGE;
    node.run("capacity", List.of(), Map.of("size", "20%"));
    assertThat(node.policy.capacity()).isEqualTo(10L * PAGE);
    assertThat(node.capacities).containsExactly(20L * PAGE);
  }

  /** Files may be pinned between the look of who divides memory and the change. */
  @Test
  void capacity_byADivisionOfMemory_takesNothingFromPinnedFiles() throws IOException {
    with(30).files("a", 10);
    node.run("pin", "a");
    assertThat(
            node.run("capacity", List.of(), Map.of("size", "9%", "within_budget", true))
                .get("error"))
        .asString()
        .startsWith("pinned files take 40.0 KiB of it: ");
    assertThat(node.policy.residentItems()).isEqualTo(10);
    assertThat(node.capacities).isEmpty();
    node.run("capacity", List.of(), Map.of("size", "10%", "within_budget", true));
    assertThat(node.policy.residentItems()).isEqualTo(10);
    node.run("capacity", List.of(), Map.of("size", "9%"));
    assertThat(node.policy.residentItems()).isEqualTo(9);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0 | a capacity of '0' must be greater than 0",
        "1G | a capacity of 1.00 GiB does not fit within --memory: give at most 0",
        "96X | '96X' is not a size: write a number with K, M, G or T, such as 64G",
        "101% | '101%' is more than the whole: write a number from 0 to 100, such as 50%"
      })
  void capacity_impossible_isRefusedAndNothingChanges(String size, String why) throws IOException {
    with(30).files("a", 30);
    node.run("warm");
    assertThat(node.run("capacity", List.of(), Map.of("size", size))).containsEntry("error", why);
    assertThat(node.policy.capacity()).isEqualTo(30L * PAGE);
    assertThat(node.policy.residentItems()).isEqualTo(30);
    assertThat(node.capacities).isEmpty();
  }
}
