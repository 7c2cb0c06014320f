/**
 * What a function is told by its environment. Each value is read when it is first asked for, so a function needs
 * only the variables of what it uses, and a missing one fails its cold start by name.
 */
export interface Environment {
  readonly tableName: string;
  readonly bucketName: string;
  /** The SageMaker endpoint that paints. */
  readonly modelEndpointName: string;
  /** From acceptance to the last moment that a model may answer. */
  readonly generationDeadlineSeconds: number;
  /** The user pool that signs sessions in: its issuer, its public keys and the dashboard's client there. */
  readonly session: SessionEnvironment;
  /** How long records are kept; the bucket's lifecycle removes their images after the same time. */
  readonly retentionDays: number;
}

export interface SessionEnvironment {
  issuer: string;
  jwksUrl: string;
  clientId: string;
}

export function readEnvironment(source: NodeJS.ProcessEnv = process.env): Environment {
  return {
    get tableName() {
      return text(source, 'TABLE_NAME');
    },
    get bucketName() {
      return text(source, 'BUCKET_NAME');
    },
    get modelEndpointName() {
      return text(source, 'MODEL_ENDPOINT_NAME');
    },
    get generationDeadlineSeconds() {
      return wholeNumber(source, 'GENERATION_DEADLINE_SECONDS', 1, 450);
    },
    get session() {
      return {
        issuer: text(source, 'SESSION_ISSUER'),
        jwksUrl: text(source, 'SESSION_JWKS_URL'),
        clientId: text(source, 'SESSION_CLIENT_ID'),
      };
    },
    get retentionDays() {
      return wholeNumber(source, 'RETENTION_DAYS', 1, 3650);
    },
  };
}

function text(source: NodeJS.ProcessEnv, name: string): string {
  const value = source[name];
  if (value === undefined || value === '') throw new Error(`The environment variable ${name} is not set.`);
  return value;
}

function wholeNumber(source: NodeJS.ProcessEnv, name: string, min: number, max: number): number {
  const value = text(source, name);
  const number = Number(value);
  if (!Number.isInteger(number) || number < min || number > max) {
    throw new Error(
      `The environment variable ${name} must be a whole number from ${min} to ${max}, not ${value}.`,
    );
  }
  return number;
}
