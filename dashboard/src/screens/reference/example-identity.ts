/** The parts of the API's document that have examples of bodies. */
interface ApiDocument {
  paths: Record<string, Record<string, Operation>>;
}

interface Operation {
  requestBody?: { content: Record<string, { examples?: Record<string, { value: object }> }> };
}

/** The identity that the dashboard's link names, which its account may use; for others what is to be put there. */
export function identityOf(search: string): string {
  const id = new URLSearchParams(search).get('identity');
  return id !== null && /^idn_[0-9A-Za-z]{1,40}$/.test(id) ? id : 'an id of GET /identities';
}

/** Fetches for Scalar. In the API's document an identity takes the place of the made-up ones in examples of bodies. */
export function fetchWithIdentity(documentUrl: string, identityId: string): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const url = input instanceof Request ? input.url : String(input);
    if (url !== documentUrl || !response.ok) return response;
    const document = (await response.json()) as ApiDocument;
    for (const { value } of bodyExamples(document)) {
      if ('identityId' in value) value.identityId = identityId;
    }
    return Response.json(document);
  };
}

function bodyExamples({ paths }: ApiDocument): { value: object }[] {
  return Object.values(paths)
    .flatMap((path) => Object.values(path))
    .flatMap(({ requestBody }) => Object.values(requestBody?.content ?? {}))
    .flatMap(({ examples }) => Object.values(examples ?? {}));
}
