import { describe, expect, test } from '@jest/globals';
import { dataStores } from '../../bin/deploy/preflight/leftovers.ts';
import { dataTag } from '../../lib/configuration.ts';
import { oldestBackupDays } from '../../lib/constructs/backups.ts';
import { ttlAttribute } from '../../shared/table/keys.ts';
import { tableSchema } from '../../shared/table/schema.ts';
import { templateOf } from '../support/stack-templates.ts';
import { allProperties, only, plain, propertiesOf, resourcesOf } from './resources.ts';

// That the table, the buckets and the vault stay as they are, and are kept, is in kept-ids.txt.
const template = templateOf('tuned');
const { id: tableId, Properties: table } = only(template, 'AWS::DynamoDB::Table');
const buckets = allProperties(template, 'AWS::S3::Bucket');
const images = buckets.find(({ LifecycleConfiguration: rules }) => rules !== undefined);

describe('the table', () => {
  test('has the keys and indexes that the stores expect', () => {
    const { KeySchema, GlobalSecondaryIndexes, AttributeDefinitions, BillingMode } = tableSchema;
    expect(table).toMatchObject({ KeySchema, GlobalSecondaryIndexes, BillingMode });
    const sorted = (attributes: readonly { AttributeName: string }[]) =>
      attributes.toSorted((a, b) => (a.AttributeName < b.AttributeName ? -1 : 1));
    expect(sorted(table.AttributeDefinitions)).toEqual(sorted(AttributeDefinitions));
  });

  test('deletes expired items, can be restored to any second of five weeks, and is protected from deletion', () => {
    expect(table).toMatchObject({
      TimeToLiveSpecification: { AttributeName: ttlAttribute, Enabled: true },
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      DeletionProtectionEnabled: true,
    });
  });
});

test('backups copy the table, and nothing else, every day for 35 days and every month for a year', () => {
  const { BackupPlanRule: rules } = propertiesOf(template, 'AWS::Backup::BackupPlan').BackupPlan;
  const kept = rules.map(({ ScheduleExpression, Lifecycle }: any) => [ScheduleExpression, Lifecycle]);
  expect(kept).toEqual([
    ['cron(0 3 * * ? *)', { DeleteAfterDays: 35 }],
    ['cron(0 4 1 * ? *)', { DeleteAfterDays: 365 }],
  ]);
  const { BackupSelection: selection } = propertiesOf(template, 'AWS::Backup::BackupSelection');
  expect(plain(selection.Resources)).toBe(`<${tableId}.Arn>`);
  expect([selection.ListOfTags, selection.Conditions]).toEqual([undefined, undefined]);
});

test('logs that outlive the stack have an end, and names that no later stack needs', () => {
  const kept = [...resourcesOf(template, 'AWS::Logs::LogGroup').values()].filter(
    ({ DeletionPolicy }) => DeletionPolicy !== 'Delete',
  );
  expect(kept).not.toEqual([]);
  for (const { Properties: group } of kept) {
    expect(plain(group.LogGroupName ?? '')).toMatch(/^$|^API-Gateway-Execution-Logs_<Api\w+>\//);
    expect(group.RetentionInDays).toBe(30);
  }
});

test('what holds customers’ data, and nothing else, has the tag by which a deployment finds what an earlier stack left', () => {
  const tagged = Object.entries(template.Resources).flatMap(([id, { Properties }]) => {
    const { Tags = [], UserPoolTags = {} } = Properties as any;
    const list = Array.isArray(Tags) ? Tags : [];
    const tags = { ...UserPoolTags, ...Object.fromEntries(list.map(({ Key, Value }) => [Key, Value])) };
    return tags[dataTag] === undefined ? [] : [[id.slice(0, -8), tags[dataTag]]];
  });
  const expected = dataStores.map(({ logicalId }) => [logicalId, 'image-generation-prod']);
  expect(tagged.toSorted()).toEqual(expected.toSorted());
});

describe('the bucket of images', () => {
  test('keeps images as long as their records, uploads and references for a day, and never deletes the adapters', () => {
    const { Rules: rules } = images.LifecycleConfiguration;
    const expired = rules.flatMap(({ Prefix, ExpirationInDays, Status }: any) =>
      ExpirationInDays === undefined ? [] : [[Prefix, ExpirationInDays, Status]],
    );
    expect(expired).toEqual([
      ['generations/', 30, 'Enabled'],
      ['uploads/', 1, 'Enabled'],
      ['references/', 1, 'Enabled'],
      ['cancelled/', 1, 'Enabled'],
      ['erased/', oldestBackupDays + 7, 'Enabled'],
    ]);
    expect(rules).toContainEqual(
      expect.objectContaining({ AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } }),
    );
  });

  test('lets a web page of any origin use a presigned URL', () => {
    const [rule] = images.CorsConfiguration.CorsRules;
    expect(rule).toMatchObject({ AllowedMethods: ['GET', 'HEAD', 'POST'], AllowedOrigins: ['*'] });
  });
});

test('both buckets are encrypted and closed to the public', () => {
  const ways = ['BlockPublicAcls', 'BlockPublicPolicy', 'IgnorePublicAcls', 'RestrictPublicBuckets'];
  expect(buckets).toHaveLength(2);
  for (const { BucketEncryption, PublicAccessBlockConfiguration: blocked } of buckets) {
    expect(BucketEncryption).toBeDefined();
    expect(blocked).toEqual(Object.fromEntries(ways.map((way) => [way, true])));
  }
});
