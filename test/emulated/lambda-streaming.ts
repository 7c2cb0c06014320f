import { installLambdaGlobal, invoke } from '../../local/gateway/lambda-host.ts';

/**
 * With `node --import` of this file, Lambda's global for response streaming is there. MiniStack has none: its runtime calls
 * every handler alike, and takes what it returns. So a streaming handler gets a stream, and what it wrote is returned as
 * one answer. That its bytes reach the caller one after the other is not shown here.
 */
installLambdaGlobal();

type Handler = Parameters<typeof invoke>[0];
interface Global {
  streamifyResponse(handler: Handler): Handler;
}

const { awslambda: installed } = globalThis as unknown as { awslambda: Global };
const standIn: Global = {
  ...installed,
  streamifyResponse(handler) {
    const streaming = installed.streamifyResponse(handler);
    return async (event: never, { getRemainingTimeInMillis: remainingMs }: any) => {
      let run: Promise<unknown> = Promise.resolve();
      const answer = await invoke(streaming, event, remainingMs(), (running) => (run = running));
      const chunks = [];
      for await (const chunk of answer.body) chunks.push(Buffer.from(chunk));
      await run;
      return { ...answer, body: Buffer.concat(chunks).toString() };
    };
  },
};

Object.defineProperty(globalThis, 'awslambda', {
  get: () => standIn,
  // AWS's SDK assigns what it found.
  set: (value) => {
    if (value === standIn) return;
    throw new Error('The emulator brings awslambda itself: test/emulated/lambda-streaming.ts is not needed.');
  },
});
