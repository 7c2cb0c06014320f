import { Button } from '@/components/ui/button.tsx';
import { formatCount } from '@/lib/format.ts';
import { formatLabels } from '@/lib/outputs.ts';
import { fitToTier } from './fill-form.ts';
import { otherSettings } from './last-used.ts';
import type { Playground } from './use-playground.ts';

/** Offers what the chosen identity was used with last, where the form has something else. */
export function LastUsedOffer({ playground }: { playground: Playground }) {
  const { values, license, identity, change } = playground;
  const settings = otherSettings(values);
  if (settings === null || identity === undefined) return null;
  const { width, height, steps, guidance, numOutputs, outputFormat } = settings;
  const parts = [
    `${width} × ${height}`,
    formatCount(numOutputs, 'image'),
    formatLabels[outputFormat],
    `${steps} steps`,
    `guidance ${guidance}`,
  ];
  const apply = (): void => change(fitToTier({ ...values, customSize: false, ...settings }, license).values);
  return (
    <div className="-mt-4 flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
      <p className="text-xs leading-5 text-muted-foreground tabular-nums">
        Last used with <bdi>{identity.name}</bdi>: {parts.join(', ')}
      </p>
      <Button variant="outline" size="sm" onClick={apply}>
        Use these settings
      </Button>
    </div>
  );
}
