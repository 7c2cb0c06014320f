/** Of an account's password. Of what kinds they are is free. */
export const minPasswordCharacters = 12;

/** What an access token must be allowed to, so that Cognito changes an account for it. */
export const accountScope = 'aws.cognito.signin.user.admin';
