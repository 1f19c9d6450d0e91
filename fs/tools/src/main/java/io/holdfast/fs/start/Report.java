package io.holdfast.fs.start;

/**
 * Where a daemon says how its start went. In the background it is a pipe to the process that the
 * user started, with a line for each call:
 *
 * <pre>
 * plan TEXT            what the user may expect
 * ready                the mount answers
 * error EXIT TEXT      the start failed
 * </pre>
 */
interface Report {
  String PLAN = "plan ";
  String READY = "ready";
  String ERROR = "error ";

  /** The mount answers. */
  void ready(String plan);
}
