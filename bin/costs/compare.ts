import { shapedFleet, type Fleet } from './fleet.ts';
import { monthlyBill, sumOf, type Deployment } from './model.ts';
import { peers, type Peer } from './peers.ts';
import type { Endpoint, Sleep } from './sleep.ts';
import { hourlyLoads } from './traffic.ts';
import { assumptions, type Workload } from './workload.ts';

const volumes = [1000, 10_000, 100_000, 1_000_000];
const sittings = [1, 5, 20];
const mostImages = 1_000_000_000;

/** A month's model under the same traffic: an instance that always runs, and one that sleeps when nobody paints. */
export interface ComparedVolume {
  imagesPerMonth: number;
  /** Instances in the busiest hours. */
  mostInstances: number;
  alwaysOn: { instanceHours: number; usd: number };
  asleepWhenIdle: { instanceHours: number; usd: number; sleep: Sleep };
  /** The rest of the service's bill, nearly the same with either. */
  allElseUsd: number;
  /** What the cheapest and the dearest of them list for as many images. */
  peersUsd: { cheapest: number; dearest: number } | null;
}

export interface ComparedPeer extends Peer {
  /** From so many images a month one's own model, asleep when idle, costs less; null if it never does. */
  cheaperFromImages: number | null;
  /** If a megapixel takes longer, one's own model costs more even when it is as busy as scaling lets it be. */
  atMostSeconds: number;
}

export interface ComparedSitting {
  imagesPerSitting: number;
  asleepWhenIdle: { instanceHours: number; usd: number };
  savesHalfUpToImages: number | null;
  savesLittleFromImages: number | null;
}

export interface Comparison {
  volumes: ComparedVolume[];
  peers: ComparedPeer[];
  /** The workload's volume with other sittings, which matter more than anything else that nobody knows. */
  sittings: ComparedSitting[];
  /** Up to so many images sleeping saves half of the model's bill. */
  savesHalfUpToImages: number | null;
  /** From so many images it saves less than a tenth of it. */
  savesLittleFromImages: number | null;
}

/**
 * As many instances as the busiest hours need, whatever `maxInstances` says, since only choices that paint everything can
 * be compared.
 * @returns null where no instance belongs to the deployment, which then has no choice.
 */
export function compare({ configuration, counts }: Deployment, workload: Workload): Comparison | null {
  const { inference } = configuration;
  if (inference.kind !== 'endpoint') return null;
  const choices = (images: number) => choicesOf(inference, withImages(workload, images));
  const perImage = (images: number) => usdOf(choices(images).asleep) / images;
  return {
    volumes: volumes.map((images) =>
      comparedVolume(images, inference, { configuration, counts }, withImages(workload, images)),
    ),
    peers: comparable(workload).map((peer) => ({
      ...peer,
      cheaperFromImages: firstVolume((images) => perImage(images) < peer.usdPerImage),
      atMostSeconds: secondsFor(peer.usdPerImage, choices(1).asleep),
    })),
    sittings: sittings.map((imagesPerSitting) =>
      comparedSitting(inference, { ...workload, imagesPerSitting }),
    ),
    ...savings(inference, workload),
  };
}

function comparedSitting(inference: Endpoint, workload: Workload): ComparedSitting {
  const { asleep } = choicesOf(inference, workload);
  return {
    imagesPerSitting: workload.imagesPerSitting,
    asleepWhenIdle: { instanceHours: asleep.instanceHours, usd: usdOf(asleep) },
    ...savings(inference, workload),
  };
}

/** Between which volumes sleeping saves some of what the model costs, but not most of it. */
function savings(inference: Endpoint, workload: Workload) {
  const saved = (images: number) => {
    const { alwaysOn, asleep } = choicesOf(inference, withImages(workload, images));
    return 1 - asleep.instanceHours / alwaysOn.instanceHours;
  };
  const lessThanHalf = firstVolume((images) => saved(images) < 0.5);
  return {
    savesHalfUpToImages: lessThanHalf === null || lessThanHalf === 1 ? null : lessThanHalf - 1,
    savesLittleFromImages: firstVolume((images) => saved(images) < 0.1),
  };
}

/** Peers' prices are for one megapixel, and they charge for others in ways of their own. */
function comparable({ megapixels }: Workload): readonly Peer[] {
  return megapixels === 1 ? peers : [];
}

function withImages(workload: Workload, images: number): Workload {
  return { ...workload, generationsPerMonth: images / workload.outputs };
}

function choicesOf(inference: Endpoint, workload: Workload): { alwaysOn: Fleet; asleep: Fleet } {
  const enough = { ...inference, maxInstances: Infinity };
  return {
    alwaysOn: shapedFleet({ ...enough, minInstances: Math.max(1, inference.minInstances) }, workload),
    asleep: shapedFleet({ ...enough, minInstances: 0 }, workload),
  };
}

function comparedVolume(
  imagesPerMonth: number,
  inference: Endpoint,
  deployment: Deployment,
  workload: Workload,
): ComparedVolume {
  const { alwaysOn, asleep } = choicesOf(inference, workload);
  const busiest = Math.max(...hourlyLoads(workload).map(({ paintHours }) => paintHours));
  const { lines } = monthlyBill(deployment, workload);
  const prices = comparable(workload).map(({ usdPerImage }) => usdPerImage * imagesPerMonth);
  return {
    imagesPerMonth,
    mostInstances: Math.max(1, Math.ceil(busiest / assumptions.scalingUtilization.value)),
    alwaysOn: { instanceHours: alwaysOn.instanceHours, usd: usdOf(alwaysOn) },
    asleepWhenIdle: {
      instanceHours: asleep.instanceHours,
      usd: usdOf(asleep),
      sleep: asleep.sleep!,
    },
    allElseUsd: sumOf(lines.filter(({ component }) => component !== 'Model')),
    peersUsd: prices.length === 0 ? null : { cheapest: Math.min(...prices), dearest: Math.max(...prices) },
  };
}

function usdOf({ instanceHours, usdPerHour }: Fleet): number {
  return instanceHours * usdPerHour;
}

/** Seconds of an instance that is as busy as scaling lets it be, for the price of an image. */
function secondsFor(usd: number, { usdPerHour }: Fleet): number {
  return (usd / usdPerHour) * 3600 * assumptions.scalingUtilization.value;
}

/** The first volume for which something holds that holds for all larger ones; null if there is none. */
export function firstVolume(holds: (images: number) => boolean): number | null {
  if (!holds(mostImages)) return null;
  let [without, withIt] = [0, mostImages];
  while (withIt - without > 1) {
    const middle = Math.floor((without + withIt) / 2);
    if (holds(middle)) withIt = middle;
    else without = middle;
  }
  return withIt;
}
