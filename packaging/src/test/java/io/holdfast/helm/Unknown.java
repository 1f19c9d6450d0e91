package io.holdfast.helm;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/** Finds what a text said of a resource and Kubernetes does not know. Stateless. */
final class Unknown {
  private static final String MODEL = "io.fabric8.kubernetes.api.model";

  private Unknown() {}

  /** Returns the names of such properties, with where they are. */
  static List<String> in(Object resource) {
    List<String> found = new ArrayList<>();
    collect(resource, resource.getClass().getSimpleName(), found);
    return found;
  }

  private static void collect(Object value, String path, List<String> found) {
    if (value instanceof Collection<?> many) {
      many.forEach(one -> collect(one, path, found));
    } else if (value instanceof Map<?, ?> map) {
      map.values().forEach(one -> collect(one, path, found));
    } else if (value.getClass().getName().startsWith(MODEL)) {
      for (Method getter : value.getClass().getMethods()) {
        if (getter.getName().startsWith("get") && getter.getParameterCount() == 0) {
          property(value, getter, path, found);
        }
      }
    }
  }

  private static void property(Object value, Method getter, String path, List<String> found) {
    try {
      Object property = getter.invoke(value);
      if (property == null) {
        return;
      }
      if (getter.getName().equals("getAdditionalProperties") && property instanceof Map<?, ?> map) {
        map.keySet().forEach(key -> found.add(path + "." + key));
      } else {
        collect(property, path + "." + getter.getName().substring(3), found);
      }
    } catch (IllegalAccessException | InvocationTargetException e) {
      throw new IllegalStateException(path + "." + getter.getName(), e);
    }
  }
}
