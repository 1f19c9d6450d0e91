package io.holdfast.chaos;

import java.io.IOException;
import java.util.Random;

/** How a reader goes through the dataset. */
enum ReadStyle {
  /** Small files in a random order, as a loader of images. */
  SHUFFLED {
    @Override
    int choose(VersionedFiles files, int turn, Random random) {
      return files.large() + random.nextInt(files.small());
    }
  },
  /** All files in the order of their names, with a large buffer. */
  IN_ORDER {
    @Override
    int choose(VersionedFiles files, int turn, Random random) {
      return turn % files.count();
    }

    @Override
    VersionReads.Result read(VersionReads reads, int file, Random random) throws IOException {
      return reads.whole(file, VersionReads.LARGE_BUFFER);
    }
  },
  /** Small files from the last to the first, mapped. */
  MAPPED_BACKWARDS {
    @Override
    int choose(VersionedFiles files, int turn, Random random) {
      return files.count() - 1 - turn % files.small();
    }

    @Override
    VersionReads.Result read(VersionReads reads, int file, Random random) throws IOException {
      return reads.mapped(file);
    }
  },
  /** Large files from beginning to end. */
  STREAMING {
    @Override
    int choose(VersionedFiles files, int turn, Random random) {
      return random.nextInt(files.large());
    }
  },
  /** Some places of a large file. */
  ANYWHERE {
    @Override
    int choose(VersionedFiles files, int turn, Random random) {
      return random.nextInt(files.large());
    }

    @Override
    VersionReads.Result read(VersionReads reads, int file, Random random) throws IOException {
      return reads.places(file, random);
    }
  },
  /** Any file, mapped. */
  MAPPED {
    @Override
    VersionReads.Result read(VersionReads reads, int file, Random random) throws IOException {
      return reads.mapped(file);
    }
  },
  /** Past the page cache. */
  DIRECT {
    @Override
    VersionReads.Result read(VersionReads reads, int file, Random random) throws IOException {
      return reads.direct(file);
    }
  },
  /** A few small files again and again, which are resident. */
  FAVOURITES {
    @Override
    int choose(VersionedFiles files, int turn, Random random) {
      return files.large() + random.nextInt(Math.min(64, files.small()));
    }
  };

  int choose(VersionedFiles files, int turn, Random random) {
    return random.nextInt(files.count());
  }

  VersionReads.Result read(VersionReads reads, int file, Random random) throws IOException {
    return reads.whole(file, VersionReads.SMALL_BUFFER);
  }
}
