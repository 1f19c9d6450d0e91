package io.holdfast.fs.doctor;

/**
 * What a probe has found. Immutable.
 *
 * @param level how bad it is
 * @param text what was found, in one line
 * @param fix one command or setting that fixes it; empty where there is nothing to fix
 */
public record Finding(Level level, String text, String fix) {
  static Finding ok(String text) {
    return new Finding(Level.OK, text, "");
  }

  static Finding warn(String text, String fix) {
    return new Finding(Level.WARN, text, fix);
  }

  static Finding fail(String text, String fix) {
    return new Finding(Level.FAIL, text, fix);
  }
}
