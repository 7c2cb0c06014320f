import { Duration } from 'aws-cdk-lib/core';
import {
  AlarmStatusWidget,
  Dashboard,
  TextWidget,
  type Alarm,
  type IWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { noModelEndpoint } from '../../../shared/base/config.ts';
import { runbookPath, sectionOf, type AlarmRow } from './alarms.ts';
import type { MonitoringSources } from './sources.ts';
import { modelGraphs } from './board-model.ts';
import { costGraphs, storageGraphs } from './board-resources.ts';
import { asyncGraphs, creditGraphs, errorGraphs, phaseGraphs, requestGraphs } from './board-requests.ts';

export interface OperationsBoardProps extends MonitoringSources {
  readonly alarms: readonly { readonly row: AlarmRow; readonly alarm: Alarm }[];
}

/** One CloudWatch dashboard with the name of the stack: alarms on top, costs at the bottom. */
export class OperationsBoard extends Construct {
  constructor(scope: Construct, id: string, { alarms, ...sources }: OperationsBoardProps) {
    super(scope, id);
    const rows: IWidget[][] = [
      overview(sources.serviceName, alarms),
      [heading('Requests')],
      requestGraphs(sources),
      errorGraphs(sources),
      [heading('Generations')],
      phaseGraphs(sources),
      asyncGraphs(sources),
      creditGraphs(sources),
      ...(sources.model.endpointName === noModelEndpoint
        ? []
        : [[heading('Model endpoint')], modelGraphs(sources.model)]),
      [heading('Table, dashboard and firewall')],
      storageGraphs(sources),
      [heading('What drives costs, by the hour')],
      costGraphs(sources),
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
    const anchors = new Set(those.map(({ row }) => `\`#${sectionOf(row)}\``));
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
