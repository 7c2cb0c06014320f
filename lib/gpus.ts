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
