import type { Schema } from './schema.ts';

/** Tools give all that they generate names of one kind, whatever its section, and some ignore case. Examples have names in capitals. */
const endings: Record<string, string> = { parameters: 'Parameter', headers: 'Header', responses: 'Answer' };

/** Integers without an upper limit that are small by what they count. All others without one have 64 bits. */
const small = /^(width|height|numOutputs|steps?|position|status|maxOutputs|maxSidePx|maxInFlight)$/;

/**
 * A copy of a document as tools that generate clients can read it, whatever the contracts say: `docs/api/generated-clients.md` names
 * the tools. What it leaves out of requests the service checks all the same, and descriptions say it.
 */
export function forGenerators(document: Schema): Schema {
  // A structured clone would keep objects that stand in several places one.
  const copy = JSON.parse(JSON.stringify(document)) as Schema;
  const { schemas } = copy.components;
  for (const [name, schema] of Object.entries<Schema>(schemas)) {
    if (name.endsWith('Request')) visit(schema, (member, of) => simplifyRequest(member, of, schemas));
    else visit(schema, openAnswer);
  }
  visit(copy, simplify);
  for (const [section, ending] of Object.entries(endings)) {
    const entries = Object.entries<Schema>(copy.components[section]);
    copy.components[section] = Object.fromEntries(entries.map(([name, one]) => [name + ending, one]));
  }
  return copy;
}

/** Changes every object of a document but examples, those within it first. `name` is the member's that holds it. */
function visit(node: unknown, change: (node: Schema, name: string) => void, name = ''): void {
  if (typeof node !== 'object' || node === null) return;
  for (const [each, child] of Object.entries(node)) {
    if (!/^examples?$/.test(each)) visit(child, change, each);
  }
  change(node, name);
}

function simplify(schema: Schema, name: string): void {
  const { $ref, properties, type, format, pattern, maximum = Infinity } = schema;
  if (typeof $ref === 'string') {
    for (const other of Object.keys(schema)) delete schema[other];
    schema.$ref = $ref.replace(
      /(?<=^#\/components\/)(\w+)\/\w+$/,
      (path, section) => path + (endings[section] ?? ''),
    );
  }
  if (properties) for (const choice of ['oneOf', 'anyOf', 'not']) delete schema[choice];
  if (type === 'boolean') delete schema.const;
  // Ids are opaque text.
  if (format === 'uuid') delete schema.format;
  if (typeof pattern === 'string') {
    if (format) delete schema.pattern;
    else schema.pattern = pattern.replace(/\\([^])/g, (pair, next) => (next === '/' ? next : pair));
  }
  if ([type].flat().includes('integer') && maximum > 2 ** 31 - 1) {
    schema.format = small.test(name) ? 'int32' : 'int64';
  }
}

/** An answer may get members and values that it does not have today, and ids another form. */
function openAnswer(schema: Schema): void {
  if (schema.properties) schema.additionalProperties = true;
  if (typeof schema.pattern === 'string') delete schema.pattern;
  const { enum: list, const: only } = schema;
  if (!Array.isArray(list) && typeof only !== 'string') return;
  delete schema.enum;
  delete schema.const;
  const values: unknown[] = (list ?? [only]).filter((value: unknown) => value !== null);
  schema['x-extensible-enum'] = values;
  const isTold = values.every((value) => schema.description?.includes(quoted(value)));
  if (!isTold) describe(schema, `Values today: ${values.map(quoted).join(', ')}.`);
}

/** A default makes some tools ask for the member. A list of values that may be null has no name of its own in any. */
function simplifyRequest(schema: Schema, name: string, schemas: Record<string, Schema>): void {
  const { default: value, enum: list } = schema;
  if (value !== undefined && !schema.properties) {
    delete schema.default;
    describe(schema, `${value === '' || Array.isArray(value) ? 'Empty' : quoted(value)} by default.`);
  }
  if (!Array.isArray(list)) return;
  const listName = name[0]!.toUpperCase() + name.slice(1);
  const named = { type: 'string', enum: list.filter((each: unknown) => each !== null) };
  schemas[listName] ??= named;
  if (JSON.stringify(schemas[listName]) !== JSON.stringify(named))
    throw new Error(`Two schemas are called ${listName}.`);
  const { description } = schema;
  for (const keyword of Object.keys(schema)) delete schema[keyword];
  Object.assign(schema, {
    description,
    anyOf: [{ $ref: `#/components/schemas/${listName}` }, { type: 'null' }],
  });
}

function describe(schema: Schema, sentence: string): void {
  schema.description = schema.description === undefined ? sentence : `${schema.description} ${sentence}`;
}

function quoted(value: unknown): string {
  return `\`${String(value)}\``;
}
