package io.holdfast.it;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A mount that the tests of a class share. It is made for the first test that asks for it, and anew
 * after a test that failed or has ended it. A JUnit extension, as a static field.
 */
final class SharedMount implements AfterEachCallback {
  private final Supplier<Mount> maker;
  private @Nullable Mount mount;

  SharedMount(Supplier<Mount> maker) {
    this.maker = maker;
  }

  /** Returns the mount. Tests that run at the same time may not ask. */
  Mount get() {
    Mount shared = mount;
    if (shared == null) {
      shared = maker.get();
      mount = shared;
    }
    return shared;
  }

  @Override
  public void afterEach(ExtensionContext context) {
    Mount shared = mount;
    if (shared == null || (context.getExecutionException().isEmpty() && shared.isMounted())) {
      return;
    }
    System.out.printf(
        "%s is not shared any more after %s%n", shared.name(), context.getDisplayName());
    mount = null;
  }
}
