/** Ends a command: a sentence for the operator and an exit code for scripts. */
export class Failure extends Error {
  /** 1: it failed. 2: wrong usage. */
  readonly exitCode: 1 | 2;

  constructor(sentence: string, exitCode: 1 | 2 = 1, options: ErrorOptions = {}) {
    super(sentence, options);
    this.exitCode = exitCode;
  }
}

/** A wrong operand, option or combination of them. */
export function usageFailure(sentence: string): Failure {
  return new Failure(sentence, 2);
}

/** The place of a failure, for its sentence. */
export interface FailedPlace {
  /** For people: "the table images in eu-west-1". */
  name: string;
  /** The data folder of a local service, null on AWS. */
  localFolder: string | null;
}

export function noLocalService(folder: string): Failure {
  return new Failure(
    `No local service runs on ${folder}: start one with "npm start", name its folder with --data, ` +
      'or choose a table on AWS with --stack or --table.',
  );
}

/** Turns any error into a failure, and errors of the SDK into sentences that an operator understands. */
export function asFailure(error: unknown, place: FailedPlace | null): Failure {
  if (error instanceof Failure) return error;
  const facts = factsOf(error);
  if (place?.localFolder && (facts.code === 'ECONNREFUSED' || facts.code === 'ECONNRESET')) {
    return noLocalService(place.localFolder);
  }
  return new Failure(sentenceFor(facts, place?.name ?? 'AWS'), 1, { cause: error });
}

interface Facts {
  name: string;
  message: string;
  /** Code of a system error, such as ENOTFOUND; empty for other errors. */
  code: string;
  /** Whether AWS answered with this error. */
  answered: boolean;
}

function sentenceFor({ name, message, code, answered }: Facts, where: string): string {
  if (message === 'Region is missing') {
    return 'No AWS region is known: name one with --region or AWS_REGION.';
  }
  if (name === 'CredentialsProviderError') return `No AWS credentials can be used: ${message}`;
  if (name === 'ResourceNotFoundException') return `There is no such table: ${where}.`;
  if (name === 'TimeoutError') return `${capitalised(where)} did not answer in time: try again.`;
  if (name === 'ServiceError') return message;
  if (code !== '') return `${capitalised(where)} can't be reached (${code}).`;
  if (answered) return `${capitalised(where)} refused: ${message} (${name})`;
  return `Something unforeseen happened: ${message}`;
}

function factsOf(error: unknown): Facts {
  if (!(error instanceof Error)) return { name: '', message: String(error), code: '', answered: false };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const answered = '$metadata' in error && '$fault' in error;
  return { name: error.name, message: error.message, code, answered };
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
