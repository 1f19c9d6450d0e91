package io.holdfast.fs.doctor;

import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.origin.s3.S3Settings;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Checks whether an object store answers, under which name, and whether its clock agrees. */
final class StoreProbe implements Probe {
  private static final Duration DEADLINE = Duration.ofSeconds(2);

  /**
   * The largest difference of clocks without a warning; stores refuse requests that are 15 minutes
   * off.
   */
  private static final Duration WORST = Duration.ofMinutes(5);

  private static final Duration BAD = Duration.ofSeconds(30);

  private final Subject subject;
  private final PendingAnswers pending;
  private final Procfs procfs;
  private final Clock clock;

  StoreProbe(Subject subject, PendingAnswers pending, MachineFiles files, Clock clock) {
    this.subject = subject;
    this.pending = pending;
    this.procfs = files.procfs();
    this.clock = clock;
  }

  @Override
  public String name() {
    return "store";
  }

  @Override
  public List<Finding> run() throws InterruptedException {
    if (subject.mount() == null || !subject.mount().source().startsWith("s3://")) {
      return List.of();
    }
    Answers answers = pending.answers();
    String endpoint = answers.setting("s3-endpoint").or(() -> amazon(answers)).orElse("");
    if (!endpoint.contains("://")) {
      return List.of(Finding.ok("not asked: its endpoint is known to the daemon only"));
    }
    String proxy = endpoint.startsWith("https:") ? "HTTPS_PROXY" : "HTTP_PROXY";
    boolean direct =
        variable(proxy).isEmpty() && variable(proxy.toLowerCase(Locale.ROOT)).isEmpty();
    return List.of(
        direct
            ? ask(endpoint)
            : Finding.ok("not asked: the daemon's environment has a proxy, " + proxy));
  }

  /** Returns Amazon's endpoint, unless the daemon's environment names another. */
  private Optional<String> amazon(Answers answers) {
    return variable("AWS_ENDPOINT_URL_S3").or(() -> variable("AWS_ENDPOINT_URL")).isPresent()
        ? Optional.empty()
        : answers.setting("s3-region").map(region -> S3Settings.amazon(region).toString());
  }

  private Optional<String> variable(String name) {
    return procfs.variable((int) subject.pid(), name).filter(value -> !value.isEmpty());
  }

  private Finding ask(String endpoint) throws InterruptedException {
    try {
      return new RemoteClock(clock, DEADLINE)
          .difference(endpoint)
          .map(off -> judge(endpoint, off))
          .orElse(Finding.ok(endpoint + " answers"));
    } catch (IOException e) {
      String text = "%s does not answer: %s".formatted(endpoint, e.getMessage());
      if (procfs.hidesEnvironment((int) subject.pid())) {
        return Finding.warn(
            text + "; the daemon may use a proxy", "run this as root, who sees its environment");
      }
      return Finding.fail(
          text, "check --s3-endpoint, the name and the network; 'curl -I " + endpoint + "'");
    }
  }

  private static Finding judge(String endpoint, Duration off) {
    String text = "%s answers; clocks differ by %d s".formatted(endpoint, off.toSeconds());
    String fix = "'timedatectl set-ntp true' here, or fix the store's clock";
    if (off.compareTo(WORST) > 0) {
      return Finding.fail(text + ": it refuses requests from 15 minutes on", fix);
    }
    return off.compareTo(BAD) > 0 ? Finding.warn(text, fix) : Finding.ok(text);
  }
}
