package io.holdfast.model;

import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AfterProperty;
import net.jqwik.api.state.ActionChain;
import org.jspecify.annotations.Nullable;

/** A mount shows what the model allows. {@link ReferenceModelIT} has jqwik run it. */
class MountModel {
  private static final int LONGEST = 60;

  private @Nullable Runs runs;

  @Provide
  Arbitrary<ActionChain<Session>> chains() {
    runs = new Runs(new MountSystem());
    return runs.chains(LONGEST);
  }

  @AfterProperty
  void end() throws Refused {
    if (runs != null) {
      runs.close();
    }
  }

  @Property
  void mount_randomOperations_showsWhatWasOrIs(@ForAll("chains") ActionChain<Session> chain) {
    runs.run(chain);
  }
}
