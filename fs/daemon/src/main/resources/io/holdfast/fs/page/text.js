// How figures are written: as the commands write them, in every language the same.

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
const COUNT_UNITS = ['', 'k', 'M', 'G', 'T', 'P', 'E'];
const NOTHING = '–';

function threeDigits(value) {
  return value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

/** Bytes with three digits: 601 GiB, 1.23 TiB, 0 B. */
export function bytes(value) {
  if (!isNumber(value)) {
    return NOTHING;
  }
  let unit = 0;
  let rest = value;
  while (rest >= 999.5 && unit < BYTE_UNITS.length - 1) {
    rest /= 1024;
    unit++;
  }
  return `${unit === 0 ? Math.round(rest) : threeDigits(rest)} ${BYTE_UNITS[unit]}`;
}

/** Bytes in a second. */
export function rate(value) {
  return isNumber(value) ? `${bytes(value)}/s` : NOTHING;
}

/** A number in groups of three: 1,234,567. */
export function grouped(value) {
  return isNumber(value) ? String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',') : NOTHING;
}

/** A number: in full below 100,000, else 300 k, 1.2 M. */
export function count(value) {
  if (!isNumber(value) || value < 100000) {
    return grouped(value);
  }
  let unit = 0;
  let rest = value;
  while (rest >= 999.5 && unit < COUNT_UNITS.length - 1) {
    rest /= 1000;
    unit++;
  }
  return `${rest.toFixed(rest < 9.95 ? 1 : 0)} ${COUNT_UNITS[unit]}`;
}

/** A small number with one or two decimals: 3.4. */
export function decimal(value) {
  return isNumber(value) ? value.toFixed(value < 9.95 ? 2 : 1) : NOTHING;
}

/** A ratio with two decimals, never rounded up to 1.00: 0.65. */
export function ratio(value) {
  return isNumber(value) ? (value < 1 ? Math.min(value, 0.99) : value).toFixed(2) : NOTHING;
}

/** A share in percent: 65 %. */
export function percent(value) {
  return isNumber(value) ? `${Math.round(value * 100)} %` : NOTHING;
}

/** A span of time with its two largest units: 2 d 3 h, 5 min 12 s, 4 s. */
export function seconds(value) {
  if (!isNumber(value)) {
    return NOTHING;
  }
  const whole = Math.floor(value);
  if (whole < 60) {
    return value < 10 && value !== whole ? `${value.toFixed(1)} s` : `${whole} s`;
  }
  if (whole < 3600) {
    return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  }
  if (whole < 86400) {
    return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
  }
  return `${Math.floor(whole / 86400)} d ${Math.floor((whole % 86400) / 3600)} h`;
}

/** A time in microseconds: 850 us, 12.3 ms. */
export function micros(value) {
  if (!isNumber(value) || value === 0) {
    return NOTHING;
  }
  return value < 1000 ? `${value} us` : `${(value / 1000).toFixed(1)} ms`;
}

/** A number of times: 1 time, 2 times. */
export function times(value) {
  return `${grouped(value)} ${value === 1 ? 'time' : 'times'}`;
}

/** A moment, given in seconds since 1970: 2026-01-31T12:00:00Z. */
export function instant(value) {
  return isNumber(value) ? new Date(value * 1000).toISOString().replace('.000Z', 'Z') : NOTHING;
}

/** A text, or a dash where there is none. */
export function text(value) {
  return value === undefined || value === null || value === '' ? NOTHING : String(value);
}

export function isNumber(value) {
  return typeof value === 'number' && Number.isFinite(value);
}
