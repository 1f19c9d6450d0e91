// Rates: what has changed between two looks at stats.json, for the last ten minutes.

/** Ten minutes, a look a second. */
const MOST_POINTS = 600;

/** Seconds between two looks beyond which the time between them is a gap. */
const GAP_SECONDS = 5;

/** Looks over which the split of time is a rate: the daemon looks at processes less often than the page. */
const SPLIT_LOOKS = 5;

/** Seconds without an answer after which an origin hangs. */
const HANGS_SECONDS = 3;

/** Looks that words about now are true for. */
export const RECENT = 10;

/** The last looks, and the rates between them. */
export const history = {
  previous: undefined,
  /** The last looks in which the origin did not hang. */
  looks: [],
  times: [],
  waits: { origin: [], peer: [], preparation: [], back_pressure: [] },
  bytes: { origin: [], peer: [] },
  opens: [],
  fetches: [],
};

/** Tells whether the origin hangs, and does not only take its time. */
export function hangs({ fetches: { origin } }) {
  return origin.silent || (origin.in_flight > 0 && origin.unanswered_seconds >= HANGS_SECONDS);
}

/**
 * Notes rates since the last look; a gap where the page did not look, or the daemon is another. A read
 * counts when it is answered. So what readers do is not known while the origin hangs, and the look after
 * that has the rate of the whole time.
 */
export function remember(now) {
  const previous = history.previous;
  if (!previous || now.at - previous.at >= GAP_SECONDS || now.stats.mounted_at !== previous.stats.mounted_at) {
    history.looks = [];
    history.previous = undefined;
  }
  const since = (old, figure) =>
    (old && now.at > old.at ? Math.max(0, figure(now.stats) - figure(old.stats)) / (now.at - old.at) : null);
  const rate = (figure) => since(history.previous, figure);
  const known = !hangs(now.stats);
  const doing = (figure, looks) => (known ? since(history.looks.at(-looks) ?? history.looks[0], figure) : null);
  const split = (key) => (stats) => stats.jobs.jobs.reduce((sum, job) => sum + (job.split_seconds?.[key] ?? 0), 0);
  add(history.times, now.at);
  add(history.waits.origin, doing(({ reads }) => reads.stall_seconds - reads.peer_stall_seconds, 1));
  add(history.waits.peer, doing(({ reads }) => reads.peer_stall_seconds, 1));
  add(history.waits.preparation, doing(split('preparation'), SPLIT_LOOKS));
  add(history.waits.back_pressure, doing(split('back_pressure'), SPLIT_LOOKS));
  add(history.bytes.origin, rate((stats) => stats.fetches.origin.bytes));
  add(history.bytes.peer, rate((stats) => stats.fetches.peer.bytes));
  add(history.opens, rate((stats) => stats.opens.total));
  add(history.fetches, now.stats.fetches.in_flight);
  history.previous = now;
  if (known) {
    add(history.looks, now, RECENT);
  }
}

function add(figures, value, most = MOST_POINTS) {
  figures.push(value);
  if (figures.length > most) {
    figures.shift();
  }
}

/** The mean of the last figures. */
export function mean(figures, of = figures.length) {
  const known = figures.slice(-of).filter((each) => each !== null);
  return known.length === 0 ? undefined : known.reduce((sum, each) => sum + each, 0) / known.length;
}

/** The mean of a few looks each, of what goes up and down between two. */
export function smooth(figures) {
  return figures.map((_, i) => mean(figures.slice(Math.max(0, i - SPLIT_LOOKS + 1), i + 1)) ?? null);
}

/** The greatest figure. */
export function most(figures) {
  const known = figures.filter((each) => each !== null);
  return known.length === 0 ? undefined : Math.max(...known);
}

/** The figure of the last look. */
export function newest(figures) {
  const value = figures[figures.length - 1];
  return value === null ? undefined : value;
}
