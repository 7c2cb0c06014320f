import { GetObjectCommand, PutObjectCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { describe, expect, test } from '@jest/globals';
import { withoutUnusedMiddleware, cachedMiddleware } from '../../../shared/base/aws-clients.ts';
import { linkSigner } from '../../../shared/images/link-signer.ts';

const signingDate = new Date(Date.UTC(2026, 0, 15, 12));
const credentials = { accessKeyId: 'ASIATEST', secretAccessKey: 'secret', sessionToken: 'to/ken+=' };
const Bucket = 'image-generation';

/** In a partition of its own, on a local engine, and there below a path. */
const places: [string, S3ClientConfig][] = [
  ['us-east-1', {}],
  ['eu-west-1', { region: 'eu-west-1' }],
  ['cn-north-1', { region: 'cn-north-1' }],
  ['a local engine', { endpoint: 'http://127.0.0.1:4566' }],
  ['an engine below a path', { endpoint: 'https://s3.example.com/base' }],
];
const keys = [
  'generations/lic_1/0190/output-0.png',
  "adapters/my style (v2)!'*.safetensors",
  'adapters/ä/日本+&=?#%41.bin',
];

describe.each(places)('in %s', (_, config) => {
  const settings: S3ClientConfig = {
    region: 'us-east-1',
    credentials,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...config,
  };
  const client = new S3Client(settings);
  const sign = linkSigner(
    withoutUnusedMiddleware(new S3Client({ ...settings, ...cachedMiddleware })),
    Bucket,
  );

  test.each(keys)("a link to open %s is the SDK's own", async (Key) => {
    const theirs = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key }), {
      expiresIn: 3600,
      signingDate,
    });
    expect(await sign('GET', Key, { lifetimeSeconds: 3600, signingDate })).toBe(theirs);
  });

  test.each(keys)("a link to put %s is the SDK's own, its headers signed", async (Key) => {
    const type = { 'content-type': 'image/webp' };
    for (const headers of [type, { 'cache-control': 'private, max-age=60', ...type }]) {
      const given = { ContentType: headers['content-type'], CacheControl: Object(headers)['cache-control'] };
      const command = new PutObjectCommand({ Bucket, Key, ...given });
      const signableHeaders = new Set([...Object.keys(headers), 'host']);
      const theirs = await getSignedUrl(client, command, { expiresIn: 90, signingDate, signableHeaders });
      const ours = await sign('PUT', Key, { lifetimeSeconds: 90, signingDate, headers });
      expect(ours).toBe(theirs);
      expect(ours).toContain(`SignedHeaders=${[...signableHeaders].join('%3B')}`);
    }
  });
});

test('a place that could not be found is looked for again', async () => {
  let asked = 0;
  const region = async () => {
    asked += 1;
    if (asked === 1) throw new Error('no region');
    return 'us-east-1';
  };
  const sign = linkSigner(new S3Client({ region, credentials }), Bucket);
  await expect(sign('GET', 'a', { lifetimeSeconds: 60 })).rejects.toThrow('no region');
  expect(await sign('GET', 'a', { lifetimeSeconds: 60 })).toContain(`https://${Bucket}.s3.us-east-1`);
});
