package io.holdfast.fs.accelerator;

import java.util.Locale;
import java.util.OptionalLong;

/**
 * The training workloads of MLPerf Storage, with the values of its rules (2.0 and 3.0) and workload
 * configurations. Times are of one batch. ACCELERATORS.md has the source.
 */
public enum TrainingWorkload {
  /** Whole files (npz) of very different sizes. */
  UNET3D(146_600_628, 0, 7, 4, 0.90, 636_000, 323_000, 162_000),
  /** Files (tfrecord) of 1,251 records; a record has 114,660.07 bytes on average. */
  RESNET50(114_660, 114_660, 400, 8, 0.90, 435_000, 224_000, 0),
  /** Whole files (tfrecord of one record). */
  COSMOFLOW(2_828_486, 0, 1, 4, 0.70, 5_510, 3_500, 0),
  /** Whole files (jpeg). */
  RETINANET(322_957, 0, 24, 8, 0.85, 0, 0, 47_550);

  private static final long NANOS_PER_MICRO = 1_000;

  private final long sampleBytes;
  private final long recordBytes;
  private final int batch;
  private final int workers;
  private final double targetUtilization;
  private final long a100Micros;
  private final long h100Micros;
  private final long b200Micros;

  /** The microseconds of a batch are 0 if there is no value. */
  TrainingWorkload(
      long sampleBytes,
      long recordBytes,
      int batch,
      int workers,
      double targetUtilization,
      long a100Micros,
      long h100Micros,
      long b200Micros) {
    this.sampleBytes = sampleBytes;
    this.recordBytes = recordBytes;
    this.batch = batch;
    this.workers = workers;
    this.targetUtilization = targetUtilization;
    this.a100Micros = a100Micros;
    this.h100Micros = h100Micros;
    this.b200Micros = b200Micros;
  }

  /** Returns the word for people and programs. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns the mean size of a sample, in bytes. */
  public long sampleBytes() {
    return sampleBytes;
  }

  /** Returns the size of a record in bytes; 0 if each file is one sample. */
  public long recordBytes() {
    return recordBytes;
  }

  /** Returns the number of samples that a batch has. */
  public int batch() {
    return batch;
  }

  /** Returns the number of readers of one accelerator. */
  public int workers() {
    return workers;
  }

  /** Returns the AU that the storage must give, from 0 to 1. */
  public double targetUtilization() {
    return targetUtilization;
  }

  /** Returns the time for a batch in nanoseconds; empty if there is no value for the type. */
  public OptionalLong computeNanos(AcceleratorType type) {
    long micros =
        switch (type) {
          case A100 -> a100Micros;
          case H100 -> h100Micros;
          case B200 -> b200Micros;
        };
    return micros == 0 ? OptionalLong.empty() : OptionalLong.of(micros * NANOS_PER_MICRO);
  }

  /** Returns the newest accelerator that the workload has a value for. */
  public AcceleratorType newestType() {
    AcceleratorType newest = AcceleratorType.A100;
    for (AcceleratorType type : AcceleratorType.values()) {
      newest = computeNanos(type).isPresent() ? type : newest;
    }
    return newest;
  }
}
