package io.holdfast.fs;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Removes the jar that Lincheck leaves in the temporary folder. */
public final class LincheckJar implements BeforeAllCallback, AfterAllCallback {
  private Set<Path> before = Set.of();

  @Override
  public void beforeAll(ExtensionContext context) throws IOException {
    before = jars();
  }

  @Override
  public void afterAll(ExtensionContext context) throws IOException {
    for (Path jar : jars()) {
      if (!before.contains(jar)) {
        Files.delete(jar);
      }
    }
  }

  private static Set<Path> jars() throws IOException {
    Path folder = Path.of(System.getProperty("java.io.tmpdir"));
    try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, "lincheck-*.jar")) {
      Set<Path> jars = new HashSet<>();
      found.forEach(jars::add);
      return jars;
    }
  }
}
