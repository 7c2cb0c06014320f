import type { GenerationStatus, GenerationType } from '../../api/types.ts';
import { typeLabels } from '../../lib/outputs.ts';

export const statuses: readonly GenerationStatus[] = [
  'COMPLETED',
  'QUEUED',
  'PROCESSING',
  'FAILED',
  'TIMEOUT',
];

export const types = Object.keys(typeLabels) as GenerationType[];

export interface HistoryFilters {
  identityId?: string | undefined;
  status?: GenerationStatus | undefined;
  type?: GenerationType | undefined;
}

/** Reads filters from an address. Values that are not valid are ignored, so a mistyped address still shows a list. */
export function readFilters(query: URLSearchParams): HistoryFilters {
  const identityId = query.get('identity') ?? '';
  const status = statuses.find((name) => name === query.get('status')?.toUpperCase());
  const type = types.find((name) => name === query.get('type')?.toLowerCase());
  return {
    ...(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(identityId) && { identityId }),
    ...(status !== undefined && { status }),
    ...(type !== undefined && { type }),
  };
}

/** The query of the address that names these filters, without a question mark; empty for none. */
export function writeFilters({ identityId, status, type }: HistoryFilters): string {
  const query = new URLSearchParams();
  if (identityId !== undefined) query.set('identity', identityId);
  if (status !== undefined) query.set('status', status);
  if (type !== undefined) query.set('type', type);
  return query.toString();
}

export function isFiltered(filters: HistoryFilters): boolean {
  return Object.keys(filters).length > 0;
}

/** An identity that a filter can name. */
interface IdentityChoice {
  id: string;
  label: string;
}

interface NamedIdentity {
  id: string;
  name: string;
  slug: string;
}

/**
 * The identities that the license may use or has used, sorted by name, each once. The chosen one is always among them.
 */
export function identityChoices(
  known: readonly NamedIdentity[],
  chosenId: string | undefined,
): IdentityChoice[] {
  const byId = new Map<string, NamedIdentity>();
  for (const identity of known) if (!byId.has(identity.id)) byId.set(identity.id, identity);
  const named = [...byId.values()].sort((a, b) => a.name.localeCompare(b.name));
  const choices = named.map(({ id, name, slug }) => {
    const ambiguous = named.some((other) => other.id !== id && other.name === name);
    return { id, label: ambiguous && slug !== name ? `${name} (${slug})` : name };
  });
  if (chosenId !== undefined && !byId.has(chosenId)) choices.push({ id: chosenId, label: chosenId });
  return choices;
}
