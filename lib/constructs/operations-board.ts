import { Duration } from 'aws-cdk-lib/core';
import {
  AlarmStatusWidget,
  Dashboard,
  TextWidget,
  type Alarm,
  type IWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { noModelEndpoint } from '../../shared/config.ts';
import { runbookPath, type AlarmRow } from './alarms.ts';
import type { MonitoringSources } from './monitoring-sources.ts';
import { costs, fleet, storage } from './operations-board-resources.ts';
import { books, errors, phases, requests } from './operations-board-requests.ts';

export interface OperationsBoardProps extends MonitoringSources {
  readonly alarms: readonly { readonly row: AlarmRow; readonly alarm: Alarm }[];
}

/** One CloudWatch dashboard of the stack's name: what is wrong on top, what it costs at the bottom. */
export class OperationsBoard extends Construct {
  constructor(scope: Construct, id: string, { alarms, ...sources }: OperationsBoardProps) {
    super(scope, id);
    const rows: IWidget[][] = [
      overview(sources.serviceName, alarms),
      [heading('Requests')],
      requests(sources),
      errors(sources),
      [heading('Generations')],
      phases(sources),
      books(sources),
      ...(sources.model.endpointName === noModelEndpoint
        ? []
        : [[heading('Model endpoint')], fleet(sources.model)]),
      [heading('Table, dashboard and firewall')],
      storage(sources),
      [heading('What drives costs, by the hour')],
      costs(sources),
    ];
    new Dashboard(this, 'Dashboard', {
      dashboardName: sources.serviceName,
      defaultInterval: Duration.hours(6),
      widgets: rows,
    });
  }
}

function overview(serviceName: string, alarms: OperationsBoardProps['alarms']): IWidget[] {
  const sections = Map.groupBy(alarms, ({ row }) => row.capability);
  const lines = [...sections].map(([capability, those]) => {
    const anchors = new Set(those.map(({ row }) => `\`#${row.runbook}\``));
    return `- ${capability}: ${[...anchors].join(' ')}`;
  });
  const markdown = [
    `# ${serviceName}`,
    `What each alarm means and what to do: \`${runbookPath}\`, in the section of its name.`,
    `Questions to the logs are saved in Logs Insights, in the folder \`${serviceName}\`.`,
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

function heading(text: string): IWidget {
  return new TextWidget({ markdown: `## ${text}`, width: 24, height: 1 });
}
