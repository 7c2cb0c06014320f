import type { Configuration } from '../../lib/configuration.ts';
import { cards } from '../../lib/gpus.ts';
import { fleetOf } from './fleet.ts';
import { monthlyBill, sumOf, type Line } from './model.ts';
import { amount, dollars, grouped, markdownTable, percent } from '../common/markdown.ts';
import type { Workload } from './workload.ts';

/** A report's tables in Markdown, by their titles. `docs/costs.md` holds them between markers of these titles. */
export function reportTables(configuration: Configuration, workload: Workload): Record<string, string> {
  return {
    'Line by line': linesTable(configuration, workload),
    'Seconds by card': cardsTable(),
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

function cardsTable(): string {
  return markdownTable(
    ['card', 'instances', 'seconds:', 'how', 'settings', 'from'],
    cards.map(({ name, families, seconds, how, settings, source }) => {
      const types = families.map((family) => `ml.${family}`).join(', ');
      return [name, types, seconds === null ? '–' : String(seconds), how, settings, source];
    }),
  );
}

const volumes = [1000, 5000, 10_000, 50_000, 100_000, 1_000_000];

/**
 * The same workload at other volumes, with an instance that always runs and with a model that may be scaled to zero; null
 * where no instance belongs to the deployment. As many instances run as the busiest hours need, whatever `maxInstances`
 * says: only what generates everything can be compared.
 */
export function compare(configuration: Configuration, workload: Workload) {
  const { inference } = configuration;
  return volumes.map((imagesPerMonth) => {
    const some = { ...workload, generationsPerMonth: imagesPerMonth / workload.outputs };
    const { lines } = monthlyBill(configuration, some);
    const fleet = (least: 0 | 1) => {
      if (inference.kind !== 'endpoint') return null;
      const minInstances = least * Math.max(1, inference.minInstances);
      const of = fleetOf({ ...inference, minInstances, maxInstances: Infinity }, some);
      return { ...of, usd: of.instanceHours * of.price.usd };
    };
    return {
      imagesPerMonth,
      allElseUsd: sumOf(lines.filter(({ component }) => component !== 'Model')),
      alwaysOn: fleet(1),
      scaledToZero: fleet(0),
    };
  });
}

function comparisonTable(comparison: ReturnType<typeof compare>): string {
  return markdownTable(
    [
      'images:',
      'instances:',
      'always on:',
      'to zero:',
      'saved:',
      'waiting:',
      'all else:',
      '1,000 on:',
      '1,000 to zero:',
    ],
    comparison.map(({ imagesPerMonth, allElseUsd, alwaysOn, scaledToZero }) => {
      const perThousand = (usd = 0) => dollars(((usd + allElseUsd) * 1000) / imagesPerMonth);
      const choice =
        alwaysOn === null || scaledToZero === null
          ? ['–', '–', '–', '–', '–']
          : [
              String(alwaysOn.mostInstances),
              dollars(alwaysOn.usd),
              dollars(scaledToZero.usd),
              percent(1 - scaledToZero.usd / alwaysOn.usd),
              percent(scaledToZero.sittingsThatWait),
            ];
      const sums = [dollars(allElseUsd), perThousand(alwaysOn?.usd), perThousand(scaledToZero?.usd)];
      return [grouped(imagesPerMonth), ...choice, ...sums];
    }),
  );
}
