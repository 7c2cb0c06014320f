/** The folder of this repository's model server, which generates with one GPU. */
export const modelServerFolder = 'inference';

/**
 * How many GPUs the types have that have several. A type that is not here counts as one with one GPU, also one with a part
 * of a GPU (g6f, gr6f). Checked on 24 November 2026 against the table of AWS's Karpenter of August, which is made of what
 * EC2 says of its types.
 * @see https://docs.aws.amazon.com/ec2/latest/instancetypes/ac.html
 * @see https://karpenter.sh/docs/reference/instance-types/
 */
export const gpusOfTypes: Readonly<Record<string, number>> = {
  'ml.g4dn.12xlarge': 4,
  'ml.g5.12xlarge': 4,
  'ml.g5.24xlarge': 4,
  'ml.g5.48xlarge': 8,
  'ml.g6.12xlarge': 4,
  'ml.g6.24xlarge': 4,
  'ml.g6.48xlarge': 8,
  'ml.g6e.12xlarge': 4,
  'ml.g6e.24xlarge': 4,
  'ml.g6e.48xlarge': 8,
  'ml.g7.12xlarge': 2,
  'ml.g7.24xlarge': 4,
  'ml.g7.48xlarge': 8,
  'ml.g7e.12xlarge': 2,
  'ml.g7e.24xlarge': 4,
  'ml.g7e.48xlarge': 8,
  'ml.p3.8xlarge': 4,
  'ml.p3.16xlarge': 8,
  'ml.p3dn.24xlarge': 8,
  'ml.p4d.24xlarge': 8,
  'ml.p4de.24xlarge': 8,
  'ml.p5.48xlarge': 8,
  'ml.p5e.48xlarge': 8,
  'ml.p5en.48xlarge': 8,
  'ml.p6-b200.48xlarge': 8,
  'ml.p6-b300.48xlarge': 8,
};

interface Card {
  name: string;
  /** Of the instance types that have it: what stands between their dots. */
  families: readonly string[];
  /** Of one image of SDXL: 1024 × 1024 px, 30 steps, with guidance. Null where nobody has measured it. */
  seconds: number | null;
  how: 'measured' | 'computed' | 'unmeasured';
  settings: string;
  source: string;
}

const unmeasured = { seconds: null, how: 'unmeasured', settings: '–' } as const;
const guess = 'expected: 1.0 to 1.25 times as quick as plain diffusers, since the card is the limit';

/** A newer measurement replaces its card's row. */
export const cards: readonly Card[] = [
  {
    name: 'H100',
    families: ['p5'],
    seconds: 1.2,
    how: 'computed',
    settings: 'compiled blocks, CUDA graph, torch 2.11',
    source: '30 × 35.3 ms and 0.14 s for prompts and decoder, each measured on 2026-11-26',
  },
  {
    name: 'H200',
    families: ['p5e', 'p5en'],
    seconds: 4.03,
    how: 'measured',
    settings: 'nothing compiled, no graph, CUBLAS_WORKSPACE_CONFIG, torch 2.11',
    source: 'inference/bench on 2026-11-26; these settings are not the default any more',
  },
  { name: 'L40S', families: ['g6e'], ...unmeasured, source: guess },
  { name: 'L4', families: ['g6'], ...unmeasured, source: guess },
  { name: 'A10G', families: ['g5'], ...unmeasured, source: guess },
];

/** How long the usual image takes on an instance of this type; null where nobody has measured it. */
export function secondsOnCard(instanceType: string): number | null {
  const [, family = ''] = instanceType.split('.');
  return cards.find(({ families }) => families.includes(family))?.seconds ?? null;
}

/** The options that it depends on. */
interface InstanceOptions {
  image: { folder: string } | { uri: string };
  instanceType: string;
  environment: Readonly<Record<string, string>>;
}

/**
 * Why GPUs of an instance would be paid for and idle; null if they don't. A container of the operator's own, or an engine, may
 * use several GPUs.
 */
export function gpuProblem({ image, instanceType, environment }: InstanceOptions): string | null {
  const gpus = gpusOfTypes[instanceType] ?? 1;
  const isOurs = 'folder' in image && image.folder === modelServerFolder && !environment['ENGINE'];
  if (gpus === 1 || !isOurs) return null;
  return (
    `${instanceType} has ${gpus} GPUs, and the model server generates with one: ${gpus - 1} would be paid for and idle. ` +
    'Take a type with one GPU, and more instances (maxInstances)'
  );
}
