package io.holdfast.fs.settings;

/**
 * What somebody said of a mount is wrong. The message is one line for the user: it begins with the
 * option, the variable or the line of the file, and says what to do.
 */
public final class SettingsException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  SettingsException(String message) {
    super(message);
  }

  /** Says that a setting cannot be what it was said to be. */
  public static SettingsException of(Given given, String why) {
    return new SettingsException(given.label() + " " + why);
  }
}
