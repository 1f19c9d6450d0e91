package io.holdfast.fs.doctor;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.Linux;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Supplier;

/** Checks whether opens can be counted without a message for each. */
final class FanotifyProbe implements Probe {
  private static final int FAN_CLOEXEC = 1;
  private static final int FAN_NONBLOCK = 2;
  private static final int FAN_UNLIMITED_QUEUE = 0x10;
  private static final int FAN_REPORT_TID = 0x100;

  private final MachineFiles files;
  private final Supplier<String> attempt;

  FanotifyProbe(MachineFiles files) {
    this(files, FanotifyProbe::attempt);
  }

  /**
   * Creates a probe with its own attempt to use fanotify.
   *
   * @param attempt tries to use it; returns the error, or an empty text
   */
  FanotifyProbe(MachineFiles files, Supplier<String> attempt) {
    this.files = files;
    this.attempt = attempt;
  }

  @Override
  public String name() {
    return "fanotify";
  }

  @Override
  public List<Finding> run() {
    String trouble = attempt.get();
    if (!trouble.isEmpty()) {
      return List.of(
          Finding.warn(
              "not permitted (%s): opens are counted by a message each, which is slower"
                  .formatted(trouble),
              "run as root with CAP_SYS_ADMIN, or mount with --count-opens off"));
    }
    List<Finding> findings = new ArrayList<>();
    StringBuilder text = new StringBuilder("permitted");
    for (String limit : List.of("max_user_marks", "max_user_groups")) {
      OptionalLong value = files.number("proc/sys/fs/fanotify/" + limit);
      value.ifPresent(number -> text.append("; ").append(limit).append(' ').append(number));
      if (value.isPresent() && value.getAsLong() < 16) {
        findings.add(
            Finding.warn(
                "fs.fanotify.%s is %d: each mount needs one".formatted(limit, value.getAsLong()),
                "sysctl fs.fanotify." + limit + "=128"));
      }
    }
    findings.add(0, Finding.ok(text.toString()));
    return findings;
  }

  private static String attempt() {
    int group =
        LIBC.fanotify_init(
            FAN_CLOEXEC | FAN_NONBLOCK | FAN_UNLIMITED_QUEUE | FAN_REPORT_TID, Linux.O_RDONLY);
    if (group < 0) {
      return Linux.describe(Linux.errno());
    }
    LIBC.close(group);
    return "";
  }
}
