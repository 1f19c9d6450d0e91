package io.holdfast.fs.doctor;

import io.holdfast.fs.FsException;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.KernelFigures;
import io.holdfast.fs.units.Human;
import java.util.List;
import java.util.Optional;

/** Checks whether a daemon answers through its socket, and which version it is. */
final class AnswerProbe implements Probe {
  private final Subject subject;
  private final PendingAnswers pending;
  private final String version;

  AnswerProbe(Subject subject, PendingAnswers pending, String version) {
    this.subject = subject;
    this.pending = pending;
    this.version = version;
  }

  @Override
  public String name() {
    return "socket";
  }

  @Override
  public List<Finding> run() throws InterruptedException {
    Answers answers = pending.answers();
    FsException trouble = answers.trouble();
    if (trouble != null) {
      return List.of(explain(subject, trouble));
    }
    Optional<Figures> figures = answers.figures();
    String running = figures.map(Figures::version).orElse("");
    if (!running.equals(version)) {
      return List.of(
          Finding.warn(
              "the daemon is of version %s, this command of %s".formatted(running, version),
              "holdfast restart " + subject.target()));
    }
    long uptime = figures.map(Figures::uptimeSeconds).orElse(0L);
    String ioctl = figures.map(each -> each.kernel().ioctl()).orElse("");
    return List.of(
        Finding.ok(
            "answers; mounted for %s; %s"
                .formatted(
                    Human.seconds(uptime),
                    ioctl.equals(KernelFigures.MESSAGE)
                        ? "ioctl TCGETS is a message each"
                        : "the kernel answers ioctl TCGETS (%s)".formatted(ioctl))));
  }

  /** Says what is wrong with a daemon that does not answer. */
  static Finding explain(Subject subject, FsException trouble) {
    return switch (trouble.code()) {
      case ACCESS_DENIED ->
          Finding.warn("it answers only the user that started it", "run this as that user");
      case TIMED_OUT ->
          Finding.fail(
              "no answer in 2 s",
              "look into its log; 'holdfast debug %s' keeps what it does; end it with 'holdfast umount --force %s'"
                  .formatted(subject.target(), subject.target()));
      default ->
          Finding.fail(
              String.valueOf(trouble.getMessage()), "holdfast umount --force " + subject.target());
    };
  }
}
