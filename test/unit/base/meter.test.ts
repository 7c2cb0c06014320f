import type { EmfOutput } from '@aws-lambda-powertools/metrics/types';
import { expect, test } from '@jest/globals';
import { embeddedMetrics, recordingMeter } from '../../../shared/base/meter.ts';
import { metricNamespace, metricTable } from '../../../shared/base/metrics.ts';

const metricsOf = (record: (meter: ReturnType<typeof recordingMeter>) => void) => {
  const meter = recordingMeter();
  record(meter);
  return embeddedMetrics(meter, 'image-generation-test') as {
    metrics: EmfOutput;
    extraRecords: EmfOutput[];
  };
};

test('what was measured is written in the embedded metric format, for this deployment alone', () => {
  const { metrics, extraRecords } = metricsOf((meter) => {
    meter.add('creditsReserved', 4);
    meter.add('queueWait', 12.5);
  });
  expect(metrics._aws.CloudWatchMetrics).toEqual([
    {
      Namespace: metricNamespace,
      Dimensions: [['service']],
      Metrics: [
        { Name: 'CreditsReserved', Unit: 'Count' },
        { Name: 'QueueWait', Unit: 'Milliseconds' },
      ],
    },
  ]);
  expect(metrics).toMatchObject({ service: 'image-generation-test', CreditsReserved: 4, QueueWait: 12.5 });
  expect(extraRecords).toEqual([]);
});

test('an error is counted by its code, apart from what has no code', () => {
  const { metrics, extraRecords } = metricsOf((meter) => {
    meter.add('creditsReleased', 1);
    meter.count('errors', 'TIMEOUT');
  });
  expect(metrics).not.toHaveProperty('Errors');
  expect(extraRecords).toHaveLength(1);
  expect(extraRecords[0]).toMatchObject({ service: 'image-generation-test', code: 'TIMEOUT', Errors: 1 });
  expect(extraRecords[0]!._aws.CloudWatchMetrics[0]!.Dimensions).toEqual([['service', 'code']]);
});

test('what Lambda’s code failed at is counted by its version too, and nothing else is', () => {
  process.env.AWS_LAMBDA_FUNCTION_NAME = 'generate';
  process.env.AWS_LAMBDA_FUNCTION_VERSION = '17';
  const { extraRecords } = metricsOf((meter) => {
    meter.count('errors', 'TIMEOUT');
    meter.count('refusals', 'RATE_LIMITED');
    meter.count('billingEvents', 'failed');
    meter.count('billingEvents', 'applied');
  });
  delete process.env.AWS_LAMBDA_FUNCTION_NAME;
  delete process.env.AWS_LAMBDA_FUNCTION_VERSION;
  expect(extraRecords.map(({ _aws }) => _aws.CloudWatchMetrics[0]!.Dimensions)).toEqual([
    [
      ['service', 'code'],
      ['service', 'version'],
    ],
    [['service', 'code']],
    [
      ['service', 'outcome'],
      ['service', 'version'],
    ],
    [['service', 'outcome']],
  ]);
  expect(extraRecords[0]).toMatchObject({ code: 'TIMEOUT', version: 'generate:17', Errors: 1 });
});

test('a request that measured nothing adds nothing to its line', () => {
  expect(metricsOf(() => {})).toEqual({ metrics: {}, extraRecords: [] });
});

test('no two metrics have one name', () => {
  const names = Object.values(metricTable).map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

test('a request that measured the same thing twice has both', () => {
  const { metrics } = metricsOf((meter) => {
    meter.add('imageBytes', 1);
    meter.add('imageBytes', 2);
  });
  expect(metrics.ImageBytes).toEqual([1, 2]);
});
