import { monthlyBill, paintSeconds, type Deployment } from './model.ts';
import { firstVolume } from './compare.ts';
import { fleetOf, type Fleet } from './fleet.ts';
import { dollars, grouped, markdownTable, percent } from './tables.ts';
import { assumptions, hoursPerMonth, type Workload } from './workload.ts';

const volumes = [1000, 5000, 10_000, 50_000, 100_000, 200_000, 400_000];
const imagePrices = [0.2, 0.1, 0.05, 0.02, 0.01];
const utilizations = [0.05, 0.1, 0.25, 0.5, 0.7, 1];
const noModel = 'No instance belongs to this deployment.';

function billOf(deployment: Deployment, workload: Workload, generationsPerMonth: number) {
  const { fleet, lines } = monthlyBill(deployment, { ...workload, generationsPerMonth });
  const of = (isModel: boolean) =>
    lines
      .filter(({ component }) => (component === 'Model') === isModel)
      .reduce((sum, { usd }) => sum + usd, 0);
  return { fleet, model: of(true), rest: of(false) };
}

/** The same workload at other volumes. */
export function volumesTable(deployment: Deployment, workload: Workload): string {
  return markdownTable(
    [
      'generations a month:',
      'instances, on average:',
      'utilization:',
      'model per 1,000:',
      'all else per 1,000:',
      'together:',
      'a month:',
    ],
    volumes.map((generations) => {
      const { fleet, model, rest } = billOf(deployment, workload, generations);
      const perThousand = 1000 / generations;
      return [
        grouped(generations),
        fleet === null ? '–' : (fleet.instanceHours / hoursPerMonth).toFixed(1),
        fleet === null ? '–' : utilizationText(fleet),
        dollars(model * perThousand),
        dollars(rest * perThousand),
        dollars((model + rest) * perThousand),
        dollars(model + rest),
      ];
    }),
  );
}

function utilizationText({ utilization, peakUtilization }: Fleet): string {
  return peakUtilization > 1 ? `**${percent(utilization)}**, more than can be painted` : percent(utilization);
}

/** Cost of the GPU alone, by the share of time in which it paints. */
export function utilizationTable({ configuration }: Deployment, workload: Workload): string {
  const fleet = fleetOf(configuration.inference, workload);
  if (fleet === null) return noModel;
  const atFull = (fleet.usdPerHour * paintSeconds(workload) * 1000) / 3600;
  const perInstance = (hoursPerMonth * 3600) / paintSeconds(workload);
  return markdownTable(
    ['utilization:', 'generations a month and instance:', 'model per 1,000 generations:'],
    utilizations.map((share) => [percent(share), grouped(perInstance * share), dollars(atFull / share)]),
  );
}

/** How many generations it takes until an image at some price pays for everything. */
export function breakEvenTable(deployment: Deployment, workload: Workload): string {
  const { inference } = deployment.configuration;
  if (inference.kind !== 'endpoint') return noModel;
  const breakEven = inference.minInstances === 0 ? breakEvenAsleep : breakEvenAlwaysOn;
  return markdownTable(
    ['price of an image:', 'generations a month that pay:', 'utilization of what always runs:'],
    imagePrices.map((price) => [
      dollars(price),
      ...breakEven(deployment, workload, price * workload.outputs),
    ]),
  );
}

const noneDo = ['none do', '–'];

/**
 * Fixed cost ÷ (price − what one more costs). Past the utilization at which scaling adds instances, more of them pay for
 * no more.
 */
function breakEvenAlwaysOn(deployment: Deployment, workload: Workload, price: number): string[] {
  const idle = billOf(deployment, workload, 0);
  const busier = billOf(deployment, workload, 1000);
  const margin = price - (busier.rest - idle.rest) / 1000;
  const generations = (idle.model + idle.rest) / margin;
  const fleet = fleetOf(deployment.configuration.inference, {
    ...workload,
    generationsPerMonth: generations,
  })!;
  const share = fleet.paintHours / fleet.fewestHours;
  if (margin <= 0 || share > assumptions.scalingUtilization.value) return noneDo;
  return [grouped(generations), percent(share)];
}

/** Nothing of the model's cost is fixed where it sleeps, so the volume is searched for. */
function breakEvenAsleep(deployment: Deployment, workload: Workload, price: number): string[] {
  const bill = (generations: number) => billOf(deployment, workload, generations);
  const generations = firstVolume((some) => bill(some).model + bill(some).rest <= price * some);
  if (generations === null || bill(generations).fleet!.peakUtilization > 1) {
    return noneDo;
  }
  return [grouped(generations), '–'];
}
