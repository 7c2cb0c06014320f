import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { allowing, deployed, ownEndpoint, plain } from './inference-stack.ts';

describe('an image from a folder', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'inference-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('without a Dockerfile it is refused in a sentence that says what to do instead', () => {
    const options = { kind: 'endpoint', modelData: 's3://weights/', image: { folder: 'no-such-folder' } };
    expect(() => deployed(options)).toThrow(/no-such-folder\/Dockerfile: .*image in ECR/);
  });

  test('it is built for the machines of SageMaker, and the role may pull it', () => {
    writeFileSync(join(folder, 'Dockerfile'), 'FROM scratch\n');
    const { app, template, statementsOf: statements } = deployed({ ...ownEndpoint, image: { folder } });
    const assets = readFileSync(join(app.synth().directory, 'image-generation-Test.assets.json'), 'utf8');
    expect(Object.values<any>(JSON.parse(assets).dockerImages)).toMatchObject([
      { source: { platform: 'linux/amd64' } },
    ]);
    const [model] = Object.values(template.findResources('AWS::SageMaker::Model'));
    expect(plain(model!.Properties.PrimaryContainer.Image)).toMatch(/container-assets/);
    const pulls = allowing(statements('InferenceRole'), 'ecr:BatchGetImage');
    expect(pulls).toHaveLength(1);
    expect(plain(statements('InferenceRole'))).not.toMatch(/ecr:(Put|Initiate|Upload|Complete)/);
    expect(plain(pulls[0]!.Resource)).toMatch(/:repository\/.*container-assets/);
  });

  test("the model server's image changes with what is in it, not with tests, caches and environments beside it", () => {
    const copy = join(folder, 'copy');
    const source = new URL('../../inference', import.meta.url).pathname;
    for (const name of ['Dockerfile', '.dockerignore', 'requirements.txt', 'model_server']) {
      cpSync(join(source, name), join(copy, name), { recursive: true });
    }
    const imageOf = () => {
      const { template } = deployed({ ...ownEndpoint, image: { folder: copy } });
      const [model] = Object.values(template.findResources('AWS::SageMaker::Model'));
      return plain(model!.Properties.PrimaryContainer.Image);
    };
    const before = imageOf();
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
    expect(imageOf()).toBe(before);
    for (const path of ['Dockerfile', 'requirements.txt', 'model_server/pipelines/engine.py']) {
      const last = imageOf();
      appendFileSync(join(copy, path), '\n');
      expect({ path, changed: imageOf() !== last }).toEqual({ path, changed: true });
    }
  });
});
