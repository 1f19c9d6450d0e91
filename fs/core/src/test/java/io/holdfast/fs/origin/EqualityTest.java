package io.holdfast.fs.origin;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Records that compare themselves: none of their components may be forgotten there. */
final class EqualityTest {
  @ParameterizedTest
  @ValueSource(classes = {Attributes.class, Version.class})
  void equals_byEachComponent(Class<?> type) throws ReflectiveOperationException {
    RecordComponent[] components = type.getRecordComponents();
    Object one = make(type, components, -1);
    assertThat(make(type, components, -1)).isEqualTo(one).hasSameHashCodeAs(one);
    for (int i = 0; i < components.length; i++) {
      assertThat(make(type, components, i)).as(components[i].getName()).isNotEqualTo(one);
    }
    assertThat(one).isNotEqualTo("another thing");
  }

  /** Returns a record whose components are 1, or "1", and 2 for one of them. */
  private static Object make(Class<?> type, RecordComponent[] components, int other)
      throws ReflectiveOperationException {
    Object[] values = new Object[components.length];
    for (int i = 0; i < values.length; i++) {
      int value = i == other ? 2 : 1;
      Class<?> kind = components[i].getType();
      if (kind == String.class) {
        values[i] = String.valueOf(value);
      } else if (kind == long.class) {
        values[i] = (long) value;
      } else {
        values[i] = value;
      }
    }
    Class<?>[] types =
        Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
    return type.getDeclaredConstructor(types).newInstance(values);
  }
}
