import { Duration, Stack } from 'aws-cdk-lib/core';
import {
  AlarmStatusWidget,
  Dashboard,
  TextWidget,
  type Alarm,
  type IWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { graph } from './metrics.ts';
import { costGraphs, sections, type AlarmRow, type Section, type Watched } from './watched.ts';

export interface RowAlarm {
  readonly row: AlarmRow;
  readonly alarm: Alarm;
}

export interface BoardProps {
  readonly watched: readonly Watched[];
  readonly alarms: readonly RowAlarm[];
}

export const runbookPath = 'docs/runbook.md';

/** One CloudWatch dashboard with the name of the stack: alarms on top, costs at the bottom. */
export class Board extends Construct {
  constructor(scope: Construct, id: string, { watched, alarms }: BoardProps) {
    super(scope, id);
    const { stackName } = Stack.of(this);
    const graphs = (Object.keys(sections) as Section[]).flatMap((section) =>
      withHeading(
        sections[section],
        watched.flatMap(({ widgets }) => widgets?.[section] ?? []),
      ),
    );
    const costs = costGraphs.flatMap((title) => {
      const metrics = watched.flatMap((each) => each.costs?.[title] ?? []);
      return metrics.length === 0 ? [] : [graph(title, metrics)];
    });
    new Dashboard(this, 'Dashboard', {
      dashboardName: stackName,
      defaultInterval: Duration.hours(6),
      widgets: [
        overview(stackName, alarms),
        ...graphs,
        ...withHeading('What drives costs, by the hour', costs),
      ],
    });
  }
}

function overview(stackName: string, alarms: readonly RowAlarm[]): IWidget[] {
  const byCapability = Map.groupBy(alarms, ({ row }) => row.capability);
  const lines = [...byCapability].map(([capability, those]) => {
    const anchors = new Set(those.map(({ row }) => `\`#${sectionOf(row)}\``));
    return `- ${capability}: ${[...anchors].join(' ')}`;
  });
  const markdown = [
    `# ${stackName}`,
    `What each alarm means and what to do: \`${runbookPath}\`, in the section of its name.`,
    `Questions to the logs are saved in Logs Insights, in the folder \`${stackName}\`.`,
    '',
    ...lines,
  ].join('\n');
  return [
    new TextWidget({ markdown, width: 12, height: 8 }),
    new AlarmStatusWidget({
      title: 'Alarms',
      alarms: alarms.map(({ alarm }) => alarm),
      width: 12,
      height: 8,
    }),
  ];
}

/** The section of the runbook that says what to do. */
export function sectionOf({ id, runbook = id }: AlarmRow): string {
  return runbook;
}

/** Rows of the board; none without widgets. */
function withHeading(heading: string, widgets: IWidget[]): IWidget[][] {
  if (widgets.length === 0) return [];
  return [[new TextWidget({ markdown: `## ${heading}`, width: 24, height: 1 })], widgets];
}
