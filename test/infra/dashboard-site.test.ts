import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { securityHeaders } from '../../shared/accounts/dashboard-config.ts';
import { llmsText } from '../../shared/openapi/llms-text.ts';
import type { ConfigurationName } from '../support/configurations.ts';
import { assemblyOf, templateOf } from '../support/stack-templates.ts';
import { allProperties, only, plain, propertiesOf, resourcesOf } from './resources.ts';

const template = templateOf('everything');
const distributionOf = (name: ConfigurationName) =>
  propertiesOf(templateOf(name), 'AWS::CloudFront::Distribution').DistributionConfig;
const distribution = distributionOf('everything');
const idOf = (type: string) => only(template, type).id;
const apiOrigin = `https://<${idOf('AWS::ApiGateway::DomainName')}>`;
const userPoolsOrigin = 'https://cognito-idp.<AWS::Region>.amazonaws.com';
const signInOrigin = `https://<${idOf('AWS::Cognito::UserPoolDomain')}>.auth.<AWS::Region>.amazoncognito.com`;
const imagesId = [...resourcesOf(template, 'AWS::S3::Bucket').keys()].find((id) => id.startsWith('Images'));

describe('the headers of every answer', () => {
  const { SecurityHeadersConfig: security, CustomHeadersConfig: custom } = propertiesOf(
    template,
    'AWS::CloudFront::ResponseHeadersPolicy',
  ).ResponseHeadersPolicyConfig;

  test("are the local service's, with the sources that are elsewhere on AWS, and HTTPS from then on", () => {
    const local = securityHeaders({ connectSources: [], imageSources: [] });
    const imagesOrigin = `https://<${imagesId}.RegionalDomainName>`;
    const policy = local['content-security-policy']
      .replace(/connect-src [^;]+/, `$& ${apiOrigin} ${signInOrigin} ${userPoolsOrigin} ${imagesOrigin}`)
      .replace(/img-src [^;]+/, `$& ${imagesOrigin}`);
    const sent = custom.Items.map(({ Header, Value }: any) => [Header, Value]);
    expect({
      'content-security-policy': plain(security.ContentSecurityPolicy.ContentSecurityPolicy),
      'referrer-policy': security.ReferrerPolicy.ReferrerPolicy,
      'x-content-type-options': security.ContentTypeOptions && 'nosniff',
      'x-frame-options': security.FrameOptions.FrameOption,
      ...Object.fromEntries(sent),
    }).toEqual({ ...local, 'content-security-policy': policy });
    expect(security.StrictTransportSecurity.AccessControlMaxAgeSec).toBe(365 * 24 * 60 * 60);
  });

  test('replace those of the bucket, on every path', () => {
    const all: { Override: boolean }[] = [...Object.values<any>(security), ...custom.Items];
    expect(all.map(({ Override }) => Override)).not.toContain(false);
    expect(distribution.DefaultCacheBehavior.ResponseHeadersPolicyId).toBeDefined();
    expect(distribution.CacheBehaviors).toBeUndefined();
  });
});

describe('the function at the edge', () => {
  const { FunctionCode: code } = propertiesOf(template, 'AWS::CloudFront::Function');
  // The code is this repository's own
  const handler = new Function(`${code}; return handler;`)();
  const target = (uri: string): string => handler({ request: { uri } }).uri;

  test('answers a path without a file ending with the app, as the local runtime does', () => {
    const segment = fc.stringMatching(/^[a-zA-Z0-9_%-][a-zA-Z0-9._%-]{0,8}$/);
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 4 }), (segments) => {
        const path = `/${segments.join('/')}`;
        expect(target(path)).toBe(extname(path) === '' ? '/index.html' : path);
      }),
    );
  });
});

describe('the distribution', () => {
  test('speaks HTTPS alone, and runs the function on every request', () => {
    expect(distribution.DefaultCacheBehavior).toMatchObject({
      ViewerProtocolPolicy: 'redirect-to-https',
      FunctionAssociations: [{ EventType: 'viewer-request' }],
    });
  });

  test('reads the bucket with signed requests, and answers the root and missing files as they are', () => {
    const access = propertiesOf(template, 'AWS::CloudFront::OriginAccessControl');
    expect(access.OriginAccessControlConfig.SigningBehavior).toBe('always');
    expect(distribution.Origins[0].OriginAccessControlId).toBeDefined();
    expect(distribution.DefaultRootObject).toBe('index.html');
    expect(distribution.CustomErrorResponses).toBeUndefined();
  });

  test('has the certificate and TLS 1.2 with a domain, and the name of CloudFront without', () => {
    expect(distribution).toMatchObject({
      Aliases: ['app.example.com'],
      ViewerCertificate: {
        AcmCertificateArn: expect.stringContaining('us-east-1'),
        MinimumProtocolVersion: 'TLSv1.2_2021',
      },
    });
    expect(distributionOf('default').Aliases).toBeUndefined();
    const { DashboardUrl: url } = templateOf('default').Outputs!;
    expect(plain(url.Value)).toMatch(/^https:\/\/<Dashboard\w+\.DomainName>\/$/);
  });
});

test.each<[ConfigurationName, string[]]>([
  ['everything', ['A app.example.com.', 'AAAA app.example.com.']],
  ['small', ['A app.example.org.', 'AAAA app.example.org.']],
  ['tuned', []],
  ['default', []],
])('with the configuration "%s" the zone has the records %j', (name, expected) => {
  const records = allProperties(templateOf(name), 'AWS::Route53::RecordSet')
    .filter(({ Name }) => Name.startsWith('app.'))
    .map(({ Type, Name }) => `${Type} ${Name}`);
  expect(records.toSorted()).toEqual(expected);
});

describe('a deployment', () => {
  const uploads = [...resourcesOf(template, 'Custom::CDKBucketDeployment')].map(([id, resource]) => {
    const { SourceObjectKeys: keys, ...properties } = resource.Properties;
    const folders: string[] = keys.map((key: string) =>
      join(assemblyOf('everything'), `asset.${key.replace('.zip', '')}`),
    );
    const caching = properties.SystemMetadata['cache-control'];
    const files = folders.flatMap((folder) => readdirSync(folder)).toSorted();
    return { id, folders, files, caching, properties, after: resource.DependsOn };
  });
  const holding = (file: string) => uploads.find(({ files }) => files.includes(file))!;

  test('uploads the build, keeps assets in browsers for good, asks again for pages and packages, never keeps the configuration, and removes nothing that an open page of the last build loads', () => {
    const written = uploads.map(({ files, caching, properties }) => [
      properties.DestinationBucketKeyPrefix ?? '',
      files,
      caching,
      properties.SystemMetadata['content-type'],
      properties.Prune,
    ]);
    expect(written).toEqual([
      ['assets', ['index-1a2b.js'], 'public, max-age=31536000, immutable', undefined, false],
      ['', ['config.json', 'llms.txt'], 'no-store', undefined, false],
      ['packages', ['c-1.tgz'], 'no-cache', 'application/octet-stream', false],
      ['', ['first.js', 'index.html'], 'no-cache', undefined, false],
    ]);
  });

  test('uploads a page after everything that it loads', () => {
    const before = ['index-1a2b.js', 'config.json', 'c-1.tgz'].map((file) => holding(file).id);
    expect(holding('index.html').after).toEqual(expect.arrayContaining(before));
  });

  test('gives the dashboard the addresses, and the options that its pages show', () => {
    const { folders, properties } = holding('config.json');
    const [config, text] = ['config.json', 'llms.txt'].map((file, i) =>
      Object.entries(properties.SourceMarkers[i]).reduce(
        (written, [marker, value]) => written.replaceAll(marker, plain(value)),
        readFileSync(join(folders[i]!, file), 'utf8'),
      ),
    );
    expect(text).toBe(llmsText({ apiBaseUrl: `${apiOrigin}/api/v1`, siteUrl: 'https://app.example.com' }));
    expect(JSON.parse(config!)).toEqual({
      apiBaseUrl: `${apiOrigin}/api/v1`,
      mfa: 'optional',
      retentionDays: 30,
      creditMails: true,
      billingPortalUrl: 'https://billing.stripe.com/p/login/test',
      supportContact: 'help@example.com',
      plans: [
        expect.objectContaining({
          id: 'pro',
          once: false,
          tier: { label: 'Pro', maxOutputs: 4, maxSidePx: 2048, maxInFlight: 40 },
        }),
        expect.objectContaining({ id: 'pack', price: 1500, once: true, tier: null }),
      ],
      signIn: {
        issuer: `https://cognito-idp.<AWS::Region>.amazonaws.com/<${idOf('AWS::Cognito::UserPool')}>`,
        clientId: `<${idOf('AWS::Cognito::UserPoolClient')}>`,
        domainUrl: signInOrigin,
        userPoolsUrl: `${userPoolsOrigin}/`,
      },
    });
  });
});
