import * as z from 'zod/mini';
import { listIdentitiesArguments, requestArguments } from './contract.ts';
import { describeIssues } from '../base/fields.ts';
import type { GenerationAnswer } from '../generations/answer-contract.ts';
import { ServiceError } from '../base/errors.ts';
import type { KeyCaller } from '../http/callers.ts';
import { canonicalJson } from '../http/json.ts';
import { readCommand, type GenerationRequestDeps } from '../http/generation-request.ts';
import { consumeRateLimit, refuseOverLimit } from '../http/rate-limit.ts';
import type { ApiRequest } from '../http/request.ts';
import { generateLimit } from '../routes/limits.ts';
import type { Log } from '../base/log.ts';
import { storedAnswer } from '../generations/answers.ts';
import { cancelGeneration } from '../generations/cancel.ts';
import { acceptGeneration, finishGeneration, type GenerationDeps } from '../generations/create.ts';
import type { GenerationCommand } from '../generations/decide.ts';
import { dryRun } from '../generations/dry-run.ts';
import { findGeneration } from '../generations/find.ts';
import type { Generation } from '../generations/generation.ts';
import { agentIdentities, usableIdentities } from '../identities/usable.ts';
import type { Progress } from './progress.ts';
import type { ToolName } from './tools.ts';
import { withoutNulls } from './without-nulls.ts';

export interface ToolCall {
  request: ApiRequest;
  caller: KeyCaller;
  deps: GenerationRequestDeps;
  log: Log;
}

type Arguments = Record<string, unknown>;
type RunTool = (sent: Arguments, call: ToolCall, progress: Progress) => Promise<object>;

/** What each tool does: the same as the route that it stands for, by the same code. Each throws that route's refusals. */
export const runTool: Record<ToolName, RunTool> = {
  async list_identities(sent, { caller, deps }) {
    parse(listIdentitiesArguments, sent);
    return agentIdentities(await usableIdentities([caller.license], deps.identities));
  },

  async get_generation(sent, call) {
    return storedAnswer(await named(sent, call), call.deps.workflow.objects);
  },

  async cancel(sent, call) {
    const { workflow } = call.deps;
    const cancelled = await cancelGeneration(await named(sent, call), call.caller.rights, workflow);
    return storedAnswer(cancelled, workflow.objects);
  },

  async quote(sent, call) {
    const command = await commandFor(sent, call);
    return (await dryRun(command, workflowFor(call))).answer;
  },

  async generate(sent, call, progress) {
    return generate(await commandFor(sent, call), call, progress);
  },
};

/** The stored request of the caller's that the arguments name. @throws INVALID_PARAMETERS, REQUEST_NOT_FOUND */
function named(sent: Arguments, { caller, deps: { workflow } }: ToolCall): Promise<Generation> {
  const { requestId } = parse(requestArguments, sent);
  const find = (id: string) => workflow.generations.get(caller.licenseId, id);
  return findGeneration(requestId, find, caller.rights, workflow.clock.now());
}

function parse<Schema extends z.ZodMiniType>(contract: Schema, sent: Arguments): z.infer<Schema> {
  const result = z.safeParse(contract, sent);
  if (!result.success) throw new ServiceError('INVALID_PARAMETERS', describeIssues(result.error.issues));
  return result.data;
}

/**
 * Counts a call where POST /generate is counted, then reads what it names.
 * @throws RATE_LIMITED, SERVICE_UNAVAILABLE
 */
async function commandFor(sent: Arguments, call: ToolCall): Promise<GenerationCommand> {
  const { request, caller, deps, log } = call;
  const limited = { ...deps.workflow, log };
  const decision = await consumeRateLimit(request, caller.callerId, generateLimit, null, limited);
  if (decision) refuseOverLimit(generateLimit, decision, 'key');
  const { idempotencyKey, ...body } = sent;
  const asRequest = {
    requestId: request.requestId,
    // A model that repeats a call may write its arguments otherwise.
    rawBody: canonicalJson(withoutNulls(body)),
    query: new Map(),
    headers: new Map(keyHeader(idempotencyKey)),
  };
  return readCommand(asRequest, { ...caller, body }, deps);
}

/** The argument as the header that it stands for. What is no string is no key, which is refused where the header's value is. */
function keyHeader(sent: unknown): [string, string[]][] {
  if (sent === undefined || sent === null) return [];
  return [['idempotency-key', [typeof sent === 'string' ? sent : '']]];
}

function workflowFor({ request, deps }: ToolCall): GenerationDeps {
  return { ...deps.workflow, meter: request.meter, traceparent: request.traceparent };
}

async function generate(
  command: GenerationCommand,
  call: ToolCall,
  progress: Progress,
): Promise<GenerationAnswer> {
  const { request, caller } = call;
  const deps = workflowFor(call);
  const accepted = await acceptGeneration(command, deps);
  if (accepted.outcome === 'replayed') return accepted.answer;
  request.meter.add('acceptTime', deps.clock.now() - request.receivedAtMs);
  const { requestId, credits } = accepted.generation;
  progress.note(`Accepted as request ${requestId}, credits held: ${credits}.`);
  return finishGeneration(accepted, caller.license, progress.observer, deps);
}
