// The page of a mount. Asks for stats.json every second and for page.json every five, and shows them.
// It changes nothing: for that it has commands to copy.

import { CurveChart, EpochChart, StackedChart } from './charts.js';
import { hangs, history, mean, most, newest, RECENT, remember, smooth } from './history.js';
import { element, fill, say, tiles } from './tables.js';
import * as write from './text.js';

const LOOK_MILLIS = 1000;
const SELDOM_LOOKS = 5;
const ANSWER_MILLIS = 5000;

/** Fewer waiting readers than this are nobody. */
const SOMEBODY = 0.05;

const ORIGIN = { key: 'origin', label: 'wait for the origin', color: 'origin' };
const PEER = { key: 'peer', label: 'wait for peers', color: 'peer' };
const READERS = [
  ORIGIN,
  PEER,
  { key: 'preparation', label: 'prepare', color: 'memory' },
  { key: 'back_pressure', label: 'wait for their consumer', color: 'other' },
];
const TIERS = [{ ...ORIGIN, label: 'origin' }, { ...PEER, label: 'peers' }];

const charts = {};
let last;
let looking = false;
let page = { shows: 'sums', what_if: [], peers: [], settings: [], log: [] };
let looks = 0;

/** Gets JSON from beside the page; not by the page's own address, which may have a password in it. */
async function get(path) {
  const address = new URL(path, location.origin + location.pathname);
  const answer = await fetch(address, { cache: 'no-store', signal: AbortSignal.timeout(ANSWER_MILLIS) });
  if (!answer.ok) {
    throw new Error(`the answer is ${answer.status}`);
  }
  return answer.json();
}

async function look() {
  if (looking) {
    return;
  }
  looking = true;
  try {
    if (looks++ % SELDOM_LOOKS === 0) {
      page = await get('page.json');
      showPage();
    }
    const stats = await get('stats.json');
    const now = { at: Date.now() / 1000, stats };
    remember(now);
    last = now;
    show(stats);
    document.getElementById('lost').hidden = true;
    say('age', `up ${write.seconds(stats.uptime_seconds)}, as of ${new Date().toLocaleTimeString('en-GB')}`);
  } catch (failure) {
    looks = 0;
    lost(failure);
  } finally {
    looking = false;
  }
}

function lost(failure) {
  const since = last ? `since ${new Date(last.at * 1000).toLocaleTimeString('en-GB')}` : 'yet';
  say('lost', `The daemon has not answered ${since} (${failure.message}). What is below is old. The page goes on asking.`);
  document.getElementById('lost').hidden = false;
}

function show(stats) {
  document.title = `Holdfast ${stats.name}`;
  say('name', stats.name);
  say('place', `${stats.mountpoint} ← ${stats.origin}`);
  say('version', stats.version);
  showVerdict(stats);
  showTiles(stats);
  showWaits();
  showJobs(stats);
  showErrors(stats);
}

function showVerdict(stats) {
  const origin = stats.fetches.origin;
  const waits = { origin: mean(history.waits.origin, RECENT) ?? 0, peer: mean(history.waits.peer, RECENT) ?? 0 };
  if (origin.silent) {
    say('words', 'The origin does not answer');
    say('reason', 'What needs it fails at once. Resident files are read at full speed. The daemon asks it again by itself.');
  } else if (hangs(stats)) {
    say('words', 'Readers wait for the origin, which hangs');
    say('reason', `It has not answered for ${write.seconds(origin.unanswered_seconds)}. Resident files are read at full speed.`);
  } else {
    const job = busiest(stats);
    say('words', HEADLINES[job?.verdict] ?? (waits.origin + waits.peer < SOMEBODY ? 'Nobody waits for data'
      : `Some readers wait for ${waits.origin >= waits.peer ? 'the origin' : 'peers'}`));
    say('reason', job?.verdict ? `${job.job}: ${verdict(job)}.` : '');
  }
}

/** The job that has opened most in the last looks, of those that have not ended. */
function busiest(stats) {
  const known = new Map((history.looks[0]?.stats.jobs.jobs ?? []).map((job) => [job.job, job.opens]));
  return stats.jobs.jobs
    .filter((job) => job.ended_seconds === undefined || job.parent_alive)
    .map((job) => ({ job, opens: job.opens - (known.get(job.job) ?? 0) }))
    .reduce((most, each) => (most && most.opens >= each.opens ? most : each), undefined)?.job;
}

const VERDICTS = {
  storage: 'waits for storage',
  preparation: 'waits for preparation',
  accelerator: 'waits for the accelerator',
  unknown: 'cannot be told',
};

const HEADLINES = {
  storage: 'Readers wait for storage',
  preparation: 'Readers are busy with what they have read',
  accelerator: 'Readers wait until somebody takes what they have read',
};

function verdict(job) {
  const words = VERDICTS[job.verdict] ?? job.verdict ?? '';
  return job.reason ? `${words}: ${job.reason}` : words;
}

function showTiles(stats) {
  const { cache, dataset, fetches, cluster, reads, opens } = stats;
  const share = (part, whole) => (whole > 0 ? Math.min(1, part / whole) : 0);
  const waiting = newest(history.waits.origin) + newest(history.waits.peer);
  tiles('tiles', [
    { key: 'resident', title: 'Resident', value: cache.resident_bytes, shown: write.bytes(cache.resident_bytes),
      share: share(cache.resident_bytes, cache.capacity_bytes),
      more: `${write.percent(share(cache.resident_bytes, cache.capacity_bytes))} of the capacity, ${write.bytes(cache.capacity_bytes)}${cache.capacity_of_node_budget ? ", a part of the node's budget" : ''}` },
    { key: 'dataset', title: 'Dataset', value: dataset.bytes, shown: write.bytes(dataset.bytes),
      share: share(cache.resident_bytes, dataset.bytes),
      more: `${write.percent(share(cache.resident_bytes, dataset.bytes))} resident, ${write.count(dataset.files)} files${dataset.scanned ? '' : ' so far'}` },
    { key: 'planned', title: 'Planned hit ratio', value: cache.planned_hit_ratio, shown: write.ratio(cache.planned_hit_ratio),
      more: cluster ? `with peers ${write.ratio(cluster.planned_hit_ratio)}` : 'from the second epoch on' },
    { key: 'waiting', title: 'Waiting readers', value: reads.stall_seconds, shown: write.decimal(waiting),
      more: `${write.seconds(reads.stall_seconds)} in all, ${write.count(fetches.in_flight)} fetches in flight` },
    { key: 'opens', title: 'Opens', value: opens.total, shown: write.count(opens.total),
      more: opens.counted ? `${write.count(newest(history.opens))} a second` : 'not counted' },
    { key: 'origin', title: 'From the origin', value: fetches.origin.bytes, shown: write.bytes(fetches.origin.bytes),
      more: write.rate(newest(history.bytes.origin)) },
    { key: 'peer', title: 'From peers', value: fetches.peer.bytes, shown: write.bytes(fetches.peer.bytes),
      more: cluster ? `${write.rate(newest(history.bytes.peer))}, ${cluster.nodes} nodes` : 'no peers' },
    { key: 'errors', title: 'Failed reads', value: reads.errors, shown: write.count(reads.errors), bad: reads.errors > 0,
      more: `${write.count(fetches.origin.retries)} retries at the origin` },
  ]);
}

function showWaits() {
  // what readers do with what they have read is known by job only
  charts.readers ??= page.shows === 'all' ? READERS : READERS.slice(0, 2);
  const readers = charts.readers;
  charts.waits ??= new StackedChart('waits-chart', readers, { label: 'fetches in flight', color: 'accent' }, 'readers', write.decimal);
  charts.waits.show([history.times, ...readers.map((each) => history.waits[each.key]), smooth(history.fetches)]);
  charts.bytes ??= new StackedChart('bytes-chart', TIERS, undefined, undefined, write.rate, true);
  charts.bytes.show([history.times, ...TIERS.map((each) => history.bytes[each.key])]);
  fillRates('waits-table', 'Readers, of the last ten minutes', write.decimal, [
    ...readers.map((each) => ({ what: each.label, figures: history.waits[each.key] })),
    { what: 'fetches in flight', figures: history.fetches },
  ]);
  fillRates('bytes-table', 'Bytes a second, of the last ten minutes', write.rate,
    TIERS.map((each) => ({ what: each.label, figures: history.bytes[each.key] })));
  const now = (kinds, figures, format) => kinds.map((each) => `${each.label} ${format(newest(figures[each.key]))}`).join(', ');
  describe('waits-chart', `Readers now: ${now(readers, history.waits, write.decimal)}`);
  describe('bytes-chart', `Bytes a second now: ${now(TIERS, history.bytes, write.rate)}`);
}

function fillRates(id, caption, format, rows) {
  fill(id, caption, [
    { title: 'what', value: (row) => row.what, write: write.text },
    { title: 'now', number: true, value: (row) => newest(row.figures), write: format },
    { title: 'last minute', number: true, value: (row) => mean(row.figures, 60), write: format },
    { title: 'most', number: true, value: (row) => most(row.figures), write: format },
  ], rows, '');
}

function describe(id, words) {
  document.getElementById(id).setAttribute('aria-label', words);
}

function showJobs(stats) {
  const jobs = stats.jobs.jobs;
  document.getElementById('hidden-jobs').hidden = page.shows === 'all';
  fill('jobs-table', `Jobs by ${stats.jobs.by}, since the mount`, [
    { title: 'job', value: (job) => job.job, write: write.text },
    { title: 'waits for', value: verdict, write: write.text },
    { title: 'epoch', number: true, value: (job) => (job.epoch < 0 ? undefined : job.epoch), write: write.grouped },
    { title: 'processes', number: true, value: (job) => job.processes, write: write.grouped },
    { title: 'opens', number: true, value: (job) => job.opens, write: write.count },
    { title: 'misses', number: true, value: (job) => job.misses, write: write.count },
    { title: 'hit ratio', number: true, value: (job) => job.hit_ratio, write: write.ratio },
    { title: 'fetched', number: true, value: (job) => job.fetched_bytes, write: write.bytes },
    { title: 'stalled', number: true, value: (job) => job.stall_seconds, write: write.seconds },
  ], jobs, page.shows === 'all' ? 'No job has read yet.' : 'Jobs are shown to who has the token.');
  choose(jobs);
  const job = jobs.find((each) => each.job === document.getElementById('job').value);
  showEpochs(stats, job);
  showMemory(stats, job);
}

/** Offers the jobs; keeps the choice of the visitor. */
function choose(jobs) {
  const select = document.getElementById('job');
  const names = jobs.map((job) => job.job);
  const shown = [...select.options].map((option) => option.value);
  if (names.length !== shown.length || names.some((name) => !shown.includes(name))) {
    const chosen = select.value;
    select.replaceChildren(...names.map((name) => element('option', name, { value: name })));
    select.value = names.includes(chosen) ? chosen : names[0] ?? '';
  }
  select.disabled = names.length === 0;
}

function showEpochs(stats, job) {
  const epochs = job?.epochs ?? [];
  const planned = (epoch) => (epoch.epoch > 1 ? stats.cache.planned_hit_ratio : undefined);
  charts.epochs ??= new EpochChart('epochs-chart', write.ratio);
  charts.epochs.show([
    epochs.map((epoch) => epoch.epoch),
    epochs.map((epoch) => epoch.hit_ratio ?? null),
    epochs.map((epoch) => planned(epoch) ?? null),
  ]);
  fill('epochs-table', job ? `Epochs of ${job.job}; the first row is under way` : 'Epochs', [
    { title: 'epoch', number: true, value: (epoch) => epoch.epoch, write: write.grouped },
    { title: 'hit ratio', number: true, value: (epoch) => epoch.hit_ratio, write: write.ratio },
    { title: 'planned', number: true, value: planned, write: write.ratio },
    { title: 'opens', number: true, value: (epoch) => epoch.opens, write: write.count },
    { title: 'misses', number: true, value: (epoch) => epoch.misses, write: write.count },
    { title: 'took', number: true, value: (epoch) => epoch.seconds, write: write.seconds },
    { title: 'stalled', number: true, value: (epoch) => epoch.stall_seconds, write: write.seconds },
  ], [...epochs].reverse(), 'No epoch yet.');
  describe('epochs-chart', job ? `Hit ratio of ${epochs.length} epochs of ${job.job}, the last ${write.ratio(epochs.at(-1)?.hit_ratio)}` : 'No epoch yet');
}

function showMemory(stats, job) {
  const curve = page.what_if.find((each) => each.job === job?.job);
  const points = curve?.points ?? [];
  document.getElementById('memory-chart').hidden = points.length === 0;
  if (points.length > 0) {
    showCurve(curve, points);
  }
  const steps = points.filter((point) => point.share === curve.share || point.share === curve.knee_share || Number.isInteger(point.share * 4));
  fill('memory-table', `Speed by the share in memory of what the job reads${changes(stats.allocation)}`, [
    { title: 'share', value: (point) => point.share, write: write.percent },
    { title: 'point', value: (point) => point.words ?? [point.share === curve.share ? 'now' : '', point.share === curve.knee_share ? 'knee' : '', point.at_least ? 'or faster' : ''].filter(Boolean).join(', '), write: String },
    { title: 'capacity', number: true, value: (point) => point.capacity_bytes, write: write.bytes },
    { title: 'speed', number: true, value: (point) => point.bytes_per_second, write: write.rate },
    { title: 'epoch', number: true, value: (point) => point.epoch_seconds, write: write.seconds },
  ], [...steps, ...allocation(stats, curve)], job ? 'An epoch that waited for the origin is needed first.' : 'No job has read yet.');
  say('advice', curve?.advice ?? '');
  describe('memory-chart', curve?.advice ?? 'No curve yet');
}

/** The capacities that 'holdfast allocate' told the mount last, as rows below those of the curve. */
function allocation({ allocation: told, dataset }, curve) {
  if (!told) {
    return [];
  }
  const all = curve?.bytes ?? dataset.bytes;
  const share = (bytes) => (all > 0 ? Math.min(1, bytes / all) : undefined);
  return [
    { words: 'fair share', capacity_bytes: told.fair_share_bytes, share: share(told.fair_share_bytes) },
    { words: 'proposed', capacity_bytes: told.proposed_bytes, share: share(told.proposed_bytes) },
    { words: 'for all mounts', capacity_bytes: told.budget_bytes },
  ].filter((row) => row.capacity_bytes !== undefined);
}

function changes(told) {
  return told?.changed_seconds === undefined ? ''
    : `. 'holdfast allocate' has set the capacity ${write.times(told.changes)}, at ${write.instant(told.changed_seconds)} last`;
}

function showCurve(curve, points) {
  charts.memory ??= new CurveChart('memory-chart', write.rate);
  const only = (share) => points.map((point) => (point.share === share ? point.bytes_per_second : null));
  charts.memory.show([
    points.map((point) => point.share),
    points.map((point) => point.bytes_per_second),
    only(curve.share),
    only(curve.knee_share),
  ]);
}

function showErrors(stats) {
  const causes = (kind, counts) => Object.entries(counts).map(([cause, times]) => ({ kind, cause, times }));
  fill('errors-table', 'Failures since the mount, by cause', [
    { title: 'what failed', value: (row) => row.kind, write: write.text },
    { title: 'cause', value: (row) => row.cause, write: write.text },
    { title: 'times', number: true, value: (row) => row.times, write: write.grouped },
  ], [...causes('read', stats.errors.read), ...causes('fetch', stats.errors.fetch)].filter((row) => row.times > 0), 'Nothing has failed.');
}

/** Shows what changes seldom. */
function showPage() {
  fill('peers-table', 'Nodes of the cluster', [
    { title: 'node', value: (peer) => peer.node, write: write.text },
    { title: 'state', value: (peer) => (peer.difference ? `${peer.state}: ${peer.difference}` : peer.state), write: write.text },
    { title: 'capacity', number: true, value: (peer) => peer.capacity_bytes, write: write.bytes },
    { title: 'resident', number: true, value: (peer) => (peer.resident_bytes < 0 ? undefined : peer.resident_bytes), write: write.bytes },
    { title: 'share', number: true, value: (peer) => peer.share, write: write.ratio },
    { title: 'in', number: true, value: (peer) => peer.bytes_in, write: write.bytes },
    { title: 'out', number: true, value: (peer) => peer.bytes_out, write: write.bytes },
    { title: 'errors', number: true, value: (peer) => peer.errors, write: write.count },
    { title: 'median', number: true, value: (peer) => peer.p50_us, write: write.micros },
    { title: '99 %', number: true, value: (peer) => peer.p99_us, write: write.micros },
  ], page.peers, 'This mount has no peers.');
  fill('settings-table', 'Settings of this mount', [
    { title: 'setting', value: (row) => row.setting, write: write.text },
    { title: 'value', value: (row) => row.text, write: write.text },
    { title: 'from', value: (row) => row.source, write: write.text },
  ], page.settings, 'None.');
  fill('log-table', 'Warnings and errors of the log, the newest first', [
    { title: 'time', value: (row) => row.time, write: write.text },
    { title: 'level', value: (row) => row.level, write: write.text },
    { title: 'message', value: (row) => row.text, write: write.text },
  ], page.log, page.shows === 'all' ? 'The log has no warning.' : 'The log is shown to who has the token.');
  showCommands();
}

function showCommands() {
  const name = page.settings.find((row) => row.setting === 'name')?.text ?? 'NAME';
  const list = document.getElementById('commands-list');
  if (list.children.length > 0) {
    return;
  }
  for (const [command, what] of [
    [`holdfast stats ${name} --jobs`, 'The figures of each job and its epochs'],
    [`holdfast analyze ${name}`, 'What a job waits for, and what more memory would bring'],
    [`holdfast top ${name}`, 'The same live, in a terminal'],
    [`holdfast warm ${name}`, 'Bring into memory what fits, before a job'],
    [`holdfast capacity ${name} SIZE`, 'Give the mount more or less memory while it runs'],
    [`holdfast refresh ${name}`, 'Look for changes at the origin now'],
    [`holdfast doctor ${name}`, 'Say what is wrong, and what fixes it'],
  ]) {
    const line = element('li');
    const button = element('button', 'Copy', { type: 'button', 'aria-label': `Copy: ${command}` });
    button.addEventListener('click', () => copy(command, line));
    line.append(element('code', command), element('span', what), button);
    list.append(line);
  }
}

/** Copies a command; where the browser refuses, as without TLS from elsewhere, selects it. */
async function copy(command, line) {
  try {
    await navigator.clipboard.writeText(command);
    say('copied', `Copied: ${command}`);
  } catch {
    getSelection().selectAllChildren(line.querySelector('code'));
    say('copied', 'Selected: press Ctrl+C to copy it.');
  }
}

async function go() {
  if (!document.hidden) {
    await look();
  }
  setTimeout(go, LOOK_MILLIS);
}

document.getElementById('job').addEventListener('change', () => last && showJobs(last.stats));
document.addEventListener('visibilitychange', () => !document.hidden && look());
go();
