import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { ttlAttribute } from '../../../shared/store/table-keys.ts';
import { nextSteps } from '../../../bin/deploy/next-steps.ts';

const root = new URL('../../../', import.meta.url);
const page = readFileSync(new URL('docs/deploying.md', root), 'utf8');

const place = { stackName: 'image-generation-prod', region: 'eu-west-1', profile: undefined };
const outputs = { BaseUrl: 'https://a/api/v1', DashboardUrl: 'https://b/', UserPoolId: 'eu-west-1_P' };

test('the words after a deployment name an heading of the page that is there', () => {
  const text = nextSteps(place, { ...outputs, ModelEndpointName: '(none)' });
  const [, heading] = /docs\/deploying\.md, "(.+?)"/.exec(text)!;
  expect(page).toContain(`\n## ${heading}\n`);
});

test('an output that is missing is named', () => {
  const { UserPoolId: _, ...others } = outputs;
  expect(() => nextSteps(place, others)).toThrow('no output UserPoolId');
});

test('links within the page lead to its headings', () => {
  const anchors = [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
  const links = [...page.matchAll(/\]\(#([\w-]+)\)/g)].map(([, anchor]) => anchor);
  expect(links.length).toBeGreaterThan(0);
  expect(anchors).toEqual(expect.arrayContaining(links));
});

test('a restored table is given the time to live that the service relies on', () => {
  expect(page).toContain(`AttributeName=${ttlAttribute}\n`);
});

test('files of the repository that the page names are there', () => {
  const named = [...page.matchAll(/`((?:shared|lib|bin)\/[\w./-]+)`/g)].map(([, path]) => path!);
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
});
