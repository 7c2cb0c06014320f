import { accountThrottle } from '../../lib/throttle.ts';
import { basePath } from '../../shared/routes/api.ts';
import { routes } from '../../shared/routes/routes.ts';
import type { Route } from '../../shared/routes/route.ts';
import { functionIdOf, idOf, type Template } from './policies.ts';

/** What the door sees of a request. */
export interface Knock {
  method: string;
  headers: Record<string, string | undefined>;
  address: string;
  /** Below the API's base address. */
  path: string;
  /** How long its function runs. */
  runsMs: number;
}

/** Of two web ACLs the API's, which answers in the API's format. */
export const isOfApi = (webAcl: any): boolean => webAcl.CustomResponseBodies !== undefined;

/** Whether a request matches a statement of AWS WAF. Without what is looked at, it does not. */
export function isMatch(
  statement: any,
  knock: Pick<Knock, 'method' | 'headers'> & { path?: string },
): boolean {
  const { RegexMatchStatement: regex, NotStatement: not, OrStatement: or, AndStatement: and } = statement;
  if (not) return !isMatch(not.Statement, knock);
  if (or) return or.Statements.some((one: unknown) => isMatch(one, knock));
  if (and) return and.Statements.every((one: unknown) => isMatch(one, knock));
  const { SingleHeader: header, UriPath: path } = regex.FieldToMatch;
  const seen = header ? knock.headers[header.Name] : path ? knock.path : knock.method;
  return seen !== undefined && new RegExp(regex.RegexString).test(seen);
}

/**
 * What stands before the functions, by a template: the firewall's rules for addresses, API Gateway's throttles and Lambda's
 * executions. It is exact where AWS estimates. AWS's pages leave open whether the stage's throttle is one for all of its
 * methods or one for each: here it is one for all, which is the worse for callers.
 * @param accountConcurrency how many functions the account runs at once
 * @returns what refuses a request at a time, which does not go back; null if nothing does
 */
export function openDoor(template: Template, accountConcurrency: number) {
  const propertiesOf = (type: string, isWanted?: (properties: any) => boolean) =>
    template.Resources[idOf(template, type, isWanted)]!.Properties;
  const rules = propertiesOf('AWS::WAFv2::WebACL', isOfApi)
    .Rules.filter(({ Statement }: any) => Statement.RateBasedStatement)
    .toSorted((a: any, b: any) => a.Priority - b.Priority);
  const settings: any[] = propertiesOf('AWS::ApiGateway::Stage').MethodSettings;
  const all = (Object.values(routes) as Route[]).map((route) => {
    const own = settings.find(
      ({ HttpMethod, ResourcePath: path }) =>
        `${HttpMethod} ${path.replaceAll('~1', '/').replace(/^\/+/, '/')}` ===
        `${route.method} ${basePath}${route.path}`,
    );
    const setting = own ?? settings.find(({ ResourcePath: path }) => path === '/*');
    const path = new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
    const fn = template.Resources[functionIdOf(template, route.functionName)]!.Properties;
    const reserved: number | undefined = fn.ReservedConcurrentExecutions;
    return { method: route.method, path, setting, reserved, pool: route.functionName };
  });
  const unreserved = Object.values(template.Resources).reduce(
    (rest, { Properties: fn }) => rest - (fn?.ReservedConcurrentExecutions ?? 0),
    accountConcurrency,
  );
  const seen = new Map<string, number[]>();
  const buckets = new Map<unknown, { tokens: number; atMs: number }>();
  const running = new Map<string, number[]>();

  const isOverRate = ({ Name, Statement }: any, knock: Knock, atMs: number): boolean => {
    const { Limit, EvaluationWindowSec, ScopeDownStatement } = Statement.RateBasedStatement;
    if (ScopeDownStatement && !isMatch(ScopeDownStatement, knock)) return false;
    const key = `${Name} ${knock.address}`;
    const times = seen.get(key) ?? [];
    seen.set(key, times);
    times.push(atMs);
    return times.length > Limit && times.at(-Limit - 1)! > atMs - EvaluationWindowSec * 1000;
  };
  const take = (key: object, [rate, burst]: [rate: number, burst: number], atMs: number): boolean => {
    const last = buckets.get(key) ?? { tokens: burst, atMs };
    const tokens = Math.min(burst, last.tokens + ((atMs - last.atMs) * rate) / 1000);
    buckets.set(key, { tokens: tokens >= 1 ? tokens - 1 : tokens, atMs });
    return tokens >= 1;
  };
  const run = (name: string, size: number, atMs: number, runsMs: number): boolean => {
    const ends = (running.get(name) ?? []).filter((endMs) => endMs > atMs);
    const isFree = ends.length < size;
    running.set(name, isFree ? [...ends, atMs + runsMs] : ends);
    return isFree;
  };

  return (knock: Knock, atMs: number): string | null => {
    const rule = rules.find((one: any) => isOverRate(one, knock, atMs));
    if (rule) return rule.Name;
    const { setting, reserved, pool } = all.find(
      ({ method, path }) => method === knock.method && path.test(knock.path),
    )!;
    const own: [number, number] = [setting.ThrottlingRateLimit, setting.ThrottlingBurstLimit];
    const { ratePerSecond, burst } = accountThrottle;
    if (!take(setting, own, atMs) || !take(accountThrottle, [ratePerSecond, burst], atMs)) return 'throttle';
    return run(reserved === undefined ? 'all others' : pool, reserved ?? unreserved, atMs, knock.runsMs)
      ? null
      : 'executions';
  };
}
