package io.holdfast.fs.residency;

import io.holdfast.fs.ItemKey;
import io.holdfast.fs.LincheckJar;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import io.holdfast.fs.transit.Item;
import io.holdfast.policy.Policies;
import java.util.ArrayList;
import java.util.List;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Whatever threads do at once with the books is as if one had done it after the other: some
 * interleavings of random operations, checked by Lincheck; more with {@code
 * -Dholdfast.interleavings=N}.
 */
@Param(name = "item", gen = IntGen.class, conf = "1:3")
@Param(name = "capacity", gen = IntGen.class, conf = "1:2")
@ExtendWith(LincheckJar.class)
public class ResidentSetInterleavingsTest {
  private final ResidentSet residentSet =
      new ResidentSet(Policies.create("minio", 2L << 12, 1), ResidentLog.NONE);
  private final List<Item> items = new ArrayList<>();

  public ResidentSetInterleavingsTest() {
    for (int i = 0; i <= 3; i++) {
      OriginPath path = OriginPath.of("f" + i);
      items.add(new Item(new ItemKey(i, 0), () -> path, new Version(100, 1, i, ""), 0, 100));
    }
  }

  @Operation
  public String admit(@Param(name = "item") int item) {
    List<Resident> givenUp = new ArrayList<>();
    boolean admitted = residentSet.admit(new Resident(items.get(item)), false, 1 << 12, givenUp);
    return admitted + " " + givenUp.size();
  }

  @Operation
  public String keep(@Param(name = "item") int item) {
    return "" + residentSet.keep(items.get(item).key(), 1 << 12);
  }

  @Operation
  public boolean remove(@Param(name = "item") int item) {
    Resident there = residentSet.get(items.get(item).key());
    return there != null && residentSet.remove(there);
  }

  @Operation
  public boolean contains(@Param(name = "item") int item) {
    return residentSet.contains(items.get(item).key());
  }

  @Operation
  public int resize(@Param(name = "capacity") int capacity) {
    List<Resident> givenUp = new ArrayList<>();
    residentSet.resize((long) capacity << 12, givenUp);
    return givenUp.size();
  }

  @Operation
  public String sums() {
    return residentSet.sums().toString();
  }

  @Validate
  public void consistent() {
    if (residentSet.size() != residentSet.sums().items()) {
      throw new IllegalStateException(residentSet.size() + " residents, " + residentSet.sums());
    }
  }

  @Test
  void operations_atOnce_areLinearizable() {
    new ModelCheckingOptions()
        .iterations(2 * Integer.getInteger("holdfast.interleavings", 1))
        .invocationsPerIteration(60)
        .threads(2)
        .actorsPerThread(3)
        .loopBound(10_000)
        .check(ResidentSetInterleavingsTest.class);
  }
}
