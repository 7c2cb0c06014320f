import { jobs, type Job } from '../shared/routes/jobs.ts';
import type { Route } from '../shared/routes/route.ts';
import { routes } from '../shared/routes/routes.ts';

/** Lambda wants as many to stay for the functions that reserve nothing (Lambda API, "PutFunctionConcurrency"). */
const minUnreserved = 100;
const reservations = [...Object.values(routes), ...Object.values(jobs)].map(
  ({ reservedConcurrency = 0 }: Route | Job) => reservedConcurrency,
);

/** Whether enough is left for a function's executions of its own, after all that are fewer. */
export function canReserve(executions: number, reservable: number): boolean {
  const upToThis = reservations.filter((others) => others <= executions);
  return reservable >= minUnreserved + upToThis.reduce((sum, others) => sum + others, 0);
}
