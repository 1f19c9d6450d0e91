package io.holdfast.fs.residency;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.ItemKey;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import io.holdfast.fs.transit.Item;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class HandlesTest {
  private final Handles handles = new Handles();

  private static Resident resident(int node) {
    OriginPath path = OriginPath.of("f" + node);
    return new Resident(
        new Item(new ItemKey(node, 0), () -> path, new Version(100, 1, node, ""), 0, 100));
  }

  /** A tick looked at all residents, of which it wanted sixteen, and readers waited. */
  @Test
  void forEach_takerWantsNoMore_endsThere() {
    for (int node = 1; node <= 1000; node++) {
      handles.makeRoom();
      handles.add(handles.next(), resident(node));
    }
    handles.remove(2);
    List<Long> passed = new ArrayList<>();

    handles.forEach(
        id -> {
          passed.add(id);
          handles.remove(id);
          return passed.size() < 3;
        });

    assertThat(passed).containsExactly(1L, 3L, 4L);
    assertThat(handles.get(4)).isNull();
    assertThat(handles.get(5)).isNotNull();
  }
}
