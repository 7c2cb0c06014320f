/** Numbers and times in the reader's own locale. Times of the API are ISO 8601 UTC. */

const missing = '–';

export function formatNumber(value: number): string {
  return new Intl.NumberFormat().format(value);
}

/** `1 credit`, `1,500 credits`. */
export function formatCredits(value: number): string {
  return `${formatNumber(value)} ${value === 1 ? 'credit' : 'credits'}`;
}

/** `€49` or `€9.90`: an amount of a currency (ISO 4217), without decimals where it has none. */
export function formatPrice(price: number, currency: string): string {
  const style = { style: 'currency', currency, trailingZeroDisplay: 'stripIfInteger' } as const;
  return new Intl.NumberFormat(undefined, style).format(price);
}

/** `3 images`: a number with its noun. */
export function formatCount(value: number, singular: string, plural = `${singular}s`): string {
  return `${formatNumber(value)} ${value === 1 ? singular : plural}`;
}

/** `840 ms`, `2.4 s`, `1 min 12 s`. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 999.5) return `${Math.round(durationMs)} ms`;
  if (durationMs < 59_950) return `${formatNumber(Math.round(durationMs / 100) / 10)} s`;
  const seconds = Math.round(durationMs / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** `2.4 MB`, where a megabyte is 1024 × 1024 bytes. Rounded up, so that a size above a limit never reads like it. */
export function formatFileSize(bytes: number): string {
  if (bytes < 1024 * 1024) return `${formatNumber(Math.ceil(bytes / 1024))} KB`;
  return `${formatNumber(Math.ceil((bytes / 1024 / 1024) * 10) / 10)} MB`;
}

/** `Nov 21, 2026` in the reader's time zone. */
export function formatDate(iso: string | null): string {
  return formatTime(iso, { dateStyle: 'medium' });
}

/** `Nov 21, 2026, 11:44 AM` in the reader's time zone. */
export function formatDateTime(iso: string | null): string {
  return formatTime(iso, { dateStyle: 'medium', timeStyle: 'short' });
}

/** `Nov 21, 2026, 11:44:07 AM` in the reader's time zone. */
export function formatSeconds(iso: string): string {
  return formatTime(iso, { dateStyle: 'medium', timeStyle: 'medium' });
}

/** `Nov 21, 2026, 11:44:07 AM GMT+1`, for a title. */
export function formatExactTime(iso: string | null): string {
  return formatTime(iso, { dateStyle: 'medium', timeStyle: 'long' });
}

/** `Nov 21, 2026, 11:44 AM UTC` */
export function formatUtcDateTime(iso: string): string {
  return `${formatTime(iso, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })} UTC`;
}

/** A sentence of the service in which each moment is one that people read, in UTC like the days of billing. */
export function withReadableTimes(sentence: string): string {
  return sentence.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, formatUtcDateTime);
}

/** `Nov 21, 2026 UTC`: billing periods and their days are the same for everybody. A day is `YYYY-MM-DD`. */
export function formatUtcDate(isoOrDay: string | null): string {
  const text = formatTime(isoOrDay, { dateStyle: 'medium', timeZone: 'UTC' });
  return text === missing ? text : `${text} UTC`;
}

/** `Nov 21`: a UTC day without its year, for axes and small labels. */
export function formatUtcDay(isoOrDay: string): string {
  return formatTime(isoOrDay, { month: 'short', day: 'numeric', timeZone: 'UTC' });
}

/**
 * `5 minutes ago` or `in 3 days`, and the date beyond a month. Where this computer's clock puts what has happened into
 * the future, or what is to come into the past, it is wrong, and the moment itself is shown.
 */
export function formatRelative(iso: string | null, what: 'happened' | 'to come', nowMs: number): string {
  const timeMs = iso === null ? NaN : Date.parse(iso);
  if (Number.isNaN(timeMs)) return missing;
  const seconds = (timeMs - nowMs) / 1000;
  const distance = what === 'happened' ? -seconds : seconds;
  if (Math.abs(distance) < 45) return what === 'happened' ? 'just now' : 'in a moment';
  if (distance < 0) return formatDateTime(iso);
  const unit = relativeUnits.find(({ below }) => distance < below);
  if (unit === undefined) return formatDate(iso);
  const format = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
  return format.format(Math.round(seconds / unit.seconds) || Math.sign(seconds), unit.name);
}

const relativeUnits = [
  { name: 'minute', seconds: 60, below: 45 * 60 },
  { name: 'hour', seconds: 3600, below: 22 * 3600 },
  { name: 'day', seconds: 86_400, below: 30 * 86_400 },
] as const;

/** `2027-01-31T18:00`: what a date and time control takes, in the reader's zone. */
export function controlTime(timeMs: number): string {
  const time = new Date(timeMs);
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${String(time.getFullYear()).padStart(4, '0')}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day}T${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** `lic_…7Kq2`: enough of an id to distinguish two. */
export function shortId(id: string): string {
  return id.length <= 12 ? id : `${id.slice(0, id.indexOf('_') + 1)}…${id.slice(-4)}`;
}

function formatTime(iso: string | null, options: Intl.DateTimeFormatOptions): string {
  const timeMs = iso === null ? NaN : Date.parse(iso);
  return Number.isNaN(timeMs) ? missing : new Intl.DateTimeFormat(undefined, options).format(timeMs);
}
