package io.holdfast.fs.watch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.holdfast.fs.units.Level;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ChangeTest {
  @Test
  void firstLook_isAboutAllSinceTheMount() {
    Change change = new Change(null, new Looks().opens(500, 100).fetched(0, 0, 100, 7000).look());
    assertThat(change.isSinceMount()).isTrue();
    assertThat(change.seconds()).isEqualTo(100);
    assertThat(change.rate(change.opens())).isEqualTo(5);
    assertThat(change.hitRatio()).isEqualTo(0.8);
    assertThat(change.rate(change.originBytes())).isEqualTo(70);
  }

  @Test
  void secondLook_isAboutTheTimeBetween() {
    Snapshot before = new Looks().opens(500, 110).fetched(10, 100, 100, 7000).stalled(3).look();
    Snapshot after =
        new Looks().at(2).opens(700, 210).fetched(20, 300, 190, 9000).stalled(4).look();
    Change change = new Change(before, after);
    assertThat(change.isSinceMount()).isFalse();
    assertThat(change.seconds()).isEqualTo(2);
    assertThat(change.opens()).isEqualTo(200);
    assertThat(change.peerItems()).isEqualTo(10);
    assertThat(change.peerBytes()).isEqualTo(200);
    assertThat(change.originItems()).isEqualTo(90);
    assertThat(change.originBytes()).isEqualTo(2000);
    assertThat(change.hitRatio()).isEqualTo(0.5);
    assertThat(change.stalledReaders()).isEqualTo(0.5);
  }

  @Test
  void anotherDaemon_countsAnew() {
    Snapshot before = new Looks().at(50).opens(5000, 0).look();
    Snapshot after =
        new Looks().at(51).with("mounted_at", "2026-11-21T11:00:00Z").opens(30, 0).look();
    assertThat(new Change(before, after).isSinceMount()).isTrue();
    assertThat(new Change(before, after).opens()).isEqualTo(30);
  }

  /** Files of 19 items: more than one item of each was fetched, and the ratio was unknown. */
  @Test
  void hitRatio_ofFilesOfManyItems_countsItems() {
    Snapshot before = new Looks().opens(10, 190, 190).look();
    Snapshot after = new Looks().at(1).opens(20, 380, 228).look();
    Change change = new Change(before, after);
    assertThat(change.hitRatio()).isEqualTo(0.8);
    assertThat(Tier.of(change).get(0).items()).isEqualTo(152);
    assertThat(Tier.of(change).get(0).bytes()).isEqualTo(0.8 * 10 * 100_000);
    assertThat(new ReadCounts(10, 190, 38, 0, 0).hitRatio()).isEqualTo(0.8);
  }

  /** Tasks, orders and peers have items fetched that no reader waits for. */
  @Test
  void hitRatio_ofWhatWasFetchedForNoReader_isNotLess() {
    Looks look = new Looks().opens(100, 0).fetched(40, 400, 60, 600);
    assertThat(new Change(null, look.look()).hitRatio()).isEqualTo(1);
  }

  @Test
  void hitRatio_thatCannotBeTold_isNoNumber() {
    assertThat(new Change(null, new Looks().look()).hitRatio()).isNaN();
    assertThat(new Change(null, new Looks().opens(3, 9).look()).hitRatio()).isNaN();
    Looks uncounted = new Looks().with("opens", Map.of("counted", false, "total", 0, "misses", 9));
    assertThat(new Change(null, uncounted.look()).hitRatio()).isNaN();
  }

  @Test
  void stallShare_isThatOfTheAverageActiveProcess() {
    Snapshot before =
        new Looks()
            .process(1, "/a", 10, 1, 1)
            .process(2, "/a", 10, 1, 1)
            .process(3, "/b", 5, 5, 9)
            .look();
    Snapshot after =
        new Looks()
            .at(4)
            .stalled(4)
            .process(1, "/a", 20, 2, 3)
            .process(2, "/a", 10, 1, 3)
            .process(3, "/b", 5, 5, 9)
            .look();
    Change change = new Change(before, after);
    assertThat(change.stallShare()).isCloseTo(0.5, within(1e-9));
    assertThat(change.stalledReaders()).isEqualTo(1);
    assertThat(change.processes()).extracting(Usage::active).containsExactly(1L, 1L, 0L);
    assertThat(change.level()).isEqualTo(Level.POOR);
  }

  @Test
  void stallShare_manyReadersInAProcess_isAtMostAll() {
    Snapshot after = new Looks().at(1).stalled(16).process(1, "/a", 1, 1, 16).look();
    assertThat(new Change(new Looks().look(), after).stallShare()).isEqualTo(1);
  }

  @Test
  void jobs_haveWhatWasAddedAndAll() {
    Snapshot before = new Looks().job("/a", 100, 10, 4000, 1.5).look();
    Snapshot after =
        new Looks().at(2).job("/new", 7, 7, 70, 0.5).job("/a", 150, 30, 9000, 2.5).look();
    List<Usage> jobs = new Change(before, after).jobs();
    assertThat(jobs).extracting(Usage::name).containsExactly("/new", "/a");
    assertThat(jobs.get(0).recent()).isEqualTo(new ReadCounts(7, 7, 7, 70, 0.5));
    assertThat(jobs.get(1).recent()).isEqualTo(new ReadCounts(50, 50, 20, 5000, 1));
    assertThat(jobs.get(1).total()).isEqualTo(new ReadCounts(150, 150, 30, 9000, 2.5));
    assertThat(jobs.get(1).epoch()).isEqualTo(3);
  }

  /** A process that had read for hours gave its row to a new one, and all of it seemed recent. */
  @Test
  void processes_rowOfAllOthers_hasNothingRecent() {
    Snapshot before =
        new Looks().process(7, "/a", 9000, 50, 3).process(-1, "(others)", 5, 0, 0).look();
    Snapshot after =
        new Looks().at(1).process(8, "/b", 4, 2, 0.1).process(-1, "(others)", 9005, 50, 3).look();
    List<Usage> processes = new Change(before, after).processes();
    assertThat(processes).extracting(each -> each.recent().opens()).containsExactly(4L, 0L);
    assertThat(processes).extracting(Usage::active).containsExactly(1L, 0L);
    assertThat(processes.get(1).total().opens()).isEqualTo(9005);
    assertThat(new Change(null, after).processes().get(1).recent().opens()).isEqualTo(9005);
  }

  /** A pid is given again: the counts of the new process are smaller than those of the old one. */
  @Test
  void processes_pidThatIsGivenAgain_countsAnew() {
    Snapshot before = new Looks().process(7, "/a", 100, 50, 3).look();
    Snapshot after = new Looks().at(1).process(7, "/a", 4, 2, 0.1).look();
    assertThat(new Change(before, after).processes().get(0).recent())
        .isEqualTo(new ReadCounts(4, 4, 2, 2000, 0.1));
  }

  @Test
  void absentSections_areEmpty() {
    Change change = new Change(null, Snapshot.of(Map.of(), List.of(), 0));
    assertThat(change.jobs()).isEmpty();
    assertThat(change.processes()).isEmpty();
    assertThat(change.peers()).isEmpty();
    assertThat(change.stallShare()).isZero();
    assertThat(change.level()).isEqualTo(Level.GOOD);
  }

  @Test
  void peers_haveWhatWasAdded() {
    Snapshot before = new Looks().peer("n1:7070", "up", 1000).look();
    Snapshot after = new Looks().at(2).peer("n1:7070", "up", 5000).peer("n2:7070", "up", 8).look();
    assertThat(new Change(before, after).peers())
        .extracting(Change.PeerUse::bytesIn)
        .containsExactly(4000L, 8L);
  }

  @Test
  void report_hasWhatTheScreenShows() {
    Snapshot before = new Looks().peer("n1:7070", "up", 0).look();
    Snapshot after =
        new Looks()
            .at(2)
            .opens(100, 20)
            .fetched(5, 500, 15, 3000)
            .job("/a", 100, 20, 3500, 1)
            .process(9, "/a", 100, 20, 1)
            .peer("n1:7070", "up", 500)
            .look();
    Map<String, ?> report = ChangeReport.all(new Change(before, after));
    assertThat(report.get("rates").toString())
        .contains("hit_ratio=0.8", "opens=50.0", "origin_bytes=1500.0", "since_mount=false");
    assertThat(report.get("jobs").toString()).contains("job=/a", "opens=50.0", "opens=100,");
    assertThat(report.get("processes").toString()).contains("pid=9", "command=python");
    assertThat(report.get("peers").toString()).contains("node=n1:7070", "bytes_in=250.0");
    assertThat(report.get("tiers").toString())
        .contains("tier=memory, items=40.0, bytes=4000000.0, bytes_are_a_guess=true, share=0.8");
  }
}
