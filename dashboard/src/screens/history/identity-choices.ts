/** An identity that a filter can name. */
export interface IdentityChoice {
  id: string;
  label: string;
}

interface NamedIdentity {
  id: string;
  name: string;
  slug: string;
}

/**
 * Each identity once, by name: those that the license may use now, and those that it was used with before. The chosen
 * one is always among them, so that a filter never shows nothing.
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
