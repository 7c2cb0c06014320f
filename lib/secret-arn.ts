import * as z from 'zod';

/** The whole ARN: by a part of it, a secret of another name could be meant (AWS, "Secrets Manager secret ARNs"). */
export const secretArn = z
  .string()
  .regex(
    /^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:[\w/+=.@-]+-[A-Za-z0-9]{6}$/,
    'must be the whole ARN of a secret in Secrets Manager, with the six characters at its end',
  );
