package io.holdfast.fs.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The options of bench for emulated accelerators, as the user wrote them; one that was not given is
 * null. What they mean is {@link AcceleratorRequest}'s.
 */
final class AcceleratorOptions {
  @Option(
      names = "--accelerators",
      paramLabel = "N|FROM..TO",
      description = {
        "Emulate N accelerators that take batches from data loaders, and measure how much of their"
            + " time they compute; or search the largest number in a range that reaches the"
            + " workload's AU."
      })
  @Nullable String accelerators;

  @Option(
      names = "--workload",
      paramLabel = "NAME",
      description =
          "unet3d, resnet50, cosmoflow or retinanet, with the values of MLPerf Storage, which the"
              + " next options change one by one.")
  @Nullable String workload;

  @Option(
      names = "--accelerator-type",
      paramLabel = "TYPE",
      description =
          "a100, h100 or b200: whose time for a batch. Default: the newest that the workload has a"
              + " value for.")
  @Nullable String type;

  @Option(
      names = "--record-size",
      paramLabel = "SIZE",
      description =
          "Read records of this size, in order within a file. Default: as the workload says, or"
              + " each file is one sample.")
  @Nullable String recordSize;

  @Option(names = "--batch", paramLabel = "N", description = "Samples of a batch.")
  @Nullable String batch;

  @Option(
      names = "--compute-time",
      paramLabel = "TIME",
      description = "The time for a batch, such as 47.55ms.")
  @Nullable String computeTime;

  @Option(
      names = "--workers",
      paramLabel = "N",
      description =
          "Readers of each accelerator, of which each has two batches ready or in work. Default"
              + " without a workload: 4.")
  @Nullable String workers;

  @Option(
      names = "--targets",
      paramLabel = "WHERE[,...]",
      description = {
        "'mount'; 'source', which is read without the page cache; 'source-cached', with what the"
            + " page cache has of it and may keep. Default: mount,source."
      })
  @Nullable String targets;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Of the order of the files. Default: a random one, which is printed.")
  @Nullable String seed;
}
