import type { z } from 'zod';
import type { configuration } from '../../lib/configuration.ts';

export type Options = z.input<typeof configuration>;

const domain = {
  apiName: 'api.example.com',
  apiCertificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/11111111-1111-1111-1111-111111111111',
  dashboardName: 'app.example.com',
  dashboardCertificateArn:
    'arn:aws:acm:us-east-1:123456789012:certificate/22222222-2222-2222-2222-222222222222',
};
const hostedZone = { id: 'Z0123456789ABC', name: 'example.com' };
const endpoint = {
  kind: 'endpoint',
  image: { uri: '123456789012.dkr.ecr.eu-west-1.amazonaws.com/team/inference:1' },
  modelData: 's3://models.example/models/sdxl/',
} as const;
/** The model server checks pictures. */
const checked = { ...endpoint, environment: { PICTURE_CHECK: '/opt/ml/model/picture-check' } };

/** An operator's own server that checks prompts. */
export const ownCheck = {
  kind: 'http',
  url: 'https://moderation.example.com/check',
  secretArn: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:moderation-AbC123',
} as const;

/** A deployment with every part that can be left out. */
export const everything: Options = {
  stage: 'test',
  domain: { ...domain, hostedZone },
  inference: checked,
  alarmEmail: 'operator@example.com',
  mail: { from: 'no-reply@example.com' },
  billingPortalUrl: 'https://billing.stripe.com/p/login/test',
  supportContact: 'help@example.com',
  plans: [
    {
      id: 'pro',
      name: 'Studio',
      tier: 'pro',
      credits: 4000,
      price: 119.5,
      currency: 'EUR',
      link: 'https://buy.stripe.com/test_1',
    },
    {
      id: 'pack',
      name: 'Pack',
      credits: 200,
      price: 1500,
      currency: 'JPY',
      once: true,
      link: 'https://buy.stripe.com/test_2?locale=ja',
    },
  ],
  moderation: { prompt: ownCheck },
  monthlyBudgetUsd: 2000,
  retentionDays: 30,
  allowedOrigins: ['http://localhost:5173'],
  allowedCallbacks: ['myapp://back'],
  billing: {
    eventBusName: 'aws.partner/stripe.com/ed_test',
    prices: { price_pro: { tier: 'pro', foundingCatalog: true } },
    // As the events of the tests.
    livemode: false,
    stripeKeySecretArn: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:stripe/reader-AbC123',
  },
};

/** The same, with a model that scales to zero. */
export const everythingScaledToZero: Options = { ...everything, inference: { ...checked, minInstances: 0 } };

/** Every configuration whose template the tests read. */
export const configurations = {
  default: {},
  everything,
  /** Must give the same template. */
  everythingAgain: everything,
  existingEndpoint: { inference: { kind: 'existing', endpointName: 'Painter-2' } },
  /** Every number other than its default, and the longest deadline. */
  tuned: {
    generationDeadlineSeconds: 270,
    asyncDeadlineSeconds: 840,
    retentionDays: 30,
    embedParameters: true,
    modelNames: { 'gpt-image-1': 'aurora' },
    moderation: {
      prompt: { kind: 'bedrock', guardrailId: 'abc123', guardrailVersion: '7', onFailure: 'allow' },
      noticePercent: 35,
      keepRefusedPrompts: 14,
    },
    throttle: { ratePerSecond: 10, burst: 20 },
    requestsPerAddress: 500,
    selfSignUp: true,
    mfa: 'required',
    domain: { ...domain, hostedZone: null },
    inference: {
      ...checked,
      instanceType: 'ml.g6e.2xlarge',
      otherInstanceTypes: ['ml.g6e.4xlarge', 'ml.g5.2xlarge'],
      zones: ['eu-west-1c', 'eu-west-1a', 'eu-west-1b', 'eu-west-1f'],
      amiVersion: 'al2-ami-sagemaker-inference-gpu-3-1',
      modelDataKeyArn: 'arn:aws:kms:eu-west-1:123456789012:key/33333333-3333-3333-3333-333333333333',
      secondsPerMegapixel: 7.3,
      minInstances: 2,
      maxInstances: 7,
      targetConcurrency: 3,
    },
  },
  /** A model that scales to zero, with every part that such a one can have. */
  atZero: {
    stage: 'night',
    inference: {
      ...checked,
      minInstances: 0,
      maxInstances: 3,
      idleMinutes: 20,
      targetConcurrency: 3,
      secondsPerMegapixel: 1.2,
      modelDataKeyArn: 'arn:aws:kms:eu-west-1:123456789012:key/33333333-3333-3333-3333-333333333333',
    },
  },
  /** The same without what can be left out, on several types of instances. */
  atZeroSmall: {
    inference: {
      ...endpoint,
      otherInstanceTypes: ['ml.g5.12xlarge'],
      environment: { ENGINE: 'own:Engine', PICTURE_CHECK: '' },
      amiVersion: null,
      internetAccess: true,
      minInstances: 0,
      maxInstances: 1,
    },
  },
  /** The shortest deadline, one instance, and a dashboard whose name is not in the zone. */
  small: {
    generationDeadlineSeconds: 5,
    mfa: 'off',
    monthlyBudgetUsd: null,
    canary: false,
    domain: { ...domain, dashboardName: 'app.example.org', hostedZone },
    inference: { ...endpoint, amiVersion: null, internetAccess: true, minInstances: 1, maxInstances: 1 },
  },
} satisfies Record<string, Options>;

/** What `npm run deploy` found of the account's quota, where it asked. */
export const accountConcurrencies: Partial<Record<ConfigurationName, number>> = {
  existingEndpoint: 1000,
  tuned: 250,
  small: 224,
};
export const reservedByOthers: Partial<Record<ConfigurationName, number>> = { small: 100 };

/** The identity of SES that it found to send to everybody. */
export const mailIdentities: Partial<Record<ConfigurationName, string>> = {
  everything: 'example.com',
  everythingAgain: 'example.com',
};

export type ConfigurationName = keyof typeof configurations;
