package io.holdfast.fs.residency;

import io.holdfast.fs.residency.FileResidents.Many;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The residents of one file, at least one. A single resident needs no further object. */
sealed interface FileResidents permits Resident, Many {
  /** Returns the resident with this extent's number, or null. */
  @Nullable Resident at(long extent);

  /** Returns all residents, in no order. */
  Collection<Resident> all();

  /** Several residents. Readers need no lock; one thread at a time changes the residents. */
  final class Many implements FileResidents {
    private final ConcurrentHashMap<Long, Resident> byExtent = new ConcurrentHashMap<>();

    @Override
    public @Nullable Resident at(long extent) {
      return byExtent.get(extent);
    }

    @Override
    public Collection<Resident> all() {
      return List.copyOf(byExtent.values());
    }
  }

  /** Returns the residents plus one, which replaces the resident of the same extent. */
  static FileResidents with(@Nullable FileResidents residents, Resident more) {
    if (residents == null || (residents instanceof Resident one && one.isOfExtent(more))) {
      return more;
    }
    Many many = residents instanceof Many several ? several : new Many();
    if (residents instanceof Resident one) {
      put(many, one);
    }
    put(many, more);
    return many;
  }

  private static void put(Many many, Resident resident) {
    many.byExtent.put(resident.item().key().extent(), resident);
  }

  /** Returns the residents without one of them; null where none is left. */
  static @Nullable FileResidents without(FileResidents residents, Resident less) {
    if (residents instanceof Many many) {
      many.byExtent.remove(less.item().key().extent(), less);
      return many.byExtent.isEmpty() ? null : many;
    }
    return residents == less ? null : residents;
  }
}
