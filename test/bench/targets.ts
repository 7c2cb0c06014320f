import type { Results } from './results.ts';

export interface TargetLine {
  what: string;
  /** The most that it may be. */
  target: number;
  value: number;
  unit: string;
}

/** What is to be reached, as far as it was measured. Ratios are of two figures of the same run. */
export function targetsOf(results: Results): TargetLine[] {
  return [
    ...overheadTargets(results),
    ...coldTargets(results),
    ...tableTargets(results),
    ...costTargets(results),
  ];
}

export const isMet = ({ value, target }: TargetLine) => value <= target;

function overheadTargets({ overhead }: Results): TargetLine[] {
  if (overhead === undefined) return [];
  const cpuOf = (name: string) => overhead.servers.find((server) => server.name === name)?.cpuUsPerRequest;
  const ours = cpuOf('this service')!;
  const against = (peer: string, target: number): TargetLine[] => {
    const theirs = cpuOf(peer);
    if (theirs === undefined) return [];
    return [{ what: `CPU of a request, of ${peer}'s`, target, value: ours / theirs, unit: '×' }];
  };
  return [...against('LiteLLM', 0.5), ...against('Portkey', 1.5)];
}

function coldTargets({ cold }: Results): TargetLine[] {
  if (cold === undefined) return [];
  const { deployed, naive } = cold;
  const begin = ({ importMs, callMs }: typeof deployed) => importMs + callMs;
  return [
    {
      what: "import and first call of create-generation, of the naive bundle's",
      target: 0.6,
      value: begin(deployed) / begin(naive),
      unit: '×',
    },
    { what: 'size of create-generation', target: 600, value: deployed.bytes / 1000, unit: 'kB' },
  ];
}

function tableTargets({ dynamodb }: Results): TargetLine[] {
  if (dynamodb === undefined) return [];
  const { tripsBeforeModel, tripsAfterModel, usual, imageTransfersByFunction } = dynamodb;
  const writeUnits = usual.tableWriteUnits + usual.indexWriteUnits;
  return [
    {
      what: 'DynamoDB trips, one after another, before the model',
      target: 3,
      value: tripsBeforeModel,
      unit: '',
    },
    { what: 'DynamoDB trips, one after another, after it', target: 1, value: tripsAfterModel, unit: '' },
    { what: 'write units of a generation', target: 12, value: writeUnits, unit: '' },
    { what: 'image transfers through Lambda', target: 0, value: imageTransfersByFunction, unit: '' },
  ];
}

function costTargets({ cost }: Results): TargetLine[] {
  if (cost === undefined) return [];
  const what = `1,000 generations without GPU, egress and keeping, ${cost.waitSeconds} s each`;
  return [{ what, target: 0.06, value: cost.withoutGpu, unit: '$' }];
}
