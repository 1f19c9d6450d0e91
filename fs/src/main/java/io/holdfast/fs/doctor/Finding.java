package io.holdfast.fs.doctor;

/**
 * What a probe has found. Immutable.
 *
 * @param level how bad it is
 * @param text what was found, in one line
 * @param mend one command or setting that mends it; empty where nothing is to be mended
 */
public record Finding(Level level, String text, String mend) {
  static Finding ok(String text) {
    return new Finding(Level.OK, text, "");
  }

  static Finding warn(String text, String mend) {
    return new Finding(Level.WARN, text, mend);
  }

  static Finding fail(String text, String mend) {
    return new Finding(Level.FAIL, text, mend);
  }
}
