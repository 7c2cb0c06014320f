import { objects, type Grants, type TableGrants } from './grants.ts';

/** The items of every request that generates: reserve, start, settle or release, replay. */
export const painting: TableGrants = {
  idempotency: ['get', 'put', 'delete'],
  licenses: ['get'],
  periods: ['get', 'update'],
  generations: ['get', 'put', 'update'],
  catalog: ['get'],
  model: ['get', 'put'],
};

/** What generating in our own words takes. The rate log is that of addresses of references. */
export const waiting = {
  table: { ...painting, rateLogs: ['get', 'put'], links: ['get', 'put'] },
  readObjects: [objects.generations, objects.adapters, objects.uploads, objects.references],
  writeObjects: [objects.generations, objects.references],
  deleteObjects: [objects.references],
  previews: true,
  model: true,
  references: true,
} as const satisfies Grants;

/** What POST /generate and the playground share: their callers need not wait. */
export const generating: Grants = { ...waiting, worker: true };
