import type { ReactNode } from 'react';
import { isFinal } from '@/api/queries.ts';
import type { StoredGeneration } from '@/api/types.ts';
import { CopyButton } from '@/components/copy-button.tsx';
import { StatusBadge } from '@/components/status-badge.tsx';
import { Card, CardHeader, CardTitle } from '@/components/ui/card.tsx';
import { formatDuration, formatNumber, shortId } from '@/lib/format.ts';
import { formatLabels } from '@/lib/outputs.ts';
import { useLicenseChoice } from '@/license/license-context.tsx';
import { Fact, Facts, TimeFact } from './facts.tsx';
import { typeLabels } from '@/lib/type-labels.ts';
import { formatSize } from './request-view.ts';

/** Everything that was asked for, and what came of it. */
export function RequestFacts({ generation }: { generation: StoredGeneration }) {
  return (
    <div className="grid min-w-0 grid-cols-1 gap-6">
      <Words generation={generation} />
      <Card>
        <CardHeader>
          <CardTitle>Parameters</CardTitle>
        </CardHeader>
        <Parameters generation={generation} />
      </Card>
      <Card>
        <CardHeader>
          <CardTitle>Run</CardTitle>
        </CardHeader>
        <Run generation={generation} />
      </Card>
    </div>
  );
}

function Words({ generation: { prompt, negativePrompt } }: { generation: StoredGeneration }) {
  return (
    <Card>
      <CardHeader className="mb-2">
        <CardTitle>Prompt</CardTitle>
        <CopyButton text={prompt} label="Copy the prompt" iconOnly className="-mr-2" />
      </CardHeader>
      <p className="whitespace-pre-wrap wrap-anywhere">{prompt}</p>
      <h3 className="mt-4 text-xs text-muted-foreground">Negative prompt</h3>
      <p className="whitespace-pre-wrap wrap-anywhere">
        {negativePrompt || <span className="text-muted-foreground">None</span>}
      </p>
    </Card>
  );
}

function Parameters({ generation }: { generation: StoredGeneration }) {
  const { identity, type, numOutputs, outputFormat, steps, cfgScale, seed } = generation;
  const hasReferences = type !== 'text_to_image';
  return (
    <>
      <Facts>
        <Fact name="Identity">{identity.name}</Fact>
        <Fact name="Type">{typeLabels[type]}</Fact>
        <Fact name="Size">{formatSize(generation)} px</Fact>
        <Fact name="Outputs">{formatNumber(numOutputs)}</Fact>
        <Fact name="Format">{formatLabels[outputFormat]}</Fact>
        <Fact name="Steps">{formatNumber(steps)}</Fact>
        <Fact name="Guidance scale">{formatNumber(cfgScale)}</Fact>
        <Fact name="Seed">
          {seed}
          <CopyButton text={String(seed)} label="Copy the seed" iconOnly className="-my-1 -mr-2" />
        </Fact>
        <Fact name="Reference mode">{hasReferences ? typeLabels[generation.referenceMode] : 'Not used'}</Fact>
        <Fact name="Reference images used">{formatNumber(generation.referenceImagesUsed)}</Fact>
        <Fact name="Preserve branding">{generation.preserveBranding ? 'Yes' : 'No'}</Fact>
      </Facts>
      {numOutputs > 1 && <Note>Each image after the first takes the next seed.</Note>}
      {hasReferences && (
        <Note>
          Reference images are not stored. Add them yourself when you use this request again; its code has
          addresses in their places that you replace.
        </Note>
      )}
    </>
  );
}

function Run({ generation }: { generation: StoredGeneration }) {
  const { id, status, creditsCharged, processingTimeMs, modelVersion } = generation;
  const failed = isFinal(status) && status !== 'COMPLETED';
  const { licenses } = useLicenseChoice();
  const own = licenses.find(({ licenseId }) => licenseId === generation.licenseId);
  return (
    <Facts>
      <Fact name="Status">
        <StatusBadge status={status} className="-my-0.5" />
      </Fact>
      <Fact name="Credits charged">{isFinal(status) ? formatNumber(creditsCharged) : 'None so far'}</Fact>
      <Fact name="Processing time">{processingTimeMs === null ? '–' : formatDuration(processingTimeMs)}</Fact>
      <Fact name="Model version">{modelVersion ?? '–'}</Fact>
      <TimeFact name="Created" iso={generation.createdAt} />
      <TimeFact name="Started" iso={generation.startedAt} />
      <TimeFact name={failed ? 'Ended' : 'Completed'} iso={generation.completedAt} />
      <Fact name="Request id" long>
        <code className="text-xs">{id}</code>
        <CopyButton text={id} label="Copy the request id" iconOnly className="-my-1 -mr-2" />
      </Fact>
      <Fact name="License">
        {own && `${own.tier} `}
        {shortId(generation.licenseId)}
      </Fact>
    </Facts>
  );
}

function Note({ children }: { children: ReactNode }) {
  return <p className="mt-4 text-xs leading-5 text-pretty text-muted-foreground">{children}</p>;
}
