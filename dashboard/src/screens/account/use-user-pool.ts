import { ApiError, networkError } from '@/api/api-error.ts';
import { useSession } from '@/auth/session.ts';
import { useConfig } from '@/lib/config.ts';
import { minPasswordCharacters } from '../../../../shared/accounts/password.ts';

type Ask = (
  operation: Parameters<typeof askUserPool>[1],
  body?: Record<string, unknown>,
) => ReturnType<typeof askUserPool>;

/** Asks the user pool for the account that is signed in, and has confirmed it. */
export function useUserPool(): Ask {
  const session = useSession();
  const { userPoolsUrl } = useConfig().signIn;
  return async (operation, body = {}) =>
    askUserPool(userPoolsUrl, operation, { ...body, AccessToken: await session.accessToken() });
}

/** What of an operation's answer is read. */
interface Answer {
  SecretCode?: string;
  UserMFASettingList?: string[];
}

/** Operations that an account may ask for itself (Amazon Cognito user pools API reference). */
type Operation =
  | 'GetUser'
  | 'ChangePassword'
  | 'AssociateSoftwareToken'
  | 'VerifySoftwareToken'
  | 'SetUserMFAPreference'
  | 'GlobalSignOut'
  | 'DeleteUser';

const sentences: Record<string, string> = {
  InvalidPasswordException: `Choose a password of at least ${minPasswordCharacters} characters, without spaces at its ends.`,
  EnableSoftwareTokenMFAException:
    'The code is wrong or too old. Type the newest one, and check that the clock of the device with the app is right.',
  LimitExceededException: 'There were too many tries. Wait a quarter of an hour, then try again.',
  TooManyRequestsException: 'There were too many tries. Wait a minute, then try again.',
};
const others: Record<string, string> = { CodeMismatchException: 'EnableSoftwareTokenMFAException' };

/**
 * Calls the user pool for the account of an access token, which goes into the body and into no address.
 * @throws ApiError with a sentence for people; SIGN_IN_AGAIN where the token does not count any more
 */
async function askUserPool(
  url: string,
  operation: Operation,
  body: { AccessToken: string; [name: string]: unknown },
): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': `AWSCognitoIdentityProviderService.${operation}`,
    },
    body: JSON.stringify(body),
    cache: 'no-store',
    credentials: 'omit',
    signal: AbortSignal.timeout(20_000),
  }).catch(() => {
    throw networkError();
  });
  const text = await response.text();
  if (response.ok) return (text === '' ? {} : JSON.parse(text)) as Answer;
  throw refusal(response.status, operation, text);
}

function refusal(status: number, operation: Operation, text: string): ApiError {
  const { __type: type = '', message = '' } = parsed(text);
  const name = type.split('#').at(-1)!;
  if (name === 'NotAuthorizedException' && operation === 'ChangePassword' && !/token/i.test(message)) {
    return new ApiError('The current password is wrong.', { status, code: name });
  }
  if (name === 'NotAuthorizedException' || name === 'UserNotFoundException') {
    const sentence = 'This confirmation does not count any more. Confirm that it’s you once more.';
    return new ApiError(sentence, { status, code: 'SIGN_IN_AGAIN' });
  }
  const sentence =
    sentences[others[name] ?? name] ?? 'The account service did not take it. Try again in a moment.';
  return new ApiError(sentence, { status, code: name });
}

function parsed(text: string): { __type?: string; message?: string } {
  try {
    return JSON.parse(text) as object;
  } catch {
    return {};
  }
}
