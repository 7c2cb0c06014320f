import { readFileSync } from 'node:fs';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { SageMakerRuntimeClient } from '@aws-sdk/client-sagemaker-runtime';
import { expect, test } from '@jest/globals';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { playGames, type Game, type SeedReport } from '../../faults/worker-pool.ts';
import { plantedBugs } from '../../faults/all-planted-bugs.ts';

/** In a process of its own: a simulation takes its process's clock and chance. */
async function play(...games: Game[]): Promise<SeedReport[]> {
  const reports: SeedReport[] = [];
  await playGames(games, 1, (report) => reports.push(report));
  return reports;
}

test('a seed plays the same history in any process, whatever was played before it and whatever was planted there', async () => {
  const several = await play({ from: 1, count: 4, bug: null });
  expect(new Set(several.map(({ fingerprint }) => fingerprint)).size).toBe(4);
  const others = await play(
    { from: 1, count: 4, bug: 'charge-before-settle' },
    { from: 4, count: 1, bug: null },
    { from: 1, count: 1, bug: 'charge-told-as-refusal' },
  );
  const [broken, alone, unharmed] = others;
  // The play ends with the first world in which an invariant breaks.
  expect(others.map(({ seed, bug }) => `${seed} ${bug}`)).toEqual([
    '1 charge-before-settle',
    '4 null',
    '1 charge-told-as-refusal',
  ]);
  expect(broken!.violations[0]).toMatch(/but 0 were charged/);
  expect(alone!.fingerprint).toBe(several[3]!.fingerprint);
  // In this world nobody meets that bug, and none is left of the one before.
  expect(unharmed!.fingerprint).toBe(several[0]!.fingerprint);
}, 120_000);

test('each planted bug has a seed that shows it', () => {
  const seeds = JSON.parse(readFileSync('test/faults/planted-seeds.json', 'utf8')) as Record<string, number>;
  expect(Object.keys(seeds)).toEqual(plantedBugs.map(({ name }) => name));
});

test.each([DynamoDBClient, S3Client, SageMakerRuntimeClient])(
  'the network of %p is the copy of the package whose network a simulation takes',
  (Client) => {
    expect(new Client({ region: 'eu-west-1' }).config.requestHandler).toBeInstanceOf(NodeHttpHandler);
  },
);
