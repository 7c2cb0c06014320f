import { ApiError } from '@/api/api-error.ts';
import { isFinal, useGeneration } from '@/api/queries.ts';
import type { StoredGeneration } from '@/lib/types.ts';
import { chargedText } from '@/lib/credits.ts';
import type { GenerationCommand } from './run-store.ts';
import { pairStore, usePairs } from './stores.ts';

interface PairChargesProps {
  command: GenerationCommand;
  error: unknown;
}

/** Below the refusal of one of two requests that are compared: what each of them is charged. */
export function PairCharges({ command, error }: PairChargesProps) {
  usePairs();
  const pair = pairStore.withKey(command.idempotencyKey);
  const { data: first } = useGeneration(pair?.firstId ?? null);
  if (pair === undefined) return null;
  const isOpen = error instanceof ApiError && error.code === 'NETWORK';
  const lines = pair.firstId === null ? firstLines(isOpen) : secondLines(first, pair.otherVersion, isOpen);
  return (
    <ul
      role="list"
      aria-label="What is charged"
      className="mt-2 grid gap-0.5 text-xs leading-5 text-pretty text-muted-foreground tabular-nums"
    >
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}

const unknown = 'no answer. If it arrived, another try finds it, and it is charged once.';

function firstLines(isOpen: boolean): string[] {
  return isOpen
    ? [`The first of the two: ${unknown}`]
    : ['Nothing is charged: neither of the two was accepted.'];
}

function secondLines(first: StoredGeneration | undefined, otherVersion: number, isOpen: boolean): string[] {
  const version = first?.identityVersion ?? null;
  return [
    `${version === null ? 'The first of the two' : `Version ${version}`}: ${soFar(first)}.`,
    `Version ${otherVersion}: ${isOpen ? unknown : 'not accepted, nothing charged.'}`,
  ];
}

function soFar(first: StoredGeneration | undefined): string {
  if (first === undefined || !isFinal(first.status)) return 'accepted, nothing charged so far';
  return first.status === 'COMPLETED' ? lower(chargedText(first)) : `not made, ${lower(chargedText(first))}`;
}

const lower = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1);
