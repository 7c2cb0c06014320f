import type { Inference } from '../../lib/configuration.ts';
import type { ComparedPeer, ComparedVolume, Comparison } from './compare.ts';
import { peersReadOn } from './peers.ts';
import { monthPicture, weekPicture } from './pictures.ts';
import { amount, dollars, grouped, markdownTable, percent } from './tables.ts';
import { trafficShape } from './traffic.ts';
import { assumptions, type Workload } from './workload.ts';

const noModel = 'No instance belongs to this deployment, so there is nothing to choose.';
const noPeers = 'Peers list prices for images of one megapixel, so other sizes are not compared.';

export function trafficTable({ imagesPerSitting }: Workload): string {
  const shape = markdownTable(
    ['hours', 'when', 'of the week:', 'share of the images:'],
    Object.values(trafficShape).map(({ name, when, hoursPerWeek, share }) => [
      name,
      when,
      `${hoursPerWeek} h`,
      percent(share),
    ]),
  );
  const minutes = assumptions.sittingPauseMinutes.value;
  return `${shape}

Hours belong to the first line that fits. Within an hour people come by chance. Each makes ${imagesPerSitting} images one after another, with
${minutes} min between two: a sitting.`;
}

export function comparisonTable(comparison: Comparison | null): string {
  if (comparison === null) return noModel;
  return markdownTable(
    [
      'images a month:',
      'instances, at most:',
      'always on, hours:',
      'always on:',
      'asleep when idle, hours:',
      'asleep when idle:',
      'saved:',
      'sittings that wait:',
      'hosted elsewhere:',
      'all else:',
    ],
    comparison.volumes.map((volume) => [
      grouped(volume.imagesPerMonth),
      String(volume.mostInstances),
      grouped(volume.alwaysOn.instanceHours),
      dollars(volume.alwaysOn.usd),
      grouped(volume.asleepWhenIdle.instanceHours),
      dollars(volume.asleepWhenIdle.usd),
      shareText(1 - volume.asleepWhenIdle.usd / volume.alwaysOn.usd),
      shareText(waiting(volume)),
      hosted(volume),
      dollars(volume.allElseUsd),
    ]),
  );
}

function shareText(share: number): string {
  return share < 0.001 ? '< 0.1%' : percent(share);
}

/** The share of sittings whose first image finds the model asleep or waking. */
function waiting({ asleepWhenIdle: { sleep } }: ComparedVolume): number {
  return sleep.findAsleep + sleep.findWaking;
}

function hosted({ peersUsd }: ComparedVolume): string {
  return peersUsd === null ? '–' : `${dollars(peersUsd.cheapest)} to ${dollars(peersUsd.dearest)}`;
}

/** What the comparison comes to, in sentences. */
export function choiceText(comparison: Comparison | null, workload: Workload): string {
  if (comparison === null) return noModel;
  const { savesHalfUpToImages: half, savesLittleFromImages: little } = comparison;
  const minutes = assumptions.wakingMinutes.value;
  const sentences = [
    half === null
      ? 'At no volume does sleeping save half of what the model costs.'
      : `**Up to ${about(half, Math.floor)} images a month, let it sleep** (\`minInstances: 0\`). That saves at least half of what the model costs.`,
    little === null
      ? 'At every volume it saves at least a tenth.'
      : `**From ${about(little, Math.ceil)} images a month on, keep an instance running** (\`minInstances: 1\`). Sleeping saves less than a tenth.`,
    `Between the two, ask what it is worth that nobody waits ${minutes} minutes for a first image.`,
    ...peerSentences(comparison, workload),
  ];
  return sentences.map((sentence) => `- ${sentence}`).join('\n');
}

/** One's own model that sleeps costs at most as much as one that doesn't, so it is the one to compare with. */
function peerSentences({ peers }: Comparison, { secondsPerMegapixel }: Workload): string[] {
  if (peers.length === 0) return [noPeers];
  const named = ({ service, model, usdPerImage }: ComparedPeer) => `${service} ($${usdPerImage}, ${model})`;
  const [always, below] = [
    peers.filter(({ cheaperFromImages }) => cheaperFromImages === null),
    peers.filter(({ cheaperFromImages }) => cheaperFromImages !== null),
  ];
  const seconds = `${amount(secondsPerMegapixel)} s for a megapixel`;
  return [
    ...(always.length === 0
      ? []
      : [
          `At ${seconds} these cost less than one's own model at any volume: ${always.map(named).join(', ')}.`,
        ]),
    ...below.map(
      (peer) =>
        `${named(peer)} costs less than one's own model below ${about(peer.cheaperFromImages!, Math.ceil)} images a month, and more above.`,
    ),
  ];
}

/** Two digits: the traffic is a guess, so more would say what nobody knows. */
function about(images: number, round: (number: number) => number): string {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(images)) - 1);
  return grouped(round(images / unit) * unit);
}

export function sittingsTable(comparison: Comparison | null): string {
  if (comparison === null) return noModel;
  const volume = (images: number | null, round: (number: number) => number) =>
    images === null ? 'no volume' : about(images, round);
  return markdownTable(
    [
      'images of a sitting:',
      'asleep when idle, hours:',
      'asleep when idle:',
      'saves half up to:',
      'saves under a tenth from:',
    ],
    comparison.sittings.map((sitting) => [
      String(sitting.imagesPerSitting),
      grouped(sitting.asleepWhenIdle.instanceHours),
      dollars(sitting.asleepWhenIdle.usd),
      volume(sitting.savesHalfUpToImages, Math.floor),
      volume(sitting.savesLittleFromImages, Math.ceil),
    ]),
  );
}

export function peersTable(comparison: Comparison | null): string {
  if (comparison === null) return noModel;
  if (comparison.peers.length === 0) return noPeers;
  const table = markdownTable(
    [
      'service',
      'model',
      'an image:',
      'own model is cheaper from:',
      'own model paints a megapixel in, at most:',
      'listed',
      'page',
    ],
    comparison.peers.map((peer) => [
      peer.service,
      peer.model,
      `$${peer.usdPerImage}`,
      peer.cheaperFromImages === null ? 'no volume' : `${about(peer.cheaperFromImages, Math.ceil)} a month`,
      `${amount(peer.atMostSeconds)} s`,
      peer.listed,
      `<${peer.source}>`,
    ]),
  );
  return `As listed on the date in the line, read on ${peersReadOn}.\n\n${table}`;
}

export function pictures(inference: Inference, workload: Workload, comparison: Comparison | null): string {
  if (comparison === null || inference.kind !== 'endpoint') return noModel;
  const { generationsPerMonth, outputs } = workload;
  const months = comparison.volumes.map(({ imagesPerMonth: images }) => ({
    images,
    workload: { ...workload, generationsPerMonth: images / outputs },
  }));
  return `A week with ${grouped(generationsPerMonth * outputs)} images a month:

${weekPicture(inference, workload)}

A month of the first instance:

${monthPicture(inference, months)}`;
}
