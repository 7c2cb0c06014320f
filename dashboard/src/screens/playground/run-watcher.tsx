import { useWatchedRuns } from './use-start-run.ts';

/** Follows the runs of this tab on every screen, after a page load. */
export default function RunWatcher() {
  useWatchedRuns();
  return null;
}
