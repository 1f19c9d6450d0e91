package io.holdfast.fs.settings;

/**
 * A wrong value of a setting. The message is one line for the user: it begins with the option, the
 * variable or the line of the file, and says what to do.
 */
public final class SettingsException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  SettingsException(String message) {
    super(message);
  }

  /** Returns an exception for a wrong value. */
  public static SettingsException of(Given given, String why) {
    return new SettingsException(given.label() + " " + why);
  }
}
