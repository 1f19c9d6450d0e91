package io.holdfast.fs.accelerator;

/**
 * The training that is emulated. Immutable.
 *
 * @param workload the name of the workload, for people; {@code custom} if it is the user's own
 * @param type the name of the accelerator; empty if the user gave the compute time
 * @param sampleBytes the mean size of the workload's samples; 0 if it has none
 * @param recordBytes the size of a record; 0 if each file is one sample
 * @param batch samples of a batch
 * @param computeNanos the time that an accelerator takes for a batch
 * @param workers readers of each accelerator
 * @param targetUtilization the AU that the storage must give, from 0 to 1
 */
public record Training(
    String workload,
    String type,
    long sampleBytes,
    long recordBytes,
    int batch,
    long computeNanos,
    int workers,
    double targetUtilization) {

  /** Returns the training of a workload on a type of accelerator that it has a value for. */
  public static Training of(TrainingWorkload workload, AcceleratorType type) {
    return new Training(
        workload.word(),
        type.word(),
        workload.sampleBytes(),
        workload.recordBytes(),
        workload.batch(),
        workload.computeNanos(type).orElseThrow(),
        workload.workers(),
        workload.targetUtilization());
  }

  /**
   * Returns the bytes a second that one accelerator takes if it never waits.
   *
   * @param meanBytes the mean size of the dataset's samples
   */
  double demand(double meanBytes) {
    return batch * meanBytes * 1e9 / computeNanos;
  }
}
