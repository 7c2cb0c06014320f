import { ApiError, isSessionEnd, networkError, sessionEnded } from '@/api/api-error.ts';
import { useSession } from '@/auth/session.ts';
import { useConfig } from '@/lib/config.ts';
import { minPasswordCharacters } from '../../../../shared/accounts/password.ts';

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

const wrongCode =
  'The code is wrong or too old. Type the newest one, and check that the clock of the device with the app is right.';

const sentences: Record<string, string> = {
  InvalidPasswordException: `Choose a password of at least ${minPasswordCharacters} characters, without spaces at its ends.`,
  EnableSoftwareTokenMFAException: wrongCode,
  CodeMismatchException: wrongCode,
  LimitExceededException: 'There were too many tries. Wait a quarter of an hour, then try again.',
  TooManyRequestsException: 'There were too many tries. Wait a minute, then try again.',
};

/**
 * Asks the user pool for the account that is signed in, and has confirmed it. The access token goes into the body and into no
 * address.
 * @returns a function that throws ApiError with a sentence for people. Where the token does not count any more, the session has ended
 */
export function useUserPool() {
  const session = useSession();
  const { userPoolsUrl } = useConfig().signIn;
  return async (operation: Operation, parameters: Record<string, unknown> = {}): Promise<Answer> => {
    const response = await fetch(userPoolsUrl, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': `AWSCognitoIdentityProviderService.${operation}`,
      },
      body: JSON.stringify({ ...parameters, AccessToken: await session.accessToken() }),
      cache: 'no-store',
      credentials: 'omit',
      signal: AbortSignal.timeout(20_000),
    }).catch(() => {
      throw networkError();
    });
    // Some operations answer without a body.
    const body: unknown = await response.json().catch(() => ({}));
    if (response.ok) return body as Answer;
    const error = refusal(response.status, operation, body as Refusal);
    if (isSessionEnd(error)) session.end();
    throw error;
  };
}

interface Refusal {
  __type?: string;
  message?: string;
}

function refusal(
  status: number,
  operation: Operation,
  { __type: type = '', message = '' }: Refusal,
): ApiError {
  const name = type.split('#').at(-1)!;
  if (name === 'NotAuthorizedException' && operation === 'ChangePassword' && !/token/i.test(message)) {
    return new ApiError('The current password is wrong.', { status, code: name });
  }
  if (name === 'NotAuthorizedException' || name === 'UserNotFoundException') {
    return sessionEnded();
  }
  const sentence = sentences[name] ?? 'The account service did not take it. Try again in a moment.';
  return new ApiError(sentence, { status, code: name });
}
