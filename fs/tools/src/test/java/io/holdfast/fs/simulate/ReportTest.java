package io.holdfast.fs.simulate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.policy.ItemHash;
import io.holdfast.policy.simulator.Dataset;
import io.holdfast.policy.simulator.FetchModel;
import io.holdfast.policy.simulator.Progress;
import io.holdfast.policy.simulator.Run;
import io.holdfast.policy.simulator.Scenario;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The report of an experiment, and its predicted times. */
class ReportTest {
  private static final Dataset DATASET = Dataset.ofEqualSizes(100, 4000);
  private static final FetchModel RATES = new FetchModel(100_000, 10_000_000, 1_000_000, 200_000);

  private static Report report(@Nullable FetchModel rates) {
    Scenario scenario = Scenario.of(DATASET, Orders.parse("shuffle").of(100, 3, 1), 3, 1);
    List<Run> runs =
        new Experiment(scenario, List.of("minio"), List.of(DATASET.capacity(0.35)))
            .runs(Progress.NONE);
    return new Report(scenario, runs, rates == null ? null : new Prediction(rates, scenario));
  }

  @Test
  void text_hasATableForEachRun() {
    assertThat(report(null).text())
        .isEqualTo(
            """
            100 items, 391 KiB (400 KiB in whole pages); shuffle, 3 epochs, 1 job, 1 node

            minio, capacity 140 KiB (35% of the dataset)
            epoch  hit ratio  byte hit ratio   memory  peers   origin
                1      0.000           0.000      0 B    0 B  391 KiB
                2      0.350           0.350  137 KiB    0 B  254 KiB
                3      0.350           0.350  137 KiB    0 B  254 KiB
            Later epochs: hit ratio 0.350, 254 KiB from the origin in each
            """);
  }

  @Test
  void text_withRates_predictsTimes() {
    assertThat(report(RATES).text())
        .contains(
            "epoch  hit ratio  byte hit ratio   memory  peers   origin   time       speed\n",
            "    1      0.000           0.000      0 B    0 B  391 KiB  4.0 s  97.7 KiB/s\n",
            "    2      0.350           0.350  137 KiB    0 B  254 KiB  2.6 s   149 KiB/s\n")
        .endsWith(
            "With minio, capacity beyond 202 KiB (50.5% of the dataset) brings nothing: the demand"
                + " is met.\n");
  }

  @Test
  void text_whereMemoryBringsNothing_saysSo() {
    assertThat(report(new FetchModel(300_000, 10_000_000, 1, 200_000)).text())
        .endsWith("The origin alone meets the demand: more memory brings nothing.\n");
    assertThat(report(new FetchModel(100_000, 150_000, 1, 200_000)).text())
        .contains("Memory itself is slower than the demand");
  }

  @Test
  void text_ofSeveralRuns_endsWithATableOfAll() {
    Scenario scenario = Scenario.of(DATASET, Orders.parse("shuffle").of(100, 3, 1), 3, 1);
    List<Run> runs =
        new Experiment(
                scenario,
                List.of("minio", "none"),
                List.of(DATASET.capacity(0.35), DATASET.capacity(0.5)))
            .runs(Progress.NONE);
    assertThat(new Report(scenario, runs, null).text())
        .endsWith(
            """

            Hit ratio of later epochs, by capacity
            policy  140 KiB  200 KiB
             minio    0.350    0.500
              none    0.000    0.000
            """);
  }

  /** The picture had shares of 5 % only, whatever --capacity said. */
  @Test
  void sweep_hasTheCapacitiesThatAreAskedFor() {
    Scenario scenario = Scenario.of(DATASET, Orders.parse("shuffle").of(100, 3, 1), 3, 1);
    Experiment experiment =
        new Experiment(
            scenario,
            List.of("minio"),
            List.of(DATASET.capacity(0.37), DATASET.capacity(0.5), 2 * DATASET.weight()));
    List<Experiment.Point> points = experiment.sweep(Progress.NONE).get(0).points();
    assertThat(points).hasSize(21).hasSize(experiment.sweepCount());
    assertThat(points.get(7).share()).isEqualTo(0.37);
    assertThat(points.get(7).hitRatio()).isEqualTo(0.37);
    assertThat(points.get(20).share()).isEqualTo(1);
  }

  @Test
  void csv_hasALineForEachEpoch() {
    assertThat(report(null).csv())
        .isEqualTo(
            """
            policy,capacity,capacity_share,nodes,jobs,order,epoch,hit_ratio,byte_hit_ratio,\
            memory_bytes,peer_bytes,origin_bytes
            minio,143360,0.35,1,1,shuffle,1,0.0,0.0,0,0,400000
            minio,143360,0.35,1,1,shuffle,2,0.35,0.35,140000,0,260000
            minio,143360,0.35,1,1,shuffle,3,0.35,0.35,140000,0,260000
            """);
    assertThat(report(RATES).csv())
        .contains("origin_bytes,seconds,speed\n", ",400000,4.0,100000\n");
  }

  @Test
  void json_hasTheKeysThatAreDocumented() throws IOException {
    Map<String, Object> json = JSON.std.mapFrom(report(null).json());
    assertThat(json).containsOnlyKeys("runs");
    assertThat(JSON.std.asString(((List<?>) json.get("runs")).get(0)))
        .startsWith(
            "{\"policy\":\"minio\",\"capacity\":143360,\"capacity_share\":0.35,\"nodes\":1,"
                + "\"jobs\":1,\"order\":\"shuffle\",\"epochs\":[{\"epoch\":1,\"hit_ratio\":0.0,"
                + "\"byte_hit_ratio\":0.0,\"bytes\":{\"memory\":0,\"peer\":0,\"origin\":400000}},"
                + "{\"epoch\":2,\"hit_ratio\":0.35,\"byte_hit_ratio\":0.35,"
                + "\"bytes\":{\"memory\":140000,\"peer\":0,\"origin\":260000}}");
    assertThat(JSON.std.mapFrom(report(RATES).json())).containsKey("sufficient_capacity");
    assertThat(report(RATES).json()).contains("\"seconds\" : 4.0", "\"speed\" : 100000");
  }

  @Test
  void prediction_ofSeveralJobsAndNodes_sharesTheRates() {
    Scenario scenario =
        Scenario.of(DATASET, Orders.parse("shuffle").of(100, 1, 1), 1, 1)
            .by(4, false)
            .on(new Scenario.Cluster(2, Scenario.Coordination.SHARDS, hash -> 0));
    Prediction prediction = new Prediction(RATES, scenario);
    Run.Epoch epoch = new Run.Epoch(1, 400, 0, 0, 0, 1_600_000, 0);
    assertThat(prediction.seconds(epoch)).isCloseTo(8, within(1e-9));
    assertThat(prediction.speed(epoch)).isEqualTo(25_000);
  }

  @Test
  void sweep_ofASmallDataset_beginsWithNothing() {
    Dataset dataset = Dataset.ofEqualSizes(3, 4096);
    Scenario scenario = Scenario.of(dataset, Orders.parse("shuffle").of(3, 2, 1), 2, 1);
    List<Experiment.Curve> curves =
        new Experiment(scenario, List.of("minio"), List.of()).sweep(Progress.NONE);
    assertThat(curves).hasSize(1);
    assertThat(curves.get(0).points()).hasSize(20);
    assertThat(curves.get(0).points().get(0)).isEqualTo(new Experiment.Point(0.05, 0));
    assertThat(curves.get(0).points().get(19)).isEqualTo(new Experiment.Point(1, 1));
  }

  @Test
  void placement_amongEqualNodes_isEven() {
    Scenario.Placement placement = PeerPlacement.ofEqualNodes(4);
    int[] owned = new int[4];
    for (long item = 0; item < 40_000; item++) {
      owned[placement.owner(ItemHash.of(item))]++;
    }
    for (int each : owned) {
      assertThat(each).isBetween(9_700, 10_300);
    }
  }
}
