import { S3Error } from './errors.ts';

/** A form's fields by their lower-case names; `bucket` is the one that the form was sent to. */
export type Fields = Map<string, string>;

interface FieldCondition {
  operator: 'eq' | 'starts-with';
  field: string;
  value: string;
}

type Condition = FieldCondition | { operator: 'content-length-range'; min: number; max: number };

const fieldsOutsidePolicy = /^(policy|x-amz-signature|x-ignore-.*)$/;

/**
 * Checks a form against its policy, whose signature is verified already: it has not expired, every condition is met,
 * and every field has a condition. Source: AWS, "Creating a POST policy".
 * @param policy the base64 of the form's `policy` field.
 */
export function checkPolicy(policy: string, fields: Fields, fileBytes: number, now: Date): void {
  const { expiration, conditions } = parsePolicy(policy);
  if (now > expiration) throw denied('Policy expired.');
  for (const condition of conditions) checkCondition(condition, fields, fileBytes);
  const covered = new Set(conditions.map((condition) => ('field' in condition ? condition.field : '')));
  const extra = [...fields.keys()].filter((name) => !covered.has(name) && !fieldsOutsidePolicy.test(name));
  if (extra.length > 0) throw denied(`Extra input fields: ${extra.join(', ')}`);
}

function checkCondition(condition: Condition, fields: Fields, fileBytes: number): void {
  if (condition.operator === 'content-length-range') {
    const { min, max } = condition;
    const sizes = (limit: string, bytes: number) => ({
      ProposedSize: String(fileBytes),
      [limit]: String(bytes),
    });
    if (fileBytes < min) throw new S3Error('EntityTooSmall', undefined, sizes('MinSizeAllowed', min));
    if (fileBytes > max) throw new S3Error('EntityTooLarge', undefined, sizes('MaxSizeAllowed', max));
    return;
  }
  const { operator, field, value } = condition;
  if (!isMet(condition, fields.get(field))) {
    throw denied(`Policy Condition failed: ${JSON.stringify([operator, `$${field}`, value])}`);
  }
}

function isMet({ operator, field, value }: FieldCondition, given: string | undefined): boolean {
  if (given === undefined) return false;
  if (operator === 'eq') return given === value;
  // A content type with commas is a list: each element must have the prefix.
  const parts = field === 'content-type' ? given.split(/, */) : [given];
  return parts.every((part) => part.startsWith(value));
}

function parsePolicy(policy: string): { expiration: Date; conditions: Condition[] } {
  let document: unknown;
  try {
    document = JSON.parse(Buffer.from(policy, 'base64').toString());
  } catch {
    throw invalid('it is not JSON.');
  }
  if (typeof document !== 'object' || document === null) throw invalid('it is not an object.');
  const { expiration, conditions } = document as Record<string, unknown>;
  const isDate =
    typeof expiration === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(expiration);
  const date = new Date(isDate ? expiration : Number.NaN);
  if (Number.isNaN(date.getTime())) throw invalid('its expiration is no ISO 8601 date.');
  if (!Array.isArray(conditions)) throw invalid('it has no conditions.');
  return { expiration: date, conditions: conditions.map(parseCondition) };
}

function parseCondition(condition: unknown): Condition {
  if (Array.isArray(condition)) {
    const [operator, first, second, ...more] = condition as unknown[];
    const name = typeof operator === 'string' ? operator.toLowerCase() : '';
    if (more.length === 0 && name === 'content-length-range' && isSize(first) && isSize(second)) {
      return { operator: name, min: Number(first), max: Number(second) };
    }
    const isField = typeof first === 'string' && first.startsWith('$') && typeof second === 'string';
    if (more.length === 0 && (name === 'eq' || name === 'starts-with') && isField) {
      return { operator: name, field: first.slice(1).toLowerCase(), value: second };
    }
  } else if (typeof condition === 'object' && condition !== null) {
    const [[field, value] = ['', undefined], ...more] = Object.entries(condition);
    if (more.length === 0 && typeof value === 'string') {
      return { operator: 'eq', field: field.toLowerCase(), value };
    }
  }
  throw invalid('one of its conditions is not understood.');
}

function isSize(value: unknown): boolean {
  return (typeof value === 'number' || typeof value === 'string') && /^\d{1,15}$/.test(String(value));
}

function denied(reason: string) {
  return new S3Error('AccessDenied', `Invalid according to Policy: ${reason}`);
}

function invalid(reason: string) {
  return new S3Error('InvalidPolicyDocument', `Invalid Policy: ${reason}`);
}
