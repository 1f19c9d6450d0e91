package io.holdfast.fs.control;

import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.NodeFigures;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Converts figures to nested maps for JSON, and back. A component of a record becomes a key in
 * snake case, in the order of the record; an empty optional has no key. A key that is missing,
 * because an older daemon made the map, is read as 0, empty or false. A key that no record has,
 * because a newer daemon made the map, is ignored. Stateless. Commands start with this class, so it
 * avoids code that Java generates at run time: no lambdas where each record passes, no patterns.
 */
public final class FiguresJson {
  private static final ClassValue<Shape> SHAPES =
      new ClassValue<>() {
        @Override
        protected Shape computeValue(Class<?> type) {
          return Shape.of(type);
        }
      };

  private FiguresJson() {}

  /** Returns the figures in a map, such as {@link ControlClient#stats()}. */
  public static Figures figures(Map<?, ?> stats) {
    return (Figures) record(Figures.class, stats);
  }

  /** Returns the nodes in rows, such as {@link ControlClient#peers()}. */
  public static List<NodeFigures> nodes(List<? extends Map<?, ?>> peers) {
    return peers.stream().map(row -> (NodeFigures) record(NodeFigures.class, row)).toList();
  }

  /** Returns the map of a record. */
  public static Map<String, Object> map(Record record) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (Field field : SHAPES.get(record.getClass()).fields) {
      Object value = plain(field.of(record));
      if (value != null) {
        map.put(field.key, value);
      }
    }
    return map;
  }

  /** Returns the maps of records. */
  public static List<Map<String, Object>> maps(List<? extends Record> records) {
    return records.stream().map(FiguresJson::map).toList();
  }

  private static @Nullable Object plain(@Nullable Object value) {
    if (value instanceof Record record) {
      return map(record);
    }
    if (value instanceof List<?> list) {
      return list.stream().map(FiguresJson::plain).toList();
    }
    if (value instanceof Map<?, ?> map) {
      Map<String, @Nullable Object> values = new LinkedHashMap<>();
      map.forEach((key, each) -> values.put(String.valueOf(key), plain(each)));
      return values;
    }
    if (value instanceof Optional<?> optional) {
      return optional.map(FiguresJson::plain).orElse(null);
    }
    if (value instanceof OptionalLong optional) {
      return optional.isPresent() ? optional.getAsLong() : null;
    }
    if (value instanceof OptionalDouble optional) {
      return optional.isPresent() ? optional.getAsDouble() : null;
    }
    return value;
  }

  private static Object record(Class<?> type, Map<?, ?> map) {
    Shape shape = SHAPES.get(type);
    Object[] values = new Object[shape.fields.size()];
    for (int i = 0; i < values.length; i++) {
      Field field = shape.fields.get(i);
      values[i] = value(field.type, map.get(field.key));
    }
    return shape.make(values);
  }

  private static @Nullable Object value(Type type, @Nullable Object value) {
    if (type instanceof ParameterizedType generic) {
      return container(generic, value);
    }
    Number number = value instanceof Number some ? some : null;
    if (type == long.class || type == Long.class) {
      return number == null ? 0L : number.longValue();
    }
    if (type == double.class) {
      return number == null ? 0.0 : number.doubleValue();
    }
    if (type == boolean.class) {
      return Boolean.TRUE.equals(value);
    }
    if (type == String.class) {
      return value == null ? "" : value.toString();
    }
    if (type == OptionalLong.class) {
      return number == null ? OptionalLong.empty() : OptionalLong.of(number.longValue());
    }
    if (type == OptionalDouble.class) {
      return number == null ? OptionalDouble.empty() : OptionalDouble.of(number.doubleValue());
    }
    if (type instanceof Class<?> each && each.isRecord()) {
      return record(each, value instanceof Map<?, ?> map ? map : Map.of());
    }
    return value;
  }

  private static Object container(ParameterizedType type, @Nullable Object value) {
    Type[] of = type.getActualTypeArguments();
    if (type.getRawType() == Optional.class) {
      return Optional.ofNullable(value).map(each -> value(of[0], each));
    }
    if (type.getRawType() == List.class) {
      return value instanceof List<?> list
          ? list.stream().filter(Map.class::isInstance).map(each -> value(of[0], each)).toList()
          : List.of();
    }
    Map<String, @Nullable Object> values = new LinkedHashMap<>();
    if (value instanceof Map<?, ?> map) {
      map.forEach((key, each) -> values.put(String.valueOf(key), value(of[1], each)));
    }
    return values;
  }

  /** A component of a record. */
  private record Field(String key, Type type, Method accessor) {
    static Field of(RecordComponent component) {
      return new Field(
          snakeCase(component.getName()), component.getGenericType(), component.getAccessor());
    }

    private static String snakeCase(String name) {
      StringBuilder key = new StringBuilder();
      for (int i = 0; i < name.length(); i++) {
        char letter = name.charAt(i);
        if (Character.isUpperCase(letter)) {
          key.append('_');
        }
        key.append(Character.toLowerCase(letter));
      }
      return key.toString();
    }

    Object of(Record record) {
      try {
        return accessor.invoke(record);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e); // records are public, and have their accessors
      }
    }
  }

  /** The components and the constructor of a record. */
  private record Shape(List<Field> fields, Constructor<?> constructor) {
    static Shape of(Class<?> type) {
      RecordComponent[] components = type.getRecordComponents();
      Class<?>[] types = new Class<?>[components.length];
      List<Field> fields = new ArrayList<>();
      for (int i = 0; i < components.length; i++) {
        types[i] = components[i].getType();
        fields.add(Field.of(components[i]));
      }
      try {
        return new Shape(fields, type.getDeclaredConstructor(types));
      } catch (NoSuchMethodException e) {
        throw new IllegalStateException(e);
      }
    }

    Object make(Object[] values) {
      try {
        return constructor.newInstance(values);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
