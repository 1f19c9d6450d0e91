package io.holdfast.fs.bench;

/** The kinds of measurements. */
enum Workload {
  SMALL_RESIDENT("small files, resident", Sample.Kind.SMALL_RESIDENT),
  SMALL_ABSENT("small files, not resident", Sample.Kind.SMALL_ABSENT),
  SEQUENTIAL_RESIDENT("large files in order, resident", Sample.Kind.LARGE_RESIDENT),
  SEQUENTIAL_ABSENT("large files in order, not resident", Sample.Kind.LARGE_ABSENT),
  RANDOM_RESIDENT("large files at random, resident", Sample.Kind.LARGE_RESIDENT),
  RANDOM_ABSENT("large files at random, not resident", Sample.Kind.LARGE_ABSENT);

  private final String words;
  private final Sample.Kind kind;

  Workload(String words, Sample.Kind kind) {
    this.words = words;
    this.kind = kind;
  }

  String words() {
    return words;
  }

  Sample.Kind kind() {
    return kind;
  }

  boolean resident() {
    return this == SMALL_RESIDENT || this == SEQUENTIAL_RESIDENT || this == RANDOM_RESIDENT;
  }

  boolean small() {
    return this == SMALL_RESIDENT || this == SMALL_ABSENT;
  }

  boolean random() {
    return this == RANDOM_RESIDENT || this == RANDOM_ABSENT;
  }

  /** Returns the unit of its figures: files or bytes a second. */
  String unit() {
    return small() ? "files/s" : "B/s";
  }
}
