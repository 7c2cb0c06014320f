import { sharesByKind, type Endpoint, type InstanceShares } from './sleep.ts';
import { grouped } from './tables.ts';
import { kindOfHour, weekDays } from './traffic.ts';
import { hoursPerMonth, type Workload } from './workload.ts';

const barWidth = 73;

/** Marks for how much of an hour an instance exists, from the least on. */
const marks = [
  { atLeast: 0, mark: '·', meaning: 'under 5%' },
  { atLeast: 0.05, mark: '░', meaning: 'to 25%' },
  { atLeast: 0.25, mark: '▒', meaning: 'to 50%' },
  { atLeast: 0.5, mark: '▓', meaning: 'to 75%' },
  { atLeast: 0.75, mark: '█', meaning: 'to 100%' },
];

/** A week, hour by hour: for how much of each hour an instance exists, whatever it does. */
export function weekPicture(inference: Endpoint, workload: Workload): string {
  const awake = new Map(
    sharesByKind(inference, workload).map(({ load, shares }) => [load.kind, 1 - shares.asleep]),
  );
  const hours = Array.from({ length: 24 }, (_, hour) => hour);
  const rows = weekDays.map((name, day) => {
    const shares = hours.map((hour) => awake.get(kindOfHour(day, hour))!);
    const sum = shares.reduce((total, share) => total + share, 0);
    return `${name}  ${shares.map((share) => markOf(share).repeat(2)).join('')}  ${sum.toFixed(1).padStart(4)} h`;
  });
  const ruler = `     ${[0, 6, 12, 18].map((hour) => String(hour).padEnd(12)).join('')}  awake`;
  const legend = marks.map(({ mark, meaning }) => `${mark} ${meaning}`).join('  ');
  return ['```text', ruler, ...rows, '', `of the hour awake: ${legend}`, '```'].join('\n');
}

function markOf(share: number): string {
  return marks.findLast(({ atLeast }) => share >= atLeast)!.mark;
}

const states: { state: keyof InstanceShares; mark: string; meaning: string }[] = [
  { state: 'painting', mark: '█', meaning: 'paints' },
  { state: 'idle', mark: '▒', meaning: 'idle, not yet asleep' },
  { state: 'waking', mark: '▓', meaning: 'wakes' },
  { state: 'leaving', mark: '░', meaning: 'asleep, still paid' },
  { state: 'asleep', mark: '·', meaning: 'asleep, not paid' },
];

/** What the first instance does with a month's hours, a bar for each volume: a character for ten hours. */
export function monthPicture(
  inference: Endpoint,
  workloads: { images: number; workload: Workload }[],
): string {
  const rows = workloads.map(({ images, workload }) => {
    const kinds = sharesByKind(inference, workload);
    const hours = states.map(({ state }) =>
      kinds.reduce((sum, { load, shares }) => sum + load.hours * shares[state], 0),
    );
    return `${grouped(images).padStart(9)}  ${barOf(hours)}`;
  });
  const ruler = `   images  ${'0'.padEnd(barWidth - 9)}730 hours`;
  const legend = states.map(({ mark, meaning }) => `${mark} ${meaning}`).join('  ');
  return ['```text', ruler, ...rows, '', legend, '```'].join('\n');
}

/** Each state's characters end where its hours end, so that the bar is always as long as the month. */
function barOf(hours: number[]): string {
  let [until, drawn] = [0, 0];
  return states
    .map(({ mark }, index) => {
      until += hours[index]!;
      const end = Math.round((until / hoursPerMonth) * barWidth);
      const bar = mark.repeat(end - drawn);
      drawn = end;
      return bar;
    })
    .join('');
}
