package io.holdfast.fs.cli;

import io.holdfast.fs.accelerator.AcceleratorType;
import io.holdfast.fs.accelerator.Target;
import io.holdfast.fs.accelerator.Training;
import io.holdfast.fs.accelerator.TrainingWorkload;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.units.Sizes;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The training that the options of bench ask for; an option that makes no sense is a {@link
 * CliException}. Immutable.
 *
 * @param fewest the smallest number of accelerators
 * @param most the largest one
 * @param seed the seed that the user gave, if any
 */
record AcceleratorRequest(
    Training training, int fewest, int most, List<Target> targets, @Nullable Long seed) {
  private static final int MOST_ACCELERATORS = 1024;
  private static final int MOST_WORKERS = 256;

  /** Each reader is a thread. */
  private static final int MOST_READERS = 2048;

  private static final int MOST_BATCH = 1_000_000;
  private static final int DEFAULT_WORKERS = 4;

  /** What MLPerf Storage wants of most of its workloads. */
  private static final double DEFAULT_UTILIZATION = 0.9;

  private static final String CUSTOM = "custom";
  private static final Pattern RANGE = Pattern.compile("([0-9]{1,9})(?:\\.\\.([0-9]{1,9}))?");
  private static final Pattern TIME = Pattern.compile("([0-9]{1,9}(?:\\.[0-9]{1,9})?)(us|ms|s|)");
  private static final BigDecimal LONGEST_NANOS = BigDecimal.valueOf(3_600_000_000_000L);

  /** Tells what the options mean; {@code --accelerators} is given. */
  static AcceleratorRequest of(String accelerators, Options given) {
    Matcher range = RANGE.matcher(accelerators);
    if (!range.matches()) {
      throw CliException.usage(
          "--accelerators '" + accelerators + "' is no number: give one, such as 4, or 1..16");
    }
    int fewest = number("--accelerators", range.group(1), MOST_ACCELERATORS);
    int most =
        range.group(2) == null
            ? fewest
            : number("--accelerators", range.group(2), MOST_ACCELERATORS);
    if (most < fewest) {
      throw CliException.usage(
          "--accelerators '" + accelerators + "' goes down: write the smaller number first");
    }
    Training training = training(given);
    if (most * training.workers() > MOST_READERS) {
      throw CliException.usage(
          "%d accelerators with %d readers each are too many readers: at most %d"
              .formatted(most, training.workers(), MOST_READERS));
    }
    return new AcceleratorRequest(training, fewest, most, targets(given), seed(given));
  }

  /** Refuses options that mean nothing without {@code --accelerators}. */
  static void refuseWithoutAccelerators(Options given) {
    refuse("--workload", given.workload);
    refuse("--accelerator-type", given.type);
    refuse("--record-size", given.recordSize);
    refuse("--batch", given.batch);
    refuse("--compute-time", given.computeTime);
    refuse("--workers", given.workers);
    refuse("--targets", given.targets);
    refuse("--seed", given.seed);
  }

  private static void refuse(String option, @Nullable String value) {
    if (value != null) {
      throw CliException.usage(option + " is for --accelerators: give it too");
    }
  }

  private static Training training(Options given) {
    Training whole = given.workload == null ? custom(given) : workload(given, given.workload);
    return new Training(
        whole.workload(),
        given.computeTime == null ? whole.type() : "",
        whole.sampleBytes(),
        given.recordSize == null ? whole.recordBytes() : recordBytes(given.recordSize),
        given.batch == null ? whole.batch() : number("--batch", given.batch, MOST_BATCH),
        given.computeTime == null ? whole.computeNanos() : computeNanos(given.computeTime),
        given.workers == null ? whole.workers() : number("--workers", given.workers, MOST_WORKERS),
        whole.targetUtilization());
  }

  /** Returns a training to which the user has to give the rest. */
  private static Training custom(Options given) {
    if (given.batch == null || given.computeTime == null) {
      throw CliException.usage(
          "--accelerators needs a --workload ("
              + words(TrainingWorkload.values(), TrainingWorkload::word)
              + "), or --batch and --compute-time");
    }
    if (given.type != null) {
      throw CliException.usage("--accelerator-type is for a --workload: give that too");
    }
    return new Training(CUSTOM, "", 0, 0, 1, 1, DEFAULT_WORKERS, DEFAULT_UTILIZATION);
  }

  private static Training workload(Options given, String name) {
    TrainingWorkload workload =
        named("--workload", name, TrainingWorkload.values(), TrainingWorkload::word);
    if (given.type == null) {
      return Training.of(workload, workload.newestType());
    }
    if (given.computeTime != null) {
      throw CliException.usage(
          "--accelerator-type and --compute-time exclude each other: give one of them");
    }
    AcceleratorType type =
        named("--accelerator-type", given.type, AcceleratorType.values(), AcceleratorType::word);
    if (workload.computeNanos(type).isEmpty()) {
      throw CliException.usage(
          "there is no value of %s for %s: choose one of %s, or give --compute-time"
              .formatted(
                  workload.word(),
                  type.word(),
                  Arrays.stream(AcceleratorType.values())
                      .filter(other -> workload.computeNanos(other).isPresent())
                      .map(AcceleratorType::word)
                      .collect(Collectors.joining(", "))));
    }
    return Training.of(workload, type);
  }

  private static List<Target> targets(Options given) {
    if (given.targets == null) {
      return List.of(Target.MOUNT, Target.SOURCE);
    }
    List<Target> targets =
        Arrays.stream(given.targets.split(",", -1))
            .map(word -> named("--targets", word, Target.values(), Target::word))
            .toList();
    if (targets.stream().distinct().count() < targets.size()) {
      throw CliException.usage("--targets '" + given.targets + "' names one twice");
    }
    return targets;
  }

  private static @Nullable Long seed(Options given) {
    try {
      return given.seed == null ? null : Long.valueOf(given.seed);
    } catch (NumberFormatException e) {
      throw CliException.usage("--seed '" + given.seed + "' is not a whole number: give one", e);
    }
  }

  private static long recordBytes(String text) {
    long bytes;
    try {
      bytes = Sizes.parse(text);
    } catch (IllegalArgumentException e) {
      throw CliException.usage("--record-size " + e.getMessage(), e);
    }
    if (bytes < 1) {
      throw CliException.usage("--record-size '" + text + "' is too small: give at least 1 byte");
    }
    return bytes;
  }

  /** Finer than other times: batches take milliseconds. */
  private static long computeNanos(String text) {
    Matcher time = TIME.matcher(text);
    if (!time.matches()) {
      throw CliException.usage(
          "--compute-time '" + text + "' is not a time: write a number with us, ms or s");
    }
    int decimals =
        switch (time.group(2)) {
          case "us" -> 3;
          case "ms" -> 6;
          default -> 9;
        };
    BigDecimal nanos = new BigDecimal(time.group(1)).scaleByPowerOfTen(decimals);
    if (nanos.compareTo(BigDecimal.ONE) < 0 || nanos.compareTo(LONGEST_NANOS) > 0) {
      throw CliException.usage(
          "--compute-time '" + text + "' is not possible: more than 0, at most an hour");
    }
    return nanos.longValue();
  }

  private static int number(String option, String text, int largest) {
    int value = text.matches("[0-9]{1,9}") ? Integer.parseInt(text) : 0;
    if (value < 1 || value > largest) {
      throw CliException.usage(option + " '" + text + "' is not from 1 to " + largest);
    }
    return value;
  }

  private static <T> T named(String option, String word, T[] all, Function<T, String> name) {
    String wanted = word.toLowerCase(Locale.ROOT);
    return Arrays.stream(all)
        .filter(one -> name.apply(one).equals(wanted))
        .findFirst()
        .orElseThrow(
            () ->
                CliException.usage(
                    option + " '" + word + "' is not known: choose one of " + words(all, name)));
  }

  private static <T> String words(T[] all, Function<T, String> name) {
    return Arrays.stream(all).map(name).collect(Collectors.joining(", "));
  }

  /** The options as the user wrote them; one that was not given is null. */
  static final class Options {
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
}
