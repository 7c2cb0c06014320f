import type { Configuration } from '../../lib/configuration.ts';
import { maxListed } from '../../shared/generations/sdk-try-store.ts';
import { maxAnswersWithImages } from '../../shared/generations/image-bytes-store.ts';
import { maxActiveKeys } from '../../shared/keys/slots.ts';
import { tiers } from '../../shared/licenses/tiers.ts';
import { unpaidLimits } from '../../shared/licenses/unpaid-runs.ts';
import { maxFileBytes } from '../../shared/openai/images.ts';
import { referenceLimits } from '../../shared/images/image-types.ts';
import type { RateLimit } from '../../shared/limits/rate-limit.ts';
import { identitiesLimit, listLimit, uploadLimit } from '../../shared/routes/limits.ts';
import { dollars, grouped, markdownTable } from '../common/markdown.ts';
import { fleetOf } from './fleet.ts';
import { prices, type Price } from './prices.ts';
import { assumptions, daysPerMonth, hoursPerMonth, type Workload } from './workload.ts';

export const abuseTitle = 'The worst month of one Starter license';

const minutesPerMonth = hoursPerMonth * 60;
const base64 = 4 / 3;
/** Of a refusal or of a small read: it waits for nothing. */
const request = { seconds: 0.02, MB: 256 };
/** Of a page of 100 stored requests: prompts as JSON escapes them, and three links of each. */
const pageBytes = 100 * 15_000;
/** Of a try that is stored. A read unit is 4 kB. */
const tryBytes = 240;
/** A search looks at a thousand records of 7 kB, four of them a unit. */
const searchUnits = 1750;
/** Of twenty identities with nine samples, each with two links. */
const identitiesBytes = 20 * 9 * 2 * 1500;
const lineBitsPerSecond = 100_000_000;

const cost = ({ usd, per = 1, unitSize = 1 }: Price, quantity: number) => (quantity * usd) / per / unitSize;
/** A request through the firewall, the API and a function that reads two items. */
const oneRequest =
  cost(prices.firewallRequests, 1) +
  cost(prices.apiRequests, 1) +
  cost(prices.lambdaRequests, 1) +
  cost(prices.lambdaDuration, request.seconds * request.MB) +
  cost(prices.tableReads, 2) +
  cost(prices.tableWrites, 1);

type Row = [what: string, most: string, bound: string, usd: number];

/** What one license bounds. */
function modelRows({ inference, asyncDeadlineSeconds: seconds }: Configuration, workload: Workload): Row[] {
  const { creditsPerMonth, maxInFlight, maxSidePx } = tiers.starter;
  const runs = (unpaidLimits.at(-1)!.runs - 1 + maxInFlight) * daysPerMonth;
  const hasInstances = inference.kind === 'endpoint';
  const hourUsd = hasInstances ? fleetOf(inference, workload).price.usd : 0;
  const idleMinutes = hasInstances ? inference.idleMinutes : 0;
  const awakeMinutes = assumptions.coldStartMinutes + idleMinutes + assumptions.leavingMinutes;
  const awakeHours = Math.min(hoursPerMonth, (runs * awakeMinutes) / 60);
  const deadlines = `${grouped(runs)} of ${seconds} s`;
  const imageBytes = maxFileBytes({ width: maxSidePx, height: maxSidePx }) * base64;
  const images = creditsPerMonth * maxAnswersWithImages;
  const ofImages = `${grouped(images)} answers of ${grouped(imageBytes / 1e6)} MB`;
  const imagesUsd = images * (oneRequest + cost(prices.internet, imageBytes));
  return [
    ['runs that nobody pays for', deadlines, 'its license', (runs * seconds * hourUsd) / 3600],
    ['such runs, scaled to zero', `${grouped(awakeHours)} hours awake`, 'its license', awakeHours * hourUsd],
    ['images themselves', ofImages, 'its credits', imagesUsd],
  ];
}

/** What requests and bytes cost, of its keys and of anybody. */
function requestRows({ requestsPerAddress }: Configuration): Row[] {
  const byKeys = (perMinute: number) => perMinute * maxActiveKeys * minutesPerMonth;
  const reads = ({ quota }: RateLimit, bytes: number, units = 0): [string, string, number] => [
    `${grouped(byKeys(quota) / 1e6)} million of ${units > 0 ? `${grouped(units)} units` : `${grouped(bytes / 1000)} kB`}`,
    "its keys' limits",
    byKeys(quota) * (oneRequest + cost(prices.internet, bytes) + cost(prices.tableReads, units)),
  ];
  const uploads = byKeys(uploadLimit.quota);
  const { maxBytes } = referenceLimits;
  const kept = (uploads / daysPerMonth) * 1.5 * maxBytes;
  const ofUploads = `${grouped(uploads / 1e6)} million of ${grouped(maxBytes / 1e6)} MB`;
  const uploadsUsd = uploads * (oneRequest + cost(prices.objectWrites, 1)) + cost(prices.objectStorage, kept);
  const refused = (requestsPerAddress / 5) * minutesPerMonth;
  const ofRefused = `${grouped(refused / 1e6)} million an address`;
  const oneNote = cost(prices.tableReads, (maxListed * tryBytes) / 4000) + cost(prices.tableWrites, 1);
  const lineBytes = (lineBitsPerSecond / 8) * 3600 * hoursPerMonth;
  const ofLine = `${grouped(lineBytes / 1e12)} TB by a line of 100 Mbit/s`;
  return [
    ['searches in stored requests', ...reads(listLimit, 0, searchUnits)],
    ['lists of stored requests', ...reads(listLimit, pageBytes)],
    ['lists of identities', ...reads(identitiesLimit, identitiesBytes)],
    ['uploads, kept for 36 hours', ofUploads, "its keys' limits", uploadsUsd],
    ['refused requests, of anybody', ofRefused, '`requestsPerAddress`', refused * oneRequest],
    ["refused tries of OpenAI's SDKs", ofRefused, '`requestsPerAddress`', refused * (oneRequest + oneNote)],
    ['downloads by signed links', ofLine, 'an alarm hears of it', cost(prices.internet, lineBytes)],
  ];
}

/**
 * What one Starter license can cost in a month beyond what it pays for, where somebody does nothing else with all its keys,
 * and what strangers can. Each row by itself.
 */
export function abuseTable(configuration: Configuration, workload: Workload): string {
  const rows = [...modelRows(configuration, workload), ...requestRows(configuration)];
  return markdownTable(
    ['what', 'at most a month', 'bounded by', 'a month:'],
    rows.map(([what, most, bound, usd]) => [what, most, bound, dollars(usd)]),
  );
}
