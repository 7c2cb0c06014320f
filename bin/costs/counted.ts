/**
 * What one request uses, counted: `test/infra/costs/counted.test.ts` runs the real functions against the local engines,
 * counts again by DynamoDB's rules for sizes, and fails when a number here is no longer right.
 */
export const counted = {
  /** POST /generate with a prompt of 100 characters, one image, no idempotency key, early in a billing period. */
  generation: {
    readUnits: 5,
    /** Transactions count twice; two of these are the lease index's. */
    writeUnits: 12,
    /** With DynamoDB's 100 bytes for each item. */
    itemBytes: 768,
    /** The image and its preview. */
    objectWritesPerImage: 2,
    objectHeadsPerImage: 2,
    logBytes: 960,
    answerBytes: 1210,
  },
  /** What is added to it. */
  more: {
    idempotencyKey: { readUnits: 1, writeUnits: 2 },
    /** `Prefer: respond-async`: the worker reads the record and the identity again, and nobody reads the usage for an answer. */
    respondAsync: { readUnits: 1, writeUnits: 0 },
    /** 1,000 characters instead of 100: the record is then over one kilobyte. */
    longPrompt: { readUnits: 0, writeUnits: 5 },
    /** The last day of a period in which ten identities and so many keys were used: its item is then over one kilobyte. */
    fullPeriod: [
      { keys: 1, readUnits: 0, writeUnits: 4 },
      { keys: 5, readUnits: 0, writeUnits: 4 },
      { keys: 25, readUnits: 0, writeUnits: 12 },
    ],
  },
  /** A run of the sweep that finds nothing. */
  sweep: { readUnits: 4.5, logBytes: 454 },
  /** A megapixel's PNG by the local painter, average of all its styles. A diffusion model's differ. */
  pngBytesPerMegapixel: 1_244_620,
  /** The preview of such a picture, whatever the picture's format. */
  previewBytes: 19_000,
} as const;

/**
 * Log lines that AWS adds for each invocation (plain format, with tracing), and a line of the access log with
 * values of usual lengths.
 */
const requestId = '8f5a0c5e-2f0e-4a53-9d6f-0f2f4c1d7b11';
const platformLines = [
  `START RequestId: ${requestId} Version: $LATEST\n`,
  `END RequestId: ${requestId}\n`,
  `REPORT RequestId: ${requestId}\tDuration: 12345.67 ms\tBilled Duration: 12346 ms\tMemory Size: 256 MB\tMax Memory Used: 120 MB\t\n` +
    `XRAY TraceId: 1-67891011-abcdef0123456789abcdef01\tSegmentId: 0123456789abcdef\tSampled: true\t\n`,
];
export const platformLogBytes = platformLines.reduce((sum, line) => sum + line.length, 0);

const accessLogSamples: Record<string, string> = {
  requestId,
  requestTimeEpoch: '1795274408786',
  'identity.sourceIp': '203.0.113.217',
  httpMethod: 'POST',
  resourcePath: '/api/v1/generate',
  status: '200',
  'error.responseType': '-',
  'waf.status': '200',
  responseLatency: '12345',
  'integration.latency': '12340',
  'integration.status': '200',
  responseLength: '1204',
};

/** @throws Error for a field that has no sample yet. */
export function accessLogBytes(format: string): number {
  const line = format.replace(/\$context\.([a-zA-Z.]+)/g, (_, field: string) => {
    const sample = accessLogSamples[field];
    if (sample === undefined) throw new Error(`The access log has a new field, ${field}: give it a sample.`);
    return sample;
  });
  return line.length + 1;
}
