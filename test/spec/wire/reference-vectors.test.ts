import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import schema from '../../../docs/schema.json' with { type: 'json' };
import { check, type Definitions, type Schema } from '../../../src/protocol/check.ts';
import { parseInbound } from '../../../src/wire/inbound.ts';
import { openTestAgent } from '../../support/agent/test-agent.ts';

type Json = Record<string, unknown>;

/** An object printed in a public document. */
interface Vector {
  readonly document: string;
  readonly section: string;
  readonly kind: 'command' | 'frame' | 'response' | 'event' | 'type';
  readonly name: string;
  readonly json: Json;
}

const documents = ['pi-rpc-en', 'pi-rpc-zh', 'xcsh-rpc', 'remote-session-server'];
const definitions = schema.$defs as unknown as Definitions;

const vectors: readonly Vector[] = documents.flatMap((document) =>
  readFileSync(join(import.meta.dirname, `../../fixtures/seeds/${document}.jsonl`), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => ({ document, ...JSON.parse(line) })),
);

const printedType = (name: string): Json => {
  const vector = vectors.find((candidate) => candidate.kind === 'type' && candidate.name === name);
  if (!vector) throw new Error(`No document prints ${name}`);
  return vector.json;
};

const model = printedType('Model');
const assistantMessage = printedType('AssistantMessage');
const state = {
  model,
  thinkingLevel: 'medium',
  isStreaming: false,
  isIdle: true,
  isCompacting: false,
  steeringMode: 'all',
  followUpMode: 'one-at-a-time',
  interruptMode: 'wait',
  sessionId: 'abc123',
  cwd: '/home/user/myproject',
  projectTrusted: false,
  autoCompactionEnabled: true,
  messageCount: 5,
  pendingMessageCount: 0,
  queuedMessageCount: 0,
  queuedMessages: [],
  todoPhases: [],
  pendingUi: [],
  activeTools: [],
};

/** Replacements for parts that the documents omit, by key. */
const samples: Readonly<Record<string, unknown>> = {
  model,
  models: [model],
  message: assistantMessage,
  partial: assistantMessage,
  messages: [
    printedType('UserMessage'),
    assistantMessage,
    printedType('ToolResultMessage'),
    printedType('BashExecutionMessage'),
  ],
  toolResults: [printedType('ToolResultMessage')],
  details: {},
  state,
  'data of set_model': model,
  'data of get_state': state,
};

function fillOmitted(value: unknown, key: string, name: string): unknown {
  if (JSON.stringify(value) === '{"$any":true}' || JSON.stringify(value) === '["$any"]') {
    const sample = samples[key] ?? samples[`${key} of ${name}`];
    if (sample === undefined) throw new Error(`No sample for ${key} of ${name}`);
    return sample;
  }
  if (Array.isArray(value)) return value.map((item) => fillOmitted(item, key, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([inner, field]) => [inner, fillOmitted(field, inner, name)]));
}

/** The schema and the value to check: a record on the wire, or a type of its own. */
function toCheckable({ kind, name, json }: Vector): { shape: Schema; value: Json } {
  const value = fillOmitted(json, '', name) as Json;
  const [, command] = /^(\w+) data$/.exec(name) ?? [];
  if (command !== undefined)
    return { shape: outbound, value: { type: 'response', command, success: true, data: value } };
  const shape = kind === 'type' ? definitions[name] : outbound;
  if (!shape) throw new Error(`The protocol has no ${name}`);
  return { shape, value };
}

const outbound = definitions['outbound'] as Schema;
const problemOf = (shape: Schema, value: Json) => check(shape, value, { closed: true, definitions });
const outboundVectors = vectors.filter(({ kind }) => kind === 'response' || kind === 'event' || kind === 'type');

/** A documented difference between a printed example and what tau sends. */
interface Difference {
  readonly of: (vector: Vector) => boolean;
  readonly reason: string;
  /** The fields that turn the example into what tau sends. */
  readonly more: Json;
}

const isResponseTo =
  (...names: string[]) =>
  ({ kind, name, json }: Vector) =>
    kind === 'response' && names.includes(name) && json['success'] === true;
const { model: _model, ...ownState } = state;

const differences: readonly Difference[] = [
  {
    of: isResponseTo('prompt', 'steer', 'follow_up'),
    reason: 'tau returns the disposition of the message',
    more: { data: { disposition: 'started', runId: 'r1' } },
  },
  {
    of: ({ kind, json }) => kind === 'response' && json['success'] === false,
    reason: 'tau gives every error a code from a closed set',
    more: { code: 'model_not_found' },
  },
  {
    of: (vector) => isResponseTo('get_state')(vector) && vector.document.startsWith('pi-rpc'),
    reason: 'tau adds the fields of the xcsh reference and its own',
    more: { data: missingFields('pi-rpc-en', 'get_state') },
  },
  {
    of: ({ document, name }) => document === 'xcsh-rpc' && name === 'get_state data',
    reason: 'the reference prints all alternatives in one text and a bare model; tau sends one value and a full Model',
    more: { data: { ...ownState, todoPhases: undefined, model } },
  },
  {
    of: ({ name }) => name === 'agent_end',
    reason: 'tau reports whether the run continues',
    more: { willRetry: false, isTerminal: true },
  },
  {
    of: ({ name }) => name === 'server_connected',
    reason: 'tau sends the cursor and the ping interval',
    more: { seq: 0, epoch: 'e', pingMs: 20_000 },
  },
  {
    of: ({ name }) => name === 'queue_update',
    reason: 'tau lists the queued messages with their ids',
    more: { items: [{ id: 'q1', kind: 'steer', text: 'Focus on error handling' }] },
  },
  {
    of: ({ document, name }) => document === 'xcsh-rpc' && name === 'message_update',
    reason: 'the reference prints half a step and a bare message; tau sends them in full',
    more: { assistantMessageEvent: { contentIndex: 0 }, message: assistantMessage },
  },
];

// Shapes of files, which are never sent.
const notOnTheWire = ['TokenFile'];

/** The fields of a state that an example does not print. */
function missingFields(document: string, name: string): Json {
  const example = vectors.find(
    (candidate) => candidate.document === document && candidate.kind === 'response' && candidate.name === name,
  );
  const given = (example?.json['data'] ?? {}) as Json;
  return Object.fromEntries(Object.entries(state).filter(([field]) => !Object.hasOwn(given, field)));
}

/** Merges objects deeply; other values are replaced, and `undefined` changes nothing. */
function mergeDeep(value: Json, more: Json): Json {
  const fields = Object.entries(more).filter(([, field]) => field !== undefined);
  return {
    ...value,
    ...Object.fromEntries(
      fields.map(([name, field]) => [
        name,
        isObject(value[name]) && isObject(field) ? mergeDeep(value[name], field) : field,
      ]),
    ),
  };
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const labelled = (list: readonly Vector[]) =>
  list.map((vector): [string, Vector] => [`${vector.document}, ${vector.section}: ${vector.name}`, vector]);

describe('inbound examples of the documents are parsed', () => {
  it.each(labelled(vectors.filter(({ kind }) => kind === 'command')))('[C1 C2] %s', (_label, { name, json }) => {
    const { id, type: _, ...params } = json;

    const inbound = parseInbound({ text: JSON.stringify(json) });

    expect(inbound).toEqual({ kind: 'command', name, id, params });
  });

  it.each(labelled(vectors.filter(({ kind }) => kind === 'frame')))('[C15] %s', (_label, { json }) => {
    const inbound = parseInbound({ text: JSON.stringify(json) });

    expect(inbound).toEqual({ kind: 'frame', frame: json });
  });
});

it('[C7 C12] every printed command gets one response from a live agent, under its own name', async () => {
  const commands = vectors.filter(({ kind }) => kind === 'command');
  const { peer } = await openTestAgent('memory', { args: ['--no-session'] });

  const responses = [];
  for (const [index, { json }] of commands.entries()) {
    responses.push(await peer.request({ ...json, type: String(json['type']), id: index }));
  }

  expect(responses.map(({ command }) => command)).toEqual(commands.map(({ name }) => name));
  const expected = ['agent_busy', 'model_not_found', 'not_supported', 'session_not_found', 'not_found'];
  expect(responses.filter(({ code }) => code !== undefined && !expected.includes(String(code)))).toEqual([]);
});

describe('outbound examples of the documents match the schema', () => {
  const onTheWire = outboundVectors.filter(({ name }) => !notOnTheWire.includes(name));

  it.each(labelled(onTheWire))('[D1 D2 D5 D6 D7 D8 D9 D10 D12 D13 C24] %s', (_label, vector) => {
    const { shape, value } = toCheckable(vector);
    const more = differences.filter(({ of }) => of(vector)).map((difference) => difference.more);

    const problem = problemOf(shape, more.reduce(mergeDeep, value));

    expect(problem).toBeUndefined();
  });

  it.each(differences.map((difference): [string, Difference] => [difference.reason, difference]))(
    'differs as documented: %s',
    (_reason, { of, more }) => {
      const matches = onTheWire.filter(of).map(toCheckable);

      const plain = matches.map(({ shape, value }) => problemOf(shape, value));
      const changed = matches.map(({ shape, value }) => problemOf(shape, mergeDeep(value, more)));

      expect(matches).not.toEqual([]);
      expect(plain).toEqual(matches.map(() => expect.any(String)));
      expect(changed).toEqual(matches.map(() => undefined));
    },
  );

  it('contains no unknown type', () => {
    const unknown = outboundVectors.filter(
      ({ kind, name }) => kind === 'type' && !/ data$/.test(name) && !definitions[name],
    );

    expect(unknown.map(({ name }) => name)).toEqual(notOnTheWire);
  });
});
