import { ServiceError } from './errors.ts';
import { originalFrame } from './original-frame.ts';

/** Writes one line of JSON. Keys, prompts and links are kept out by never being passed in. */
export interface Log {
  info(message: string, logFields: Record<string, unknown>): void;
  error(message: string, logFields: Record<string, unknown>): void;
}

/**
 * Where lines go: by default to stdout, which Lambda logs. Lambda's own `console.log` would put words before the line,
 * and CloudWatch would find no metrics in it. A host that prints other things sets another sink.
 */
let sink: (line: string) => void = (line) => void process.stdout.write(`${line}\n`);

export function setLogSink(write: (line: string) => void): void {
  sink = write;
}

export function jsonLog(): Log {
  const line = (level: string) => (message: string, logFields: Record<string, unknown>) =>
    sink(JSON.stringify({ time: new Date().toISOString(), level, message, ...logFields }));
  return { info: line('info'), error: line('error') };
}

const maxCauses = 5;

/**
 * What of an error may be logged: its kind and where it came from. Messages of parsers, of SDKs, of Node.js and those
 * for callers quote what they are about, which may be a prompt, a key, a link or a stranger's certificate. So only the
 * message of a plain `Error` without a code is kept: this code wrote it.
 */
export function loggableError(error: unknown): Record<string, unknown>[] {
  const chain: Record<string, unknown>[] = [];
  for (let cause = error; cause !== undefined && chain.length < maxCauses;) {
    if (!(cause instanceof Error)) {
      chain.push({ name: typeof cause });
      break;
    }
    const { $metadata: aws } = cause as { $metadata?: { httpStatusCode?: number; requestId?: string } };
    chain.push({
      name: cause.name,
      ...(cause.constructor === Error && !('code' in cause) ? { message: cause.message } : {}),
      ...(cause instanceof ServiceError ? { code: cause.code } : {}),
      ...('code' in cause && typeof cause.code === 'string' ? { code: cause.code } : {}),
      ...(aws ? { httpStatus: aws.httpStatusCode, awsRequestId: aws.requestId } : {}),
      at: framesOf(cause),
    });
    cause = cause.cause;
  }
  return chain;
}

/** A stack begins with the message. Lines of the message may look like frames, so they are cut off first. */
function framesOf({ stack = '', message }: Error): string[] {
  const at = stack.indexOf(message);
  if (at === -1) return [];
  const frames = stack.slice(at + message.length).split('\n');
  return frames
    .filter((frame) => frame.startsWith('    at '))
    .slice(0, 6)
    .map((frame) => originalFrame(frame.trim()));
}
