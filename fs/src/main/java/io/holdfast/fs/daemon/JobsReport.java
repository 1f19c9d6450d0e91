package io.holdfast.fs.daemon;

import io.holdfast.fs.stats.Activity;
import io.holdfast.fs.stats.Activity.JobReport;
import io.holdfast.fs.stats.Activity.ProcessReport;
import io.holdfast.fs.stats.Counts;
import io.holdfast.fs.stats.Epoch;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What {@code stats.json} says of jobs and processes: figures since the mount, times in seconds. A
 * hit ratio that cannot be told is left out. Stateless.
 */
final class JobsReport {
  private JobsReport() {}

  static Map<String, Object> jobs(Activity activity) {
    Map<String, Object> jobs = new LinkedHashMap<>();
    jobs.put("by", activity.by().toString());
    jobs.put("jobs", activity.jobs().stream().map(JobsReport::job).toList());
    return jobs;
  }

  static List<Map<String, Object>> processes(Activity activity) {
    return activity.processes().stream().map(JobsReport::process).toList();
  }

  private static Map<String, Object> job(JobReport report) {
    Map<String, Object> job = new LinkedHashMap<>();
    job.put("job", report.job());
    job.put("processes", report.processes());
    job.put("opens", report.counts().opens());
    job.put("misses", report.counts().misses());
    putHitRatio(job, report.counts());
    job.put("fetched_bytes", report.counts().fetchedBytes());
    job.put("stall_seconds", seconds(report.counts().stallNanos()));
    List<Epoch> epochs = report.epochs();
    job.put("epoch", epochs.isEmpty() ? 0 : epochs.get(epochs.size() - 1).number());
    job.put("epochs", epochs.stream().map(JobsReport::epoch).toList());
    return job;
  }

  private static Map<String, Object> epoch(Epoch report) {
    Map<String, Object> epoch = new LinkedHashMap<>();
    epoch.put("epoch", report.number());
    epoch.put("opens", report.counts().opens());
    epoch.put("misses", report.counts().misses());
    putHitRatio(epoch, report.counts());
    epoch.put("stall_seconds", seconds(report.counts().stallNanos()));
    epoch.put("seconds", seconds(report.counts().nanos()));
    return epoch;
  }

  private static Map<String, Object> process(ProcessReport report) {
    Map<String, Object> process = new LinkedHashMap<>();
    process.put("pid", report.pid());
    process.put("job", report.job());
    process.put("command", report.command());
    process.put("opens", report.counts().opens());
    process.put("misses", report.counts().misses());
    process.put("fetched_bytes", report.counts().fetchedBytes());
    process.put("stall_seconds", seconds(report.counts().stallNanos()));
    return process;
  }

  private static void putHitRatio(Map<String, Object> figures, Counts counts) {
    double ratio = counts.hitRatio();
    if (!Double.isNaN(ratio)) {
      figures.put("hit_ratio", Math.round(ratio * 10_000) / 10_000.0);
    }
  }

  private static double seconds(long nanos) {
    return Math.round(nanos / 1e6) / 1000.0;
  }
}
