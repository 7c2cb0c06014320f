import { useId, useState } from 'react';
import { Button } from '@/components/ui/button.tsx';
import { Card, CardHeader, CardTitle } from '@/components/ui/card.tsx';
import { formatNumber } from '@/lib/format.ts';
import { shareText, type ShareRow } from './share-rows.ts';

/** Rows that are shown before somebody asks for all. */
const fewRows = 8;

interface BreakdownProps {
  title: string;
  /** What a row is, for the table's head. */
  column: string;
  rows: ShareRow[];
}

/** Requests and credits by identity or type, with bars for the share of the credits. */
export function Breakdown({ title, column, rows }: BreakdownProps) {
  const [all, setAll] = useState(false);
  const titleId = useId();
  const used = rows.some(({ requests }) => requests > 0);
  const shown = all || rows.length <= fewRows + 1 ? rows : rows.slice(0, fewRows);
  return (
    <Card aria-labelledby={titleId}>
      <CardHeader className="mb-2">
        <CardTitle id={titleId}>{title}</CardTitle>
      </CardHeader>
      {used ? (
        <table aria-labelledby={titleId} className="w-full text-right">
          <Head column={column} />
          <tbody>
            {shown.map((row) => (
              <Row key={row.id} row={row} />
            ))}
          </tbody>
        </table>
      ) : (
        <p className="text-muted-foreground">No request was completed in this period yet.</p>
      )}
      {rows.length > fewRows + 1 && (
        <Button
          variant="ghost"
          size="sm"
          className="mt-2 -ml-3"
          aria-expanded={all}
          onClick={() => setAll(!all)}
        >
          {all ? 'Show fewer' : `Show all ${rows.length}`}
        </Button>
      )}
    </Card>
  );
}

function Head({ column }: { column: string }) {
  const cell = 'pb-1 pl-4 font-normal whitespace-nowrap';
  return (
    <thead>
      <tr className="text-xs text-muted-foreground">
        <th scope="col" className="w-full pb-1 text-left font-normal">
          {column}
        </th>
        <th scope="col" className={cell}>
          Requests
        </th>
        <th scope="col" className={cell}>
          Credits
        </th>
        <th scope="col" className={cell}>
          Share
        </th>
      </tr>
    </thead>
  );
}

function Row({ row: { name, requests, credits, share } }: { row: ShareRow }) {
  const cell = 'py-2 pl-4 align-top whitespace-nowrap';
  return (
    <tr className="border-t border-border">
      <th scope="row" className="py-2 text-left font-normal">
        <span className="line-clamp-2 font-medium break-words">{name}</span>
        <span aria-hidden className="mt-1 block h-1 overflow-hidden rounded-full bg-secondary">
          <span className="block h-full rounded-full bg-primary" style={{ width: `${share * 100}%` }} />
        </span>
      </th>
      <td className={cell}>{formatNumber(requests)}</td>
      <td className={cell}>{formatNumber(credits)}</td>
      <td className={`${cell} text-muted-foreground`}>{shareText(share)}</td>
    </tr>
  );
}
