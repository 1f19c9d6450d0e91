package io.holdfast.fs.analyze;

import io.holdfast.fs.figures.JobsFigures.Split;
import io.holdfast.fs.throughput.JobModel;
import io.holdfast.fs.throughput.Observation;
import io.holdfast.fs.throughput.Rates;
import io.holdfast.fs.throughput.WhatIf;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** A report as an object for programs. Stateless. */
public final class AnalysisJson {
  private static final double THOUSAND = 1000;
  private static final double TEN_THOUSAND = 10_000;

  private AnalysisJson() {}

  /** Returns the object. What cannot be told is null. */
  public static Map<String, @Nullable Object> of(Analysis analysis) {
    Map<String, @Nullable Object> object = new LinkedHashMap<>();
    object.put("job", analysis.subject().job());
    object.put("epochs", analysis.runs().epochs().stream().map(AnalysisJson::epoch).toList());
    object.put("rates", rates(analysis.model().map(JobModel::rates)));
    object.put("what_if", analysis.whatIf().stream().map(AnalysisJson::whatIf).toList());
    object.put(
        "knee_capacity_share",
        analysis.knee().isPresent()
            ? Math.round(analysis.knee().getAsDouble() * TEN_THOUSAND) / TEN_THOUSAND
            : null);
    object.put("advice", analysis.advice());
    return object;
  }

  private static Map<String, @Nullable Object> epoch(Observation seen) {
    Map<String, @Nullable Object> shares = new LinkedHashMap<>();
    shares.put("fetch_origin", share(seen, Split::fetchOrigin));
    shares.put("fetch_peer", share(seen, Split::fetchPeer));
    shares.put("preparation", share(seen, Split::preparation));
    shares.put("back_pressure", share(seen, Split::backPressure));
    Map<String, @Nullable Object> object = new LinkedHashMap<>();
    object.put("epoch", seen.epoch().epoch());
    object.put("seconds", milliseconds(seen.epoch().seconds()));
    OptionalDouble fetching = seen.epoch().fetchingSeconds();
    object.put(
        "fetching_seconds", fetching.isPresent() ? milliseconds(fetching.getAsDouble()) : null);
    object.put("bytes", seen.epoch().bytes());
    object.put("shares", shares);
    object.put("verdict", seen.finding().verdict().word());
    object.put("reason", seen.finding().reason());
    return object;
  }

  private static @Nullable Double share(Observation seen, ToDoubleFunction<Split> part) {
    return seen.shares().isPresent() ? part.applyAsDouble(seen.shares().get()) : null;
  }

  private static Map<String, @Nullable Object> rates(Optional<Rates> known) {
    Map<String, @Nullable Object> object = new LinkedHashMap<>();
    object.put("origin", rate(known.map(Rates::origin)));
    Long least = rate(known.map(Rates::originAtLeast));
    if (least != null) {
      object.put("origin_at_least", least);
    }
    object.put("peer", rate(known.map(Rates::peer)));
    object.put("memory", rate(known.map(Rates::memory)));
    object.put("preparation", rate(known.map(Rates::preparation)));
    object.put("accelerator", rate(known.map(Rates::accelerator)));
    return object;
  }

  private static @Nullable Long rate(Optional<OptionalDouble> rate) {
    OptionalDouble known = rate.orElse(OptionalDouble.empty());
    return known.isPresent() ? Math.round(known.getAsDouble()) : null;
  }

  private static Map<String, Object> whatIf(WhatIf row) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("change", row.change().word());
    object.put("value", Math.round(row.value() * TEN_THOUSAND) / TEN_THOUSAND);
    object.put("bytes_per_second", Math.round(row.speed()));
    object.put("epoch_seconds", milliseconds(row.epochSeconds()));
    if (row.isAtLeast()) {
      object.put("at_least", true);
    }
    return object;
  }

  private static double milliseconds(double seconds) {
    return Math.round(seconds * THOUSAND) / THOUSAND;
  }
}
