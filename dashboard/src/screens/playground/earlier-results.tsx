import { cn } from '@/lib/cn.ts';
import { formatCount } from '@/lib/format.ts';
import { imageSize, shortPrompt, type Result } from './results.ts';
import { runStore, useRunState } from './stores.ts';

/** The results of this visit, newest first; each can be brought back. */
export function EarlierResults() {
  const { run, results, shownId } = useRunState();
  const currentId = run === null ? shownId : null;
  if (results.every(({ requestId }) => requestId === currentId)) return null;
  return (
    <section aria-labelledby="earlier" className="grid min-w-0 grid-cols-1 gap-2">
      <h2 id="earlier" className="text-base font-semibold">
        Earlier in this visit
      </h2>
      <ul className="-mx-1 flex gap-2 overflow-x-auto p-1">
        {results.map((result) => (
          <li key={result.requestId} className="shrink-0">
            <Thumbnail result={result} shown={result.requestId === currentId} disabled={run !== null} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Thumbnail({ result, shown, disabled }: { result: Result; shown: boolean; disabled: boolean }) {
  const { outputs, body, identity, requestId } = result;
  const { width, height } = imageSize(body);
  const more = outputs.length > 1 ? `, ${formatCount(outputs.length, 'image')}` : '';
  return (
    <button
      type="button"
      disabled={disabled}
      aria-current={shown ? 'true' : undefined}
      aria-label={`Show ${shortPrompt(body.prompt, 60)}, ${identity.name}${more}`}
      title={shortPrompt(body.prompt)}
      onClick={() => runStore.show(requestId)}
      className={cn(
        'relative block h-20 overflow-hidden rounded-md bg-secondary disabled:opacity-60',
        shown && 'ring-2 ring-primary ring-offset-2 ring-offset-background',
      )}
      style={{ aspectRatio: `${width} / ${height}` }}
    >
      <img
        src={outputs[0]}
        alt=""
        referrerPolicy="no-referrer"
        loading="lazy"
        decoding="async"
        className="size-full object-cover"
      />
      {outputs.length > 1 && (
        <span
          aria-hidden
          className="absolute right-1 bottom-1 rounded-sm bg-black/70 px-1 text-xs leading-4 font-medium text-white tabular-nums"
        >
          {outputs.length}
        </span>
      )}
    </button>
  );
}
