package io.holdfast.model;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AfterProperty;
import net.jqwik.api.state.ActionChain;
import org.jspecify.annotations.Nullable;

/**
 * The core answers as the model does: two nodes in this process, with names that are asked for each
 * time, and with names that are believed until they are refreshed. {@code packaging/e2e/model/run}
 * does it for long.
 */
class ReferenceModelTest {
  private static final int LONGEST = 60;

  private @Nullable Path root;
  private @Nullable Runs runs;

  private Arbitrary<ActionChain<Session>> chains(boolean slow) {
    try {
      root = Files.createTempDirectory("hf-model-");
      runs = new Runs(new CoreSystem(root, slow));
      return runs.chains(LONGEST);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @AfterProperty
  void end() throws IOException, InterruptedException, Refused {
    if (runs != null) {
      try {
        runs.close();
      } finally {
        new ProcessBuilder("rm", "-rf", "--", root + "").inheritIO().start().waitFor();
      }
    }
  }

  @Provide
  Arbitrary<ActionChain<Session>> local() {
    return chains(false);
  }

  @Provide
  Arbitrary<ActionChain<Session>> slow() {
    return chains(true);
  }

  @Property
  void localOrigin_randomOperations_showsTheDataset(@ForAll("local") ActionChain<Session> chain) {
    runs.run(chain);
  }

  @Property
  void slowOrigin_randomOperations_showsWhatWasOrIs(@ForAll("slow") ActionChain<Session> chain) {
    runs.run(chain);
  }
}
