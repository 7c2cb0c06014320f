import type { Command } from 'commander';
import { creditsCharged, type Generation } from '../../shared/generations/generation.ts';
import { answer, withExamples, type Session } from './command.ts';
import { addGenerationDelete } from './generation-delete.ts';
import { addGenerationList } from './generation-list.ts';
import { generationJson, leaseUntilMs, missingRequest } from './generation-output.ts';
import { keyValues, readableTime, type Answer } from '../common/output.ts';
import { id, requestId as requestIdValue } from '../common/values.ts';

export function addGenerationCommands(program: Command): void {
  const generation = program.command('generation').description('stored requests: list, show, delete');
  withExamples(generation, [
    'generation list --owner ada@example.com --status FAILED --since 2026-11-20',
    'generation show lic_… 019aa3c2-7b1e-7c55-9d0c-3b8f6f0e2a41',
    'generation delete lic_… 019aa3c2-7b1e-7c55-9d0c-3b8f6f0e2a41',
  ]);
  addGenerationList(generation);
  generation
    .command('show')
    .description('one stored request, with its prompt and its credits; no links to its images')
    .argument('<license>', 'the id of its license', id('LICENSE'))
    .argument('<request>', 'its request id, as in X-Request-Id', requestIdValue('REQUEST'))
    .action((licenseId: string, requestId: string, _, command: Command) =>
      answer(command, (session) => show(session, licenseId, requestId)),
    );
  addGenerationDelete(generation);
}

async function show(session: Session, licenseId: string, requestId: string): Promise<Answer> {
  const generation = await session.stores.generations.get(licenseId, requestId);
  if (generation === null) throw await missingRequest(session, licenseId, requestId);
  return { json: generationJson(generation), text: generationText(generation) };
}

function generationText(generation: Generation): string {
  const { identity, numOutputs, width, height, outputFormat, errorCode, errorMessage } = generation;
  const error = errorMessage === null ? null : `${errorCode ?? ''} ${errorMessage}`.trim();
  return keyValues([
    ['Request', generation.requestId],
    ['License', generation.licenseId],
    ['Key', generation.keyId],
    ['Status', generation.status],
    ['Error', error],
    ['Identity', `${identity.name} (${identity.id})`],
    ['Type', generation.type],
    ['Prompt', generation.prompt],
    ['Negative prompt', generation.negativePrompt],
    ['Seed', generation.seed],
    ['Steps', generation.steps],
    ['Guidance scale', generation.cfgScale],
    ['Outputs', `${numOutputs} of ${width} × ${height} px, ${outputFormat}`],
    ['References used', generation.referenceImagesUsed],
    ['Model version', generation.modelVersion],
    ['Credits', `${generation.credits} reserved, ${creditsCharged(generation)} charged`],
    ['Billing period', `from ${readableTime(generation.periodStartMs)}`],
    ['Created', readableTime(generation.createdAtMs)],
    ['Started', readableTime(generation.startedAtMs)],
    ['Completed', readableTime(generation.completedAtMs)],
    ['Deadline', readableTime(generation.deadlineMs)],
    ['Lease until', readableTime(leaseUntilMs(generation))],
    ['Kept until', readableTime(generation.expiresAtMs)],
  ]);
}
