import type { Configuration } from '../../lib/configuration.ts';
import { shapedFleet } from './fleet.ts';
import { monthlyBill, sumOf, type Line } from './model.ts';
import { amount, dollars, grouped, markdownTable, percent } from '../common/markdown.ts';
import { hoursPerMonth, type Workload } from './workload.ts';

/** A report's tables in Markdown, by their titles. `docs/costs.md` holds them between markers of these titles. */
export function reportTables(configuration: Configuration, workload: Workload): Record<string, string> {
  return {
    'Line by line': linesTable(configuration, workload),
    'At other volumes': volumesTable(configuration, workload),
    [comparing]: comparisonTable(compare(configuration, workload)),
  };
}

export const comparing = 'Always on, or scaled to zero';

/** The dearest first. */
function linesTable(configuration: Configuration, workload: Workload): string {
  const { lines } = monthlyBill(configuration, workload);
  const row = ({ component, what, formula, quantity, price, usd }: Line) => {
    const per = price.per === undefined ? '' : ` for ${grouped(price.per)}`;
    const priceText = `$${price.usd.toLocaleString('en-US', { maximumFractionDigits: 12 })}${per}`;
    const [mark, free] = [price.unconfirmed ? ' (?)' : '', price.free ?? '–'];
    return [component, what, formula, amount(quantity), price.unit, priceText + mark, free, dollars(usd)];
  };
  return markdownTable(
    ['component', 'what', 'quantity a month', 'quantity:', 'unit', 'price', 'free a month', 'a month:'],
    [
      ...lines.toSorted((a, b) => b.usd - a.usd).map(row),
      ['**all**', '', '', '', '', '', '', dollars(sumOf(lines))],
    ],
  );
}

const volumes = [1000, 5000, 10_000, 50_000, 100_000, 200_000, 400_000];

/** The same workload at other volumes. */
function volumesTable(configuration: Configuration, workload: Workload): string {
  return markdownTable(
    ['generations:', 'instances:', 'utilization:', 'model per 1,000:', 'all else:', 'both:', 'a month:'],
    volumes.map((generationsPerMonth) => {
      const { fleet, lines } = monthlyBill(configuration, { ...workload, generationsPerMonth });
      const usd = sumOf(lines);
      const model = sumOf(lines.filter(({ component }) => component === 'Model'));
      const tooMuch = fleet !== null && fleet.peakUtilization > 1 ? ', more than can be generated' : '';
      const instances = fleet === null ? '–' : (fleet.instanceHours / hoursPerMonth).toFixed(1);
      const utilization = fleet === null ? '–' : percent(fleet.utilization) + tooMuch;
      const perThousand = [model, usd - model, usd].map((some) => perThousandOf(generationsPerMonth, some));
      return [grouped(generationsPerMonth), instances, utilization, ...perThousand, dollars(usd)];
    }),
  );
}

const perThousandOf = (count: number, usd: number) => dollars((usd * 1000) / count);

const imageVolumes = [1000, 5000, 10_000, 50_000, 100_000, 1_000_000];

/**
 * A month's model under the same traffic: an instance that always runs, and a model that may be scaled to zero. As many
 * instances as the busiest hours need, whatever `maxInstances` says: only what generates everything can be compared.
 * @returns null where no instance belongs to the deployment, which then has no choice.
 */
export function compare({ inference }: Configuration, workload: Workload) {
  if (inference.kind !== 'endpoint') return null;
  return imageVolumes.map((imagesPerMonth) => {
    const some = { ...workload, generationsPerMonth: imagesPerMonth / workload.outputs };
    const fleet = (minInstances: number) => {
      const of = shapedFleet({ ...inference, minInstances, maxInstances: Infinity }, some);
      return { ...of, usd: of.instanceHours * of.price.usd };
    };
    return { imagesPerMonth, alwaysOn: fleet(Math.max(1, inference.minInstances)), scaledToZero: fleet(0) };
  });
}

function comparisonTable(comparison: ReturnType<typeof compare>): string {
  if (comparison === null) return 'No instance belongs to this deployment, so there is nothing to choose.';
  return markdownTable(
    ['images:', 'instances:', 'always on:', 'per 1,000:', 'to zero:', 'per 1,000:', 'saved:', 'waiting:'],
    comparison.map(({ imagesPerMonth, alwaysOn, scaledToZero }) => [
      grouped(imagesPerMonth),
      String(alwaysOn.mostInstances),
      ...[alwaysOn, scaledToZero].flatMap(({ usd }) => [dollars(usd), perThousandOf(imagesPerMonth, usd)]),
      percent(1 - scaledToZero.usd / alwaysOn.usd),
      percent(scaledToZero.sittingsThatWait),
    ]),
  );
}
