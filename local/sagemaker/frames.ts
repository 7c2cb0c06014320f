import { EventStreamCodec } from '@smithy/eventstream-codec';

const codec = new EventStreamCodec(
  (input) => (typeof input === 'string' ? input : Buffer.from(input).toString('utf8')),
  (text) => Buffer.from(text, 'utf8'),
);

/** One PayloadPart event: a piece of the container's answer, as the network cut it. */
export function payloadPart(body: Uint8Array): Uint8Array {
  return frame(
    { ':message-type': 'event', ':event-type': 'PayloadPart', ':content-type': 'application/octet-stream' },
    body,
  );
}

/** The exception that ends a stream whose container went away or took too long. */
export function modelStreamError(errorCode: 'StreamBroken' | 'ModelInvocationTimeExceeded'): Uint8Array {
  const why = {
    StreamBroken: 'The TCP connection between the client and the model was reset or closed.',
    ModelInvocationTimeExceeded:
      'The model failed to finish sending the response within the timeout period allowed.',
  };
  const headers = {
    ':message-type': 'exception',
    ':exception-type': 'ModelStreamError',
    ':content-type': 'application/json',
  };
  return frame(headers, Buffer.from(JSON.stringify({ Message: why[errorCode], ErrorCode: errorCode })));
}

function frame(headers: Record<string, string>, body: Uint8Array): Uint8Array {
  const typed = Object.entries(headers).map(
    ([name, value]) => [name, { type: 'string' as const, value }] as const,
  );
  return codec.encode({ headers: Object.fromEntries(typed), body });
}
