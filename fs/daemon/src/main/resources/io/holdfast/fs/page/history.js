// Rates: what has changed between two looks at stats.json, for the last ten minutes.

/** Ten minutes, a look a second. */
const MOST_POINTS = 600;

/** Seconds between two looks beyond which the time between them is a gap. */
const GAP_SECONDS = 5;

/** Looks over which the split of time is a rate: the daemon looks at processes less often than the page. */
const SPLIT_LOOKS = 5;

/** Looks that words about now are true for. */
export const RECENT = 10;

/** The last looks, and the rates between them. */
export const history = {
  looks: [],
  times: [],
  waits: { origin: [], peer: [], preparation: [], back_pressure: [] },
  bytes: { origin: [], peer: [] },
  opens: [],
  fetches: [],
};

/** Notes rates since the last look; a gap where the page did not look, or the daemon is another. */
export function remember(now) {
  const previous = history.looks.at(-1);
  const goesOn = previous && now.at - previous.at < GAP_SECONDS
    && now.stats.mounted_at === previous.stats.mounted_at;
  if (!goesOn) {
    history.looks = [];
  }
  const rate = (figure, looks = 1) => {
    const old = history.looks.at(-looks) ?? history.looks[0];
    return old && now.at > old.at ? Math.max(0, figure(now.stats) - figure(old.stats)) / (now.at - old.at) : null;
  };
  const split = (key) => (stats) => stats.jobs.jobs.reduce((sum, job) => sum + (job.split_seconds?.[key] ?? 0), 0);
  add(history.times, now.at);
  add(history.waits.origin, rate(({ reads }) => reads.stall_seconds - reads.peer_stall_seconds));
  add(history.waits.peer, rate(({ reads }) => reads.peer_stall_seconds));
  add(history.waits.preparation, rate(split('preparation'), SPLIT_LOOKS));
  add(history.waits.back_pressure, rate(split('back_pressure'), SPLIT_LOOKS));
  add(history.bytes.origin, rate((stats) => stats.fetches.origin.bytes));
  add(history.bytes.peer, rate((stats) => stats.fetches.peer.bytes));
  add(history.opens, rate((stats) => stats.opens.total));
  add(history.fetches, now.stats.fetches.in_flight);
  add(history.looks, now, RECENT);
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
