package io.holdfast.fs.doctor;

/**
 * The result of a probe. Immutable.
 *
 * @param level how bad it is
 * @param text the result in one line
 * @param fix one command or setting that fixes it; empty if there is nothing to fix
 */
public record Finding(Severity level, String text, String fix) {
  static Finding ok(String text) {
    return new Finding(Severity.OK, text, "");
  }

  static Finding warn(String text, String fix) {
    return new Finding(Severity.WARN, text, fix);
  }

  static Finding fail(String text, String fix) {
    return new Finding(Severity.FAIL, text, fix);
  }
}
