import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newApiKey } from '../../shared/keys/api-key.ts';
import type { Credentials } from './ministack.ts';
import type { EmulatedFixture } from './fixture.ts';

const item = { PK: { S: 'LICENSE#none' }, SK: { S: 'LICENSE' } };

/** MiniStack judges each call by the policies of its caller. */
export function describePermissions(fixture: EmulatedFixture): void {
  const ask: EmulatedFixture['ask'] = (...question) => fixture.ask(...question);

  test('a function whose role loses an action is refused it from then on, and has it again with its policy', async () => {
    const roleName = fixture.physicalId('AWS::IAM::Role', 'ListIdentitiesRole');
    const { PolicyNames: names } = await ask('iam', 'list_role_policies', { RoleName: roleName });
    const policy = { RoleName: roleName, PolicyName: names[0] };
    const { PolicyDocument: document } = await ask('iam', 'get_role_policy', policy);
    const isRead = ({ Action: actions }: any) => [actions].flat().includes('dynamodb:BatchGetItem');
    expect(document.Statement.filter(isRead)).not.toEqual([]);
    const put = (Statement: object[]) =>
      ask('iam', 'put_role_policy', {
        ...policy,
        PolicyDocument: JSON.stringify({ ...document, Statement }),
      });
    const call = async () => {
      const { status, json } = await fixture.edge.send(`${fixture.outputs['BaseUrl']}/identities`, {
        headers: { authorization: `Bearer ${newApiKey()}` },
      });
      return `${status} ${json.code}`;
    };
    const before = await call();
    await put(document.Statement.filter((statement: any) => !isRead(statement)));
    const without = await call();
    await put(document.Statement);
    expect([before, without, await call()]).toEqual([
      '401 INVALID_API_KEY',
      '500 INTERNAL_ERROR',
      '401 INVALID_API_KEY',
    ]);
  });

  describe('a user who may get items of the partitions KEY#… and use the bucket', () => {
    let user: Credentials;
    const UserName = 'test-user';
    const PolicyName = 'test';
    const tableArn = async () => {
      const { Table: table } = await ask('dynamodb', 'describe_table', {
        TableName: fixture.outputs['TableName'],
      });
      return table.TableArn as string;
    };
    beforeAll(async () => {
      await ask('iam', 'create_user', { UserName });
      const Statement = [
        {
          Effect: 'Allow',
          Action: ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:PutItem'],
          Resource: await tableArn(),
          Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['KEY#*'] } },
        },
        { Effect: 'Allow', Action: 's3:*', Resource: '*' },
      ];
      const PolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement });
      await ask('iam', 'put_user_policy', { UserName, PolicyName, PolicyDocument });
      const { AccessKey: key } = await ask('iam', 'create_access_key', { UserName });
      user = { aws_access_key_id: key.AccessKeyId, aws_secret_access_key: key.SecretAccessKey };
    });
    afterAll(async () => {
      const { aws_access_key_id: AccessKeyId } = user;
      await ask('iam', 'delete_access_key', { UserName, AccessKeyId });
      await ask('iam', 'delete_user_policy', { UserName, PolicyName });
      await ask('iam', 'delete_user', { UserName });
    });

    test('may not delete one, nor check one in a transaction', async () => {
      const TableName = fixture.outputs['TableName'];
      await expect(ask('dynamodb', 'delete_item', { TableName, Key: item }, user)).rejects.toThrow(
        /AccessDenied.*dynamodb:DeleteItem/,
      );
      const check = { TableName, Key: item, ConditionExpression: 'attribute_not_exists(PK)' };
      await expect(
        ask('dynamodb', 'transact_write_items', { TransactItems: [{ ConditionCheck: check }] }, user),
      ).rejects.toThrow(/AccessDenied.*dynamodb:ConditionCheckItem/);
    });

    // When this fails, MiniStack has learned it: docs/emulator.md can say so, and the keys of batches and transactions be tested here.
    test('gets and puts items of other partitions as well: dynamodb:LeadingKeys is not judged', async () => {
      const TableName = fixture.outputs['TableName']!;
      const got = await ask('dynamodb', 'get_item', { TableName, Key: item }, user);
      const batch = await ask(
        'dynamodb',
        'batch_get_item',
        { RequestItems: { [TableName]: { Keys: [item] } } },
        user,
      );
      const Put = { TableName, Item: { PK: { S: 'OTHER#1' }, SK: { S: 'X' } } };
      await ask('dynamodb', 'transact_write_items', { TransactItems: [{ Put }] }, user);
      expect([got.Item, batch.Responses[TableName]]).toEqual([undefined, []]);
      await ask('dynamodb', 'delete_item', { TableName, Key: Put.Item });
    });

    test('lists the bucket over TLS, and is refused without it', async () => {
      const Bucket = fixture.outputs['BucketName'];
      await ask('s3', 'list_objects_v2', { Bucket }, user);
      const plain = { ...user, endpoint_url: fixture.ministack.url };
      await expect(ask('s3', 'list_objects_v2', { Bucket }, plain)).rejects.toThrow(
        /AccessDenied.*explicit deny/i,
      );
    });
  });
}
