// Charts by uPlot. Each stands beside a table with the same figures, so that nobody needs to see it.
/* global uPlot */

const HEIGHT = 240;
const dark = window.matchMedia('(prefers-color-scheme: dark)');
const charts = new Set();

function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Steps of an axis of bytes: powers of two, as the units are. */
const BINARY_STEPS = Array.from({ length: 60 }, (_, i) => 2 ** i);

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

function time(at) {
  return clock.format(at * 1000);
}

function axis(label, values, size = 66) {
  return {
    label,
    labelSize: 18,
    labelFont: '12px system-ui, sans-serif',
    font: '12px system-ui, sans-serif',
    stroke: () => color('soft'),
    grid: { stroke: () => color('line'), width: 1 },
    ticks: { stroke: () => color('line'), width: 1 },
    ...(values ? { values: (_, splits) => splits.map((each) => values(each)) } : {}),
    ...(size ? { size } : {}),
  };
}

/** A chart that is as wide as its place, and drawn again in the colors of another theme. */
class Chart {
  constructor(id, options) {
    this.place = document.getElementById(id);
    this.place.setAttribute('role', 'img');
    this.options = options;
    this.data = options.series.map(() => []);
    this.plot = new uPlot({ ...options, width: this.width(), height: HEIGHT }, this.data, this.place);
    charts.add(this);
    new ResizeObserver(() => this.fit()).observe(this.place);
  }

  width() {
    return Math.max(200, Math.floor(this.place.clientWidth));
  }

  fit() {
    if (Math.abs(this.plot.width - this.width()) > 1) {
      this.plot.setSize({ width: this.width(), height: HEIGHT });
    }
  }

  show(data) {
    this.data = data;
    this.plot.setData(data);
  }
}

dark.addEventListener('change', () => {
  for (const chart of charts) {
    chart.plot.destroy();
    chart.plot = new uPlot(
      { ...chart.options, width: chart.width(), height: HEIGHT }, chart.data, chart.place);
  }
});

function line(label, name, write, more = {}) {
  return {
    label,
    stroke: () => color(name),
    width: 2,
    points: { show: false },
    value: (_, value) => (value === null || value === undefined ? '–' : write(value)),
    ...more,
  };
}

/**
 * Tiers above each other, over time. Data of show(): the times in seconds, then the figures of each
 * tier, then those of the line, if there is one.
 */
export class StackedChart extends Chart {
  /**
   * @param tiers label and name of the color of each, the lowest first
   * @param over a line that is no part of the stack, or undefined
   * @param binary whether the figures are bytes
   */
  constructor(id, tiers, over, label, write, binary = false) {
    // the top first: the line of a tier that is nothing is covered by that of the tier below
    const areas = tiers.map((_, i) => tiers[tiers.length - 1 - i]).map((tier, i) =>
      line(tier.label, tier.color, write, {
        fill: () => color(`${tier.color}-area`),
        value: (plot, _, __, index) => heightOf(plot, i + 1, tiers.length, index, write),
      }));
    super(id, {
      padding: [8, 36, 0, 0],
      cursor: { drag: { x: false, y: false } },
      scales: { x: { time: true }, y: { range: (_, __, max) => [0, Math.max(max * 1.1, 0.001)] } },
      axes: [{ ...axis(undefined, time, 36), space: 90 }, { ...axis(label, write, 78), ...(binary ? { incrs: BINARY_STEPS } : {}) }],
      series: [
        { label: 'time', value: (_, at) => (at === null ? '–' : time(at)) },
        ...areas,
        ...(over ? [line(over.label, over.color, write, { dash: [4, 4] })] : []),
      ],
      // an area is filled down to the one below it
      bands: tiers.slice(1).map((_, i) => ({ series: [i + 1, i + 2] })),
    });
    this.tiers = tiers;
  }

  show([times, ...figures]) {
    const sums = [];
    for (let tier = 0; tier < this.tiers.length; tier++) {
      sums.push(figures[tier].map((each, k) => (each === null ? null : each + (sums[tier - 1]?.[k] ?? 0))));
    }
    super.show([times, ...sums.reverse(), ...figures.slice(this.tiers.length)]);
  }
}

/** Writes the height of a tier, which stands on the next series. */
function heightOf(plot, series, tiers, index, write) {
  const top = index === null ? null : plot.data[series][index];
  if (top === null || top === undefined) {
    return '–';
  }
  return write(series === tiers ? top : top - plot.data[series + 1][index]);
}

/** Bars of what was measured, and a line of what was planned; data: epochs, measured, planned. */
export class EpochChart extends Chart {
  constructor(id, write) {
    super(id, {
      padding: [8, 36, 0, 0],
      cursor: { drag: { x: false, y: false } },
      scales: {
        x: { time: false, range: (_, min, max) => [(min ?? 1) - 0.6, (max ?? 1) + 0.6] },
        y: { range: [0, 1] },
      },
      axes: [
        { ...axis('epoch', (each) => (Number.isInteger(each) ? String(each) : ''), 36), incrs: [1, 2, 5, 10] },
        axis('hit ratio', (each) => each.toFixed(1)),
      ],
      series: [
        { label: 'epoch' },
        line('measured', 'memory', write, {
          paths: uPlot.paths.bars({ size: [0.6, 60] }),
          fill: () => color('memory-area'),
        }),
        line('planned', 'accent', write, { dash: [6, 4] }),
      ],
    });
  }
}

/** Speed by the share in memory of what the job reads, and the points that matter. */
export class CurveChart extends Chart {
  constructor(id, write) {
    super(id, {
      padding: [8, 36, 0, 0],
      cursor: { drag: { x: false, y: false } },
      scales: {
        x: { time: false, range: [0, 1] },
        y: { range: (_, __, max) => [0, Math.max(max * 1.1, 1)] },
      },
      axes: [
        axis('share in memory of what the job reads', (each) => `${Math.round(each * 100)} %`, 36),
        { ...axis(undefined, write, 78), incrs: BINARY_STEPS },
      ],
      series: [
        { label: 'share', value: (_, each) => (each === null ? '–' : `${Math.round(each * 100)} %`) },
        line('speed', 'memory', write),
        line('now', 'accent', write, { width: 0, points: { show: true, size: 12, fill: () => color('accent') } }),
        line('knee', 'origin', write, { width: 0, points: { show: true, size: 9, fill: () => color('ground') } }),
      ],
    });
  }
}
