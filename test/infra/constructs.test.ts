import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ResponseType } from 'aws-cdk-lib/aws-apigateway';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { App, Stack } from 'aws-cdk-lib/core';
import { readConfiguration } from '../../lib/configuration.ts';
import { DashboardSite } from '../../lib/constructs/dashboard-site.ts';
import { ModelStack } from '../../lib/model-stack.ts';
import { addService } from '../../lib/service-app.ts';
import { gatewayFailures } from '../../shared/routes/gateway-failures.ts';
import type { Template } from '../support/policies.ts';
import { plain, propertiesOf } from './resources.ts';
import { inRepository } from '../support/repository.ts';

// What needs the CDK in this process. All other tests read templates that were synthesized once.

const unbundled = { 'aws:cdk:bundling-stacks': [] };
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'constructs-'));
  for (const name of ['assets', 'packages']) mkdirSync(join(folder, 'dashboard', name), { recursive: true });
  writeFileSync(join(folder, 'dashboard/index.html'), '');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The CDK's own validation takes seconds, and every shared template has passed it. */
function newApp(context: Record<string, unknown> = {}): App {
  const outdir = mkdtempSync(join(folder, 'cdk.out-'));
  return new App({ outdir, context, builtinCloudFormationValidation: false });
}

function addUnbuilt(app: App, options: object, checked: boolean) {
  const configuration = readConfiguration(options, 'The test');
  return addService(app, { configuration, dashboardFolder: join(folder, 'dashboard'), checked });
}

test('a finding of the security checks that nobody accepted makes the synthesis fail', () => {
  const { context } = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8'));
  const app = newApp({ ...context, ...unbundled });
  new Queue(addUnbuilt(app, {}, true), 'Planted');
  expect(() => app.synth()).toThrow(/SQS3|SQS4|Validation failed/);
});

test('a model whose speed nobody has measured is warned of, with the speed that it needs; another one is not', () => {
  const existing = { kind: 'existing', endpointName: 'painter' };
  const warned = [existing, { ...existing, secondsPerMegapixel: 1 }, { kind: 'none' }].map((inference) => {
    const { node } = addUnbuilt(newApp(unbundled), { inference }, false);
    return node.metadata.filter(({ type }) => type === 'aws:cdk:warning').map(({ data }) => data);
  });
  expect(warned).toEqual([[expect.stringMatching(/takes at most 1\.62 s: .*secondsPerMegapixel/)], [], []]);
});

test('every type of answer that API Gateway gives by itself has its error in the shape of the API, or that of its class', () => {
  const types = Object.values(ResponseType as unknown as Record<string, { responseType?: string }>);
  const known = new Set(types.flatMap((type) => type?.responseType ?? []));
  expect(known.size).toBeGreaterThan(15);
  // API Gateway guide, "Gateway response types": their own status is that of DEFAULT_4XX (404) or DEFAULT_5XX (500) here.
  const same = ['RESOURCE_NOT_FOUND', 'API_CONFIGURATION_ERROR'];
  const ofAuthorizers = ['AUTHORIZER_FAILURE', 'AUTHORIZER_CONFIGURATION_ERROR'];
  expect([...Object.keys(gatewayFailures), ...same, ...ofAuthorizers].toSorted()).toEqual(
    [...known].toSorted(),
  );
  const { DEFAULT_4XX, DEFAULT_5XX } = gatewayFailures;
  expect([DEFAULT_4XX.code, DEFAULT_5XX.code]).toEqual(['NOT_FOUND', 'INTERNAL_ERROR']);
});

test('a dashboard that is not built is refused, and the error says what builds it', () => {
  const props = { distFolder: join(folder, 'nowhere'), connectSources: [], imageSources: [], domain: null };
  expect(() => new DashboardSite(new Stack(newApp()), 'Dashboard', props)).toThrow(
    /^There is no dashboard in .*nowhere: run "npm run build"/,
  );
});

describe('a model server from a folder', () => {
  function deployed(image: { folder: string }) {
    const app = newApp();
    const inference = { kind: 'endpoint', modelData: 's3://weights/', image };
    const { stackName } = new ModelStack(app, readConfiguration({ inference }, 'The test'));
    const { template, assembly } = app.synth().getStackByName(stackName);
    const assets = JSON.parse(readFileSync(join(assembly.directory, `${stackName}.assets.json`), 'utf8'));
    const images = Object.values<any>(assets.dockerImages);
    return { template: template as Template, platforms: images.map(({ source }) => source.platform) };
  }
  const imageOf = ({ template }: { template: Template }): string =>
    plain(propertiesOf(template, 'AWS::SageMaker::Model').PrimaryContainer.Image);

  test('needs a Dockerfile, and the error says what to do without one', () => {
    expect(() => deployed({ folder: 'no-such-folder' })).toThrow(
      /no-such-folder\/Dockerfile: .*image in ECR/,
    );
  });

  test("is built for SageMaker's machines, and its role may pull it and push nothing", () => {
    const image = join(folder, 'image');
    mkdirSync(image);
    writeFileSync(join(image, 'Dockerfile'), 'FROM scratch\n');
    const { template, platforms } = deployed({ folder: image });
    expect(platforms).toEqual(['linux/amd64']);
    expect(imageOf({ template })).toMatch(/container-assets/);
    const statements = propertiesOf(template, 'AWS::IAM::Policy').PolicyDocument.Statement;
    const pull = statements.find(({ Action }: any) => [Action].flat().includes('ecr:BatchGetImage'));
    expect(plain(pull.Resource)).toMatch(/:repository\/.*container-assets/);
    expect(JSON.stringify(statements)).not.toMatch(/ecr:(Put|Initiate|Upload|Complete)/);
  });

  test('changes with its content, not with tests, caches and environments beside it', () => {
    const copy = join(folder, 'copy');
    const source = inRepository('inference');
    for (const name of ['Dockerfile', '.dockerignore', 'requirements.lock', 'model_server']) {
      cpSync(join(source, name), join(copy, name), { recursive: true });
    }
    let last = imageOf(deployed({ folder: copy }));
    const beside = [
      'tests/test_new.py',
      '.venv/lib/new.py',
      'model_server/pipelines/__pycache__/new.pyc',
      'new.md',
    ];
    for (const path of beside) {
      mkdirSync(dirname(join(copy, path)), { recursive: true });
      writeFileSync(join(copy, path), 'new');
    }
    expect(imageOf(deployed({ folder: copy }))).toBe(last);
    for (const path of ['Dockerfile', 'requirements.lock', 'model_server/pipelines/engine.py']) {
      appendFileSync(join(copy, path), '\n');
      const image = imageOf(deployed({ folder: copy }));
      expect({ path, changed: image !== last }).toEqual({ path, changed: true });
      last = image;
    }
  });
});
