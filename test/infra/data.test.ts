import { describe, expect, test } from '@jest/globals';
import { tableSchema, ttlAttribute } from '../../shared/store/table-keys.ts';
import { templateOf } from '../support/stack.ts';

const template = templateOf({ retentionDays: 30 });
const [table] = Object.values(template.findResources('AWS::DynamoDB::Table'));
const [bucket] = Object.values(template.findResources('AWS::S3::Bucket')).filter(({ Properties }) =>
  JSON.stringify(Properties.LifecycleConfiguration ?? {}).includes('generations/'),
);

describe('the table', () => {
  test('is what the stores expect', () => {
    const { KeySchema, GlobalSecondaryIndexes, AttributeDefinitions, BillingMode } = tableSchema;
    expect(table!.Properties).toMatchObject({ KeySchema, GlobalSecondaryIndexes, BillingMode });
    const byName = (a: { AttributeName: string }, b: { AttributeName: string }) =>
      a.AttributeName < b.AttributeName ? -1 : 1;
    expect(table!.Properties.AttributeDefinitions.sort(byName)).toEqual(
      [...AttributeDefinitions].sort(byName),
    );
  });

  test('forgets what is past its time, and can be set back to any second of five weeks', () => {
    expect(table!.Properties).toMatchObject({
      TimeToLiveSpecification: { AttributeName: ttlAttribute, Enabled: true },
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    });
  });

  test('is not deleted: not with the stack, not by a replacement, not by hand', () => {
    expect(table).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
    expect(table!.Properties.DeletionProtectionEnabled).toBe(true);
  });
});

describe('the bucket of images', () => {
  test('keeps images as long as their records are kept, uploads for a day, and nothing that was left unfinished', () => {
    const { Rules: rules } = bucket!.Properties.LifecycleConfiguration;
    expect(rules).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ Prefix: 'generations/', ExpirationInDays: 30, Status: 'Enabled' }),
        expect.objectContaining({ Prefix: 'uploads/', ExpirationInDays: 1, Status: 'Enabled' }),
        expect.objectContaining({ AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } }),
      ]),
    );
  });

  test('never removes what belongs to the models', () => {
    for (const rule of bucket!.Properties.LifecycleConfiguration.Rules) {
      if (rule.ExpirationInDays !== undefined) expect(['generations/', 'uploads/']).toContain(rule.Prefix);
    }
  });

  test('is private, encrypted and outlives the stack', () => {
    expect(bucket!.Properties.PublicAccessBlockConfiguration).toEqual({
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    });
    expect(bucket!.Properties.BucketEncryption).toBeDefined();
    expect(bucket).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
  });

  test('lets pages of any origin open links and send files, and put nothing', () => {
    const [rule, ...others] = bucket!.Properties.CorsConfiguration.CorsRules;
    expect(others).toEqual([]);
    expect(rule).toMatchObject({ AllowedMethods: ['GET', 'HEAD', 'POST'], AllowedOrigins: ['*'] });
  });

  test('is spoken to by TLS 1.2 or better', () => {
    const policies = Object.values(template.findResources('AWS::S3::BucketPolicy'));
    const statements = policies.flatMap(({ Properties }) => Properties.PolicyDocument.Statement as any[]);
    const denied = statements
      .filter(({ Effect }) => Effect === 'Deny')
      .map(({ Condition }) => JSON.stringify(Condition));
    expect(denied).toEqual(
      expect.arrayContaining([
        JSON.stringify({ Bool: { 'aws:SecureTransport': 'false' } }),
        JSON.stringify({ NumericLessThan: { 's3:TlsVersion': 1.2 } }),
      ]),
    );
  });
});
