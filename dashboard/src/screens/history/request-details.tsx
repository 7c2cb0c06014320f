import type { ReactNode } from 'react';
import { isFinal, useKeys } from '@/api/queries.ts';
import type { StoredGeneration } from '@/lib/types.ts';
import { CopyButton } from '@/components/copy-button.tsx';
import { stateOf, StatusBadge } from '@/components/status-badge.tsx';
import { Time } from '@/components/time.tsx';
import { Card, CardHeader, CardTitle } from '@/components/ui/card.tsx';
import { cn } from '@/lib/cn.ts';
import { formatDuration, formatNumber, formatSeconds, shortId } from '@/lib/format.ts';
import { causeText, formatLabels, typeLabels } from '@/lib/outputs.ts';
import { useLicenseChoice } from '@/license/license-choice.ts';
import { formatSize } from './request-view.ts';

export function RequestDetails({ generation }: { generation: StoredGeneration }) {
  return (
    <div className="grid min-w-0 grid-cols-1 gap-6">
      <Words generation={generation} />
      <Parameters generation={generation} />
      <Run generation={generation} />
    </div>
  );
}

function Words({ generation }: { generation: StoredGeneration }) {
  const { prompt, effectivePrompt, negativePrompt } = generation;
  return (
    <Card>
      <CardHeader className="mb-2">
        <CardTitle>Prompt</CardTitle>
        <CopyButton text={prompt} label="Copy the prompt" iconOnly className="-mr-2" />
      </CardHeader>
      <p dir="auto" className="whitespace-pre-wrap wrap-anywhere">
        {prompt}
      </p>
      {effectivePrompt && <MoreWords title="What the model got">{effectivePrompt}</MoreWords>}
      <MoreWords title="Negative prompt">
        {negativePrompt || <span className="text-muted-foreground">None</span>}
      </MoreWords>
    </Card>
  );
}

function MoreWords({ title, children }: { title: string; children: ReactNode }) {
  return (
    <>
      <h3 className="mt-4 text-xs text-muted-foreground">{title}</h3>
      <p dir="auto" className="whitespace-pre-wrap wrap-anywhere">
        {children}
      </p>
    </>
  );
}

function Parameters({ generation }: { generation: StoredGeneration }) {
  const { identity, type, numOutputs, outputFormat, steps, cfgScale, seed } = generation;
  const hasReferences = type !== 'text_to_image';
  return (
    <Card title="Parameters">
      <Details>
        <Detail name="Identity">
          <bdi>{identity.name}</bdi>
        </Detail>
        <Detail name="Identity version">{generation.identityVersion ?? '–'}</Detail>
        <Detail name="Type">{typeLabels[type]}</Detail>
        <Detail name="Size">{formatSize(generation)} px</Detail>
        <Detail name="Outputs">{formatNumber(numOutputs)}</Detail>
        <Detail name="Format">{formatLabels[outputFormat]}</Detail>
        <Detail name="Steps">{formatNumber(steps)}</Detail>
        <Detail name="Guidance scale">{formatNumber(cfgScale)}</Detail>
        <Detail name="Seed">
          {seed}
          <CopyButton text={String(seed)} label="Copy the seed" iconOnly className="-my-1 -mr-2" />
        </Detail>
        <Detail name="Reference mode">
          {hasReferences ? typeLabels[generation.referenceMode] : 'Not used'}
        </Detail>
        <Detail name="Reference images used">{formatNumber(generation.referenceImagesUsed)}</Detail>
        <Detail name="Preserve branding">{generation.preserveBranding ? 'Yes' : 'No'}</Detail>
      </Details>
      <Note>
        An image’s file says that a model made it, which one, its seed and its size. The prompt is in it only
        where the service’s operator wants that.
      </Note>
      {numOutputs > 1 && <Note>Each image after the first takes the next seed.</Note>}
      {hasReferences && (
        <Note>
          Reference images are deleted when their request ends. Add them yourself when you use this one again;
          its code has addresses in their places that you replace.
        </Note>
      )}
    </Card>
  );
}

function Run({ generation }: { generation: StoredGeneration }) {
  const { id, status, errorCode, creditsCharged, processingTimeMs, modelVersion } = generation;
  const failed = isFinal(status) && status !== 'COMPLETED';
  const { licenses } = useLicenseChoice();
  const { data: keys = [] } = useKeys();
  const { keyId } = generation;
  const maker =
    keyId === null ? 'Playground' : (keys.find((key) => key.keyId === keyId)?.name ?? shortId(keyId));
  const own = licenses.find(({ licenseId }) => licenseId === generation.licenseId);
  return (
    <Card title="Run">
      <Details>
        <Detail name="Status">
          <StatusBadge status={stateOf(generation)} className="-my-0.5" />
        </Detail>
        {errorCode && (
          <Detail name="Error code">
            <code className="text-xs">{errorCode}</code>
          </Detail>
        )}
        {failed && <Detail name="Cause">{causeText(errorCode)}</Detail>}
        <Detail name="Credits charged">
          {isFinal(status) ? formatNumber(creditsCharged) : 'None so far'}
        </Detail>
        <Detail name="Processing time">
          {processingTimeMs === null ? '–' : formatDuration(processingTimeMs)}
        </Detail>
        <Detail name="Model version">{modelVersion ?? '–'}</Detail>
        <Detail name="Made by">{maker}</Detail>
        <TimeDetail name="Created" iso={generation.createdAt} />
        <TimeDetail name="Started" iso={generation.startedAt} />
        <TimeDetail name={failed ? 'Ended' : 'Completed'} iso={generation.completedAt} />
        <Detail name="Request id" long>
          <code className="text-xs">{id}</code>
          <CopyButton text={id} label="Copy the request id" iconOnly className="-my-1 -mr-2" />
        </Detail>
        <Detail name="License">
          {own && <bdi>{own.name}</bdi>} {shortId(generation.licenseId)}
        </Detail>
      </Details>
    </Card>
  );
}

function Note({ children }: { children: ReactNode }) {
  return <p className="mt-4 text-xs leading-5 text-pretty text-muted-foreground">{children}</p>;
}

function Details({ children }: { children: ReactNode }) {
  return <dl className="-my-2 divide-y divide-border">{children}</dl>;
}

interface DetailProps {
  name: string;
  /** The value is so long that it stands below its name. */
  long?: boolean;
  children: ReactNode;
}

/** One line: its name at the left, its value at the right. */
function Detail({ name, long = false, children }: DetailProps) {
  return (
    <div className={cn('gap-x-4 py-2', long ? 'grid' : 'flex items-baseline justify-between')}>
      <dt className="shrink-0 text-muted-foreground">{name}</dt>
      <dd
        className={cn(
          'flex min-w-0 items-center gap-1 wrap-anywhere tabular-nums',
          long ? 'justify-between' : 'text-right',
        )}
      >
        {children}
      </dd>
    </div>
  );
}

function TimeDetail({ name, iso }: { name: string; iso: string | null }) {
  return <Detail name={name}>{iso === null ? '–' : <Time iso={iso}>{formatSeconds(iso)}</Time>}</Detail>;
}
