import {
  DeleteFunctionConcurrencyCommand,
  GetFunctionCommand,
  LambdaClient,
  PutFunctionConcurrencyCommand,
} from '@aws-sdk/client-lambda';

/** What each function has reserved; null for nothing. */
export type Reserved = Record<string, number | null>;

/** @returns with it the longest that one of these functions may run. */
export async function readReserved(names: string[]): Promise<{ reserved: Reserved; longestSeconds: number }> {
  const client = new LambdaClient({});
  const reserved: Reserved = {};
  let longestSeconds = 0;
  for (const FunctionName of names) {
    const { Concurrency, Configuration } = await client.send(new GetFunctionCommand({ FunctionName }));
    reserved[FunctionName] = Concurrency?.ReservedConcurrentExecutions ?? null;
    longestSeconds = Math.max(longestSeconds, Configuration?.Timeout ?? 0);
  }
  client.destroy();
  return { reserved, longestSeconds };
}

/** Reserves exactly so much for each function. A function with 0 can't be invoked (AWS Lambda, "PutFunctionConcurrency"). */
export async function setReserved(reserved: Reserved): Promise<void> {
  const client = new LambdaClient({});
  for (const [FunctionName, count] of Object.entries(reserved)) {
    await (count === null
      ? client.send(new DeleteFunctionConcurrencyCommand({ FunctionName }))
      : client.send(
          new PutFunctionConcurrencyCommand({ FunctionName, ReservedConcurrentExecutions: count }),
        ));
  }
  client.destroy();
}
