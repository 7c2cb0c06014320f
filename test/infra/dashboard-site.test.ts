import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib/core';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { DashboardSite, type SiteDomain } from '../../lib/constructs/dashboard-site.ts';
import { securityHeaders } from '../../local/dashboard/dashboard.ts';
import { onlyResource } from './only-resource.ts';

const connectSources = [
  'https://api.example.com',
  'https://sign-in.example.com',
  'https://images.example.com',
];
const imageSources = ['https://images.example.com'];
const config = {
  apiBaseUrl: 'https://api.example.com/api/v1',
  signIn: {
    issuer: 'https://issuer.example.com/pool',
    clientId: 'client',
    domainUrl: 'https://sign-in.example.com',
  },
};
const hostedZone = { id: 'Z0123456789', name: 'example.com' };
const certificateArn = 'arn:aws:acm:us-east-1:123456789012:certificate/an-id';
const domain: SiteDomain = { name: 'app.example.com', certificateArn, hostedZone };

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dashboard-site-'));
  mkdirSync(join(folder, 'dist/assets'), { recursive: true });
  for (const file of ['index.html', 'theme.js', 'build-id', 'assets/index-Dx4k.js']) {
    writeFileSync(join(folder, 'dist', file), file);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function newSite(options: { domain?: SiteDomain; distFolder?: string } = {}) {
  const app = new App({ outdir: mkdtempSync(join(folder, 'cdk.out-')) });
  const stack = new Stack(app, 'image-generation-test');
  const distFolder = join(folder, 'dist');
  const site = new DashboardSite(stack, 'Dashboard', {
    distFolder,
    connectSources,
    imageSources,
    ...options,
  });
  return { app, stack, site };
}

function deployed(options = {}) {
  const { app, stack, site } = newSite(options);
  site.deploy(config);
  return { stack, site, template: Template.fromStack(stack), outdir: app.outdir };
}

const propertiesOf = (template: Template, type: string) => onlyResource(template, type).Properties;

const distribution = (options = {}) =>
  propertiesOf(deployed(options).template, 'AWS::CloudFront::Distribution').DistributionConfig;

describe('headers of every answer', () => {
  const headers = () =>
    propertiesOf(deployed().template, 'AWS::CloudFront::ResponseHeadersPolicy').ResponseHeadersPolicyConfig;

  const directives = (policy: string): Record<string, string> =>
    Object.fromEntries(policy.split('; ').map((directive) => directive.split(/ (.*)/).slice(0, 2)));

  test("the content security policy is the local one's, and the sources that are elsewhere on AWS", () => {
    const { ContentSecurityPolicy: policy } = headers().SecurityHeadersConfig;
    const local = directives(securityHeaders['content-security-policy']);
    expect(directives(policy.ContentSecurityPolicy)).toEqual({
      ...local,
      'connect-src': [local['connect-src'], ...connectSources].join(' '),
      'img-src': [local['img-src'], ...imageSources].join(' '),
    });
  });

  test("the others are the local one's too, and HTTPS from then on", () => {
    const { SecurityHeadersConfig: security, CustomHeadersConfig: custom } = headers();
    const sent = Object.fromEntries(
      custom.Items.map(({ Header, Value }: { Header: string; Value: string }) => [Header, Value]),
    );
    expect(security.ContentTypeOptions).toBeDefined();
    const nosniff = { 'x-content-type-options': 'nosniff' };
    const policy = { 'content-security-policy': securityHeaders['content-security-policy'] };
    const others = {
      'referrer-policy': security.ReferrerPolicy.ReferrerPolicy,
      'x-frame-options': security.FrameOptions.FrameOption,
    };
    expect({ ...policy, ...nosniff, ...others, ...sent }).toEqual(securityHeaders);
    expect(security.StrictTransportSecurity.AccessControlMaxAgeSec).toBe(365 * 24 * 60 * 60);
  });

  test('no answer of the bucket gets around them', () => {
    const { SecurityHeadersConfig: security, CustomHeadersConfig: custom } = headers();
    const all = [...Object.values(security), ...custom.Items] as { Override: boolean }[];
    expect(all.map(({ Override }) => Override)).not.toContain(false);
    expect(distribution().DefaultCacheBehavior.ResponseHeadersPolicyId).toBeDefined();
    expect(distribution().CacheBehaviors).toBeUndefined();
  });
});

describe('the function at the edge', () => {
  type Handler = (event: { request: { uri: string } }) => { uri: string };
  let handler: Handler;
  beforeAll(() => {
    const { FunctionCode: code } = propertiesOf(deployed().template, 'AWS::CloudFront::Function');
    handler = new Function(`${code}; return handler;`)() as Handler;
  });
  const target = (uri: string): string => handler({ request: { uri } }).uri;

  test.each(['/', '/callback', '/history/0190a3b2', '/v1.2/keys', '/keys/'])('%s is the app', (path) => {
    expect(target(path)).toBe('/index.html');
  });

  test.each(['/index.html', '/config.json', '/assets/index-Dx4k.js', '/missing.js', '/.env', '/keys.'])(
    '%s stays what it is, so that a missing file is missing',
    (path) => expect(target(path)).toBe(path),
  );

  test('tells files from screens as the local runtime does', () => {
    const segment = fc.stringMatching(/^[a-zA-Z0-9_%-][a-zA-Z0-9._%-]{0,8}$/);
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 4 }), (segments) => {
        const path = `/${segments.join('/')}`;
        expect(target(path)).toBe(extname(path) === '' ? '/index.html' : path);
      }),
    );
  });
});

describe('the bucket', () => {
  test('nobody but this distribution reads it, and over TLS only', () => {
    const { stack, site, template } = deployed();
    template.hasResourceProperties('AWS::S3::Bucket', {
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      BucketEncryption: Match.anyValue(),
    });
    const statements = propertiesOf(template, 'AWS::S3::BucketPolicy').PolicyDocument.Statement;
    expect(statements).toContainEqual(
      expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
    );
    const reading = statements.filter(({ Principal }: any) => Principal.Service !== undefined);
    expect(reading).toHaveLength(1);
    expect(reading[0].Principal).toEqual({ Service: 'cloudfront.amazonaws.com' });
    expect(JSON.stringify(reading[0].Condition.StringEquals['AWS:SourceArn'])).toContain(
      JSON.stringify(stack.resolve(site.distribution.distributionId)),
    );
  });

  test('what is missing is 404 and not 403, and no request is answered with a list', () => {
    const statements = propertiesOf(deployed().template, 'AWS::S3::BucketPolicy').PolicyDocument.Statement;
    expect(statements).toContainEqual(
      expect.objectContaining({ Action: ['s3:GetObject', 's3:ListBucket'], Effect: 'Allow' }),
    );
    expect(distribution().DefaultRootObject).toBe('index.html');
    expect(distribution().CustomErrorResponses).toBeUndefined();
  });
});

describe('the distribution', () => {
  test('speaks HTTPS, HTTP/2, HTTP/3 and IPv6, compresses, and asks the function before every request', () => {
    expect(distribution()).toMatchObject({
      HttpVersion: 'http2and3',
      IPV6Enabled: true,
      DefaultCacheBehavior: {
        ViewerProtocolPolicy: 'redirect-to-https',
        Compress: true,
        FunctionAssociations: [{ EventType: 'viewer-request' }],
      },
    });
  });

  test('reads the bucket with signed requests', () => {
    const { template } = deployed();
    const access = propertiesOf(template, 'AWS::CloudFront::OriginAccessControl').OriginAccessControlConfig;
    expect(access).toMatchObject({ SigningBehavior: 'always', SigningProtocol: 'sigv4' });
    expect(distribution().Origins[0].OriginAccessControlId).toBeDefined();
  });

  test('has names of its own in every region, because CloudFront has none', () => {
    const { template } = deployed();
    const name = { 'Fn::Join': ['', ['image-generation-test-', { Ref: 'AWS::Region' }]] };
    template.hasResourceProperties('AWS::CloudFront::ResponseHeadersPolicy', {
      ResponseHeadersPolicyConfig: { Name: name },
    });
    template.hasResourceProperties('AWS::CloudFront::OriginAccessControl', {
      OriginAccessControlConfig: { Name: name },
    });
  });

  test("without a domain it has CloudFront's name", () => {
    const { stack, site, template } = deployed();
    const [id] = Object.keys(template.findResources('AWS::CloudFront::Distribution'));
    expect(stack.resolve(site.origin)).toEqual({
      'Fn::Join': ['', ['https://', { 'Fn::GetAtt': [id, 'DomainName'] }]],
    });
    template.resourceCountIs('AWS::Route53::RecordSet', 0);
  });

  test('with a domain it has its certificate, and no protocol older than TLS 1.2', () => {
    expect(deployed({ domain }).site.origin).toBe('https://app.example.com');
    expect(distribution({ domain })).toMatchObject({
      Aliases: ['app.example.com'],
      ViewerCertificate: { AcmCertificateArn: certificateArn, MinimumProtocolVersion: 'TLSv1.2_2021' },
    });
  });

  test('a zone gets the name for both kinds of addresses', () => {
    const { template } = deployed({ domain });
    for (const Type of ['A', 'AAAA']) {
      const record = { Name: 'app.example.com.', Type, HostedZoneId: hostedZone.id };
      template.hasResourceProperties('AWS::Route53::RecordSet', record);
    }
  });

  test('a name that is not in the zone is never entered below it', () => {
    const { template } = deployed({ domain: { ...domain, name: 'app.example.org' } });
    template.hasResourceProperties('AWS::Route53::RecordSet', { Name: 'app.example.org.' });
  });

  test('a name that is entered elsewhere gets no record', () => {
    const { template } = deployed({ domain: { ...domain, hostedZone: null } });
    template.resourceCountIs('AWS::Route53::RecordSet', 0);
  });

  test('leaves no warning behind', () => {
    expect(Annotations.fromStack(newSite({ domain }).stack).findWarning('*', Match.anyValue())).toEqual([]);
  });
});

describe('a deployment', () => {
  function uploads() {
    const { template, outdir } = deployed();
    const found = Object.entries(template.findResources('Custom::CDKBucketDeployment'));
    const named = found.map(([id, { Properties: upload, DependsOn: after = [] }]) => {
      const source = join(outdir, `asset.${upload.SourceObjectKeys[0].replace('.zip', '')}`);
      return { id, upload, after, source, files: readdirSync(source).toSorted() };
    });
    const holding = (file: string) => named.find(({ files }) => files.includes(file))!;
    const [assets, pages, configuration] = ['index-Dx4k.js', 'index.html', 'config.json'].map(holding);
    return { all: named, assets: assets!, pages: pages!, configuration: configuration! };
  }

  test('uploads the build and nothing else', () => {
    const { all, assets, pages, configuration } = uploads();
    expect(all).toHaveLength(3);
    expect(assets.files).toEqual(['index-Dx4k.js']);
    expect(assets.upload.DestinationBucketKeyPrefix).toBe('assets');
    expect(pages.files).toEqual(['index.html', 'theme.js']);
    expect(configuration.files).toEqual(['config.json']);
  });

  test('browsers keep assets for good, ask again for pages, and never keep the configuration', () => {
    const { assets, pages, configuration } = uploads();
    const caching = [assets, pages, configuration].map(
      ({ upload }) => upload.SystemMetadata['cache-control'],
    );
    expect(caching).toEqual(['public, max-age=31536000, immutable', 'no-cache', 'no-store']);
  });

  test('removes nothing: not the configuration, and not what open pages of the last build still load', () => {
    expect(uploads().all.map(({ upload }) => upload.Prune)).toEqual([false, false, false]);
  });

  test('a page comes last, when all that it loads is there', () => {
    const { pages, assets, configuration } = uploads();
    expect(pages.after).toEqual(expect.arrayContaining([assets.id, configuration.id]));
  });

  test('tells the dashboard where it runs', () => {
    const { source } = uploads().configuration;
    expect(JSON.parse(readFileSync(join(source, 'config.json'), 'utf8'))).toEqual(config);
  });

  test('a dashboard that is not built is refused in a sentence that says what builds it', () => {
    const distFolder = join(folder, 'nowhere');
    expect(() => newSite({ distFolder })).toThrow(/^There is no dashboard in .*nowhere: run "npm run build"/);
  });
});
