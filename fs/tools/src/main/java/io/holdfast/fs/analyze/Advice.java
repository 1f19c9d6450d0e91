package io.holdfast.fs.analyze;

import io.holdfast.fs.figures.Bottleneck;
import io.holdfast.fs.throughput.JobModel;
import io.holdfast.fs.throughput.Rates;
import io.holdfast.fs.throughput.Setup;
import io.holdfast.fs.units.Human;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;

/** Advises in one paragraph how a job becomes faster. Not thread-safe. */
final class Advice {
  /** A change that makes it so many times as fast is worth a word. */
  private static final double WORTH = 1.05;

  /** Speeds that differ by less are the same. */
  private static final double AS_GOOD = 0.98;

  /** A job has no use for more processors than these. */
  private static final int MOST_PROCESSORS = 1024;

  private final JobModel model;
  private final Setup now;
  private final double speed;
  private final OptionalDouble knee;
  private final long all;

  Advice(JobModel model, OptionalDouble knee, long all) {
    this.model = model;
    this.now = model.setup();
    this.speed = model.speed(now).orElse(model.now().speed());
    this.knee = knee;
    this.all = all;
  }

  String text() {
    List<String> sentences = new ArrayList<>();
    Setup then = now;
    if (now.hitShare() >= AS_GOOD) {
      sentences.add("More memory is useless: what the job reads is in memory.");
    } else if (knee.isEmpty()) {
      sentences.add("What more memory brings cannot be told: the rate of the origin is not known.");
    } else {
      double share = knee.getAsDouble();
      double best = model.speed(now.withCapacityShare(share)).orElse(speed);
      if (share > now.capacityShare() && best > WORTH * speed) {
        sentences.add(model.isOriginTold() ? helps(share, best) : mayHelp(share, best));
        then = now.withCapacityShare(share);
      } else {
        sentences.add("More memory is useless" + why() + ".");
      }
    }
    limit(then).ifPresent(sentences::add);
    storage().ifPresent(sentences::add);
    workers().ifPresent(sentences::add);
    return String.join(" ", sentences);
  }

  private String helps(double share, double best) {
    return String.format(
        Locale.ROOT,
        "More memory helps up to %s%s, which is %.0f %% of what %s: %.1f times as fast as now.",
        Human.bytes(Math.round(share * all)),
        now.nodes() > 1 ? " on each node" : "",
        100 * share,
        now.nodes() > 1 ? "the dataset has" : "an epoch reads",
        best / speed);
  }

  private String mayHelp(double share, double best) {
    return String.format(
        Locale.ROOT,
        "More memory helps up to %.1f times as fast as now, and for that %s%s are enough; whether"
            + " less is cannot be told, because the job hardly waited for the origin.",
        best / speed,
        Human.bytes(Math.round(share * all)),
        now.nodes() > 1 ? " on each node" : "");
  }

  private double most(Setup with) {
    return model.most(with).orElse(speed);
  }

  /** Returns how many times as fast it would be at most. */
  private String times(Setup with, double before) {
    return String.format(
        Locale.ROOT,
        "%s%.1f times as fast",
        model.isAtLeast(with) ? "up to " : "",
        most(with) / before);
  }

  private String why() {
    double fetch = 1 - now.hitShare();
    return model.now().waitsFor(Bottleneck.STORAGE) || fetch == 0
        ? ""
        : ": files come faster than the job takes them";
  }

  /** Says what limits with a setup beyond which memory brings nothing. */
  private Optional<String> limit(Setup then) {
    Rates rates = model.rates();
    double demand = model.demand(then);
    if (Double.isInfinite(demand)) {
      return Optional.of(
          "What limits beyond the storage was not seen: the accelerator takes at least "
              + rate(rates.accelerator().orElse(speed))
              + ".");
    }
    boolean accelerator =
        rates.acceleratorIsLimit() && rates.accelerator().getAsDouble() <= demand * (1 + 1e-9);
    if (accelerator) {
      return Optional.of("The accelerator limits at " + rate(demand) + ".");
    }
    return Optional.of("Preparation limits at " + rate(demand) + moreProcessors(then) + ".");
  }

  private String moreProcessors(Setup then) {
    double before = model.speed(then).orElse(speed);
    double most = most(then.withMoreProcessors(MOST_PROCESSORS));
    if (most < WORTH * before) {
      return now.readers() <= model.usableProcessors()
          ? ": more workers would help, with a CPU core each"
          : "";
    }
    int more = 1;
    while (more < MOST_PROCESSORS && most(then.withMoreProcessors(more)) < AS_GOOD * most) {
      more++;
    }
    return ": %s would make it %s"
        .formatted(
            Human.count(more, "more CPU core"), times(then.withMoreProcessors(more), before));
  }

  private Optional<String> storage() {
    Setup twice = now.withOriginFactor(2);
    return most(twice) < WORTH * speed
        ? Optional.empty()
        : Optional.of(
            "With the memory of now, an origin twice as fast would make it %s."
                .formatted(times(twice, speed)));
  }

  private Optional<String> workers() {
    if (model.now().epoch().readers() == 0) {
      return Optional.empty();
    }
    Setup twice = now.withReaders(2 * now.readers());
    if (most(twice) > WORTH * speed) {
      return Optional.of(
          "%d workers in place of %d would make it %s."
              .formatted(2 * now.readers(), now.readers(), times(twice, speed)));
    }
    int fewer = now.readers();
    while (fewer > 1 && model.speed(now.withReaders(fewer - 1)).orElse(0) >= AS_GOOD * speed) {
      fewer--;
    }
    return fewer > 0.75 * now.readers()
        ? Optional.empty()
        : Optional.of(
            String.format(
                Locale.ROOT, "%d in place of %d workers are as good.", fewer, now.readers()));
  }

  private static String rate(double rate) {
    return Human.bytes(Math.round(rate)) + "/s";
  }
}
