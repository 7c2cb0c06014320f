import { CognitoIdentityProviderClient, ListUsersCommand } from '@aws-sdk/client-cognito-identity-provider';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { poolId, userPoolsApiOf } from '../../../../local/cognito/user-pool.ts';
import { accountDirectory, type AccountDirectory } from '../../../../shared/accounts/directory.ts';
import { setCredentials } from '../s3/support.ts';
import { ada, ben, usePool } from './support.ts';

const pool = usePool();
let directory: AccountDirectory;
let client: CognitoIdentityProviderClient;

beforeAll(() => {
  setCredentials();
  process.env.AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER = userPoolsApiOf(pool.baseUrl);
  directory = accountDirectory(poolId, userPoolsApiOf(pool.baseUrl));
  client = new CognitoIdentityProviderClient({});
});

const list = (parameters: object) => client.send(new ListUsersCommand({ UserPoolId: poolId, ...parameters }));
const namesOf = async (Filter: string) =>
  (await list({ Filter })).Users!.map((user) => user.Attributes![0]!.Value);

describe('the accounts of a pool', () => {
  test.each([
    'nobody@example.com',
    'ada@example.co',
    'ada',
    '',
    '" or email ^= "',
    String.raw`\" ^= \"`,
    '"',
    '\\',
  ])('are not found by %j', async (text) => {
    expect(await directory.bySub(text)).toBeNull();
    expect(await directory.byEmail(text)).toBeNull();
  });
});

describe('the SDK reads', () => {
  test('an account as Cognito describes it', async () => {
    const { Users: users } = await list({ Filter: `sub = "${ben.sub}"` });
    expect(users).toEqual([
      {
        Username: ben.sub,
        Attributes: [
          { Name: 'email', Value: ben.email },
          { Name: 'email_verified', Value: 'true' },
          { Name: 'sub', Value: ben.sub },
        ],
        Enabled: true,
        UserStatus: 'CONFIRMED',
        UserCreateDate: expect.any(Date),
        UserLastModifiedDate: expect.any(Date),
      },
    ]);
  });

  test('accounts by the beginning of an address, and all of them', async () => {
    expect(await namesOf('email ^= "b"')).toEqual([ben.email]);
    expect(await namesOf('email = "b"')).toEqual([]);
    expect(await namesOf('')).toEqual([ada.email, ben.email]);
  });

  test.each([
    [{ Filter: 'email ~ "a"' }, 'InvalidParameterException'],
    [{ Filter: 'email = "a" or sub = "b"' }, 'InvalidParameterException'],
    [{ Filter: 'custom:color = "a"' }, 'InvalidParameterException'],
    [{ Limit: 61 }, 'InvalidParameterException'],
    [{ PaginationToken: 'x' }, 'InvalidParameterException'],
    [{ AttributesToGet: ['email'] }, 'InvalidParameterException'],
    [{ UserPoolId: 'us-east-1_other' }, 'ResourceNotFoundException'],
  ])('that %j is refused', async (parameters, name) => {
    await expect(list(parameters)).rejects.toMatchObject({ name });
  });
});
