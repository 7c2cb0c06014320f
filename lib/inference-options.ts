import * as z from 'zod';
import { gpuProblem, modelServerFolder } from './gpus.ts';

const wholeNumber = (min: number, max: number) => z.int().min(min).max(max);

/**
 * Seconds that one image of 1024 × 1024 px takes on one of the instances, at 30 steps with guidance; null if nobody has
 * measured it. With it, a deadline that is too short for what the tiers sell is refused.
 */
const secondsPerMegapixel = z.number().positive().max(3600).nullable().default(null);

const defaultIdleMinutes = 15;

const instanceType = z
  .string()
  .regex(/^ml\.[a-z0-9-]+\.[a-z0-9]+$/, 'must be a SageMaker instance type, as ml.g6.xlarge');
const areDistinct = (values: readonly string[]) => new Set(values).size === values.length;

const modelEndpoint = z
  .strictObject({
    kind: z.literal('endpoint'),
    /** A folder with a Dockerfile, or the URI of an image in ECR. */
    image: z
      .union([
        z.strictObject({ folder: z.string().min(1) }),
        z.strictObject({
          uri: z
            .string()
            .regex(
              /^\d{12}\.dkr\.ecr\.[a-z0-9-]+\.amazonaws\.com(\.cn)?\/.+[:@].+$/,
              'must be the URI of an image in ECR, with its tag or digest',
            ),
        }),
      ])
      .default({ folder: modelServerFolder }),
    /** Model data in S3: everything under the prefix is copied to `/opt/ml/model`. */
    modelData: z
      .string()
      .regex(
        /^s3:\/\/[a-z0-9.-]{3,63}\/(.+\/)?$/,
        'must be an S3 prefix that ends in "/", as s3://bucket/models/sdxl/',
      ),
    instanceType: instanceType.default('ml.g6.xlarge'),
    /** Types to start, in this order, where AWS has no instance of `instanceType`. */
    otherInstanceTypes: z.array(instanceType).max(4).default([]),
    /**
     * The availability zones of the model's network, by name; null for the first two of the region. Only the operator's account
     * can tell which zones have the type, and synthesis asks nobody. So `npm run deploy` proposes them.
     */
    zones: z
      .array(z.string().regex(/^[a-z]+(-[a-z]+)+-\d[a-z]$/, 'must be an availability zone, as eu-west-1a'))
      .min(1)
      .max(4)
      .refine(areDistinct, 'must be different zones')
      .nullable()
      .default(null),
    /**
     * The instances' system image, which decides the GPU driver; null for SageMaker's default. The image of `inference/`
     * has CUDA 13, which needs driver 580 or newer. SageMaker's default is older on most instance types.
     */
    amiVersion: z
      .string()
      .regex(
        /^[a-z0-9-]+$/,
        "must be one of SageMaker's names for it, as al2023-ami-sagemaker-inference-gpu-4-1",
      )
      .nullable()
      .default('al2023-ami-sagemaker-inference-gpu-4-1'),
    /** With 0 the endpoint has no instance while nobody asks it. The next call starts one, which takes minutes. */
    minInstances: wholeNumber(0, 100).default(1),
    maxInstances: wholeNumber(1, 100).default(2),
    /** Minutes without any request after which an endpoint with `minInstances` 0 is scaled to zero. */
    idleMinutes: wholeNumber(5, 720).default(defaultIdleMinutes),
    secondsPerMegapixel,
    /** With more requests per instance than this, waiting ones included, another instance is started. */
    targetConcurrency: wholeNumber(1, 100).default(2),
    /** The key in KMS that the weights are encrypted with; null for S3's own. */
    modelDataKeyArn: z
      .string()
      .regex(/^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key\/.+$/, 'must be the ARN of a key in KMS')
      .nullable()
      .default(null),
    /** Whether the container may reach the internet. If not, it reaches S3 only. */
    internetAccess: z.boolean().default(false),
    /** Environment variables of the container. */
    environment: z
      .record(z.string().regex(/^[A-Z][A-Z0-9_]*$/, 'must be the name of a variable'), z.string())
      .refine(
        (variables) => !Object.values(variables).some((value) => value.includes('PRIVATE KEY-----')),
        'must not hold a private key, which everybody who reads the template would see: name its file',
      )
      .default({}),
  })
  .refine(({ minInstances, maxInstances }) => minInstances <= maxInstances, {
    path: ['minInstances'],
    error: 'must be at most maxInstances',
  })
  .refine(({ minInstances, idleMinutes }) => minInstances === 0 || idleMinutes === defaultIdleMinutes, {
    path: ['idleMinutes'],
    error: 'has a meaning only with minInstances 0: with more, the endpoint is never scaled to zero',
  })
  .refine((chosen) => areDistinct(instanceTypesOf(chosen)), {
    path: ['otherInstanceTypes'],
    error: 'must be other types than instanceType, each once',
  })
  .refine(({ zones, internetAccess }) => zones === null || !internetAccess, {
    path: ['zones'],
    error: 'has a meaning only without internetAccess: with it, the model has no network of its own',
  })
  .refine(
    (chosen) => chosen.minInstances > 0 || instanceTypesOf(chosen).every((type) => /^ml\.[gp]/.test(type)),
    {
      path: ['minInstances'],
      error:
        'may be 0 only with instances that have a GPU (ml.g… or ml.p…): each copy of the model takes one',
    },
  )
  .superRefine((chosen, context) => {
    for (const type of instanceTypesOf(chosen)) {
      const message = gpuProblem({ ...chosen, instanceType: type });
      const path = [type === chosen.instanceType ? 'instanceType' : 'otherInstanceTypes'];
      if (message !== null) context.addIssue({ code: 'custom', path, message });
    }
  });

/** The types of a model's instances, the first choice first. */
export function instanceTypesOf(chosen: { instanceType: string; otherInstanceTypes: string[] }): string[] {
  return [chosen.instanceType, ...chosen.otherInstanceTypes];
}

/** The model: none, an endpoint that is there already, or one of this deployment. */
export const inference = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('none') }),
  z.strictObject({
    kind: z.literal('existing'),
    endpointName: z
      .string()
      .regex(/^[A-Za-z0-9](-*[A-Za-z0-9]){0,62}$/, 'must be the name of a SageMaker endpoint'),
    secondsPerMegapixel,
  }),
  modelEndpoint,
]);
