import { CognitoIdentityProviderClient, ListUsersCommand } from '@aws-sdk/client-cognito-identity-provider';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { poolId, userPoolsApiOf } from '../../../../local/cognito/user-pool.ts';
import { accountDirectory, type AccountDirectory } from '../../../../shared/accounts/directory.ts';
import { setCredentials } from '../s3/support.ts';
import { ben, usePool } from './support.ts';

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

test.each(['ada@example.co', 'ada', '', '" or email = "', String.raw`\" ^= \"`, '"', '\\'])(
  'an account is not found by %j',
  async (text) => {
    expect(await directory.bySub(text)).toBeNull();
    expect(await directory.byEmail(text)).toBeNull();
  },
);

describe('the SDK', () => {
  test('reads an account as Cognito describes it', async () => {
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

  test.each([
    [{ Filter: 'email ^= "a"' }, 'InvalidParameterException'],
    [{ Filter: 'email = "a" or sub = "b"' }, 'InvalidParameterException'],
    [{ Limit: 61 }, 'InvalidParameterException'],
    [{ PaginationToken: 'x' }, 'InvalidParameterException'],
    [{ AttributesToGet: ['email'] }, 'InvalidParameterException'],
    [{ UserPoolId: 'us-east-1_other' }, 'ResourceNotFoundException'],
  ])('is refused %j', async (parameters, name) => {
    await expect(list(parameters)).rejects.toMatchObject({ name });
  });
});
