import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib/core';
import { Template } from 'aws-cdk-lib/assertions';
import { readConfiguration } from '../../lib/configuration.ts';
import { ServiceStack } from '../../lib/service-stack.ts';
import { cdkContext, type Options } from './synthesized.ts';

/** A dashboard that has been built, as far as infrastructure looks. */
function builtDashboard(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dashboard-'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html>');
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'assets', 'index-1a2b.js'), '');
  return folder;
}

export const dashboardFolder = builtDashboard();

/** The whole stack's template in this process, with functions that are not bundled. */
export function templateOf(options: Options = {}): Template {
  const app = new App({ context: { ...cdkContext, 'aws:cdk:bundling-stacks': [] } });
  const configuration = readConfiguration(options, 'The test');
  return Template.fromStack(new ServiceStack(app, { configuration, dashboardFolder }));
}
