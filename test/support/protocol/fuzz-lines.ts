import { commandNames, type Fields, fullParams, sampleParams } from './sample-params.ts';

/** An input line as bytes, and whether exactly one response must follow. */
export interface FuzzLine {
  readonly bytes: Uint8Array;
  readonly expectsResponse: boolean;
  /** The id that the response must carry, as JSON; undefined when none is guaranteed. */
  readonly id?: string | undefined;
}

/** Random numbers that are reproducible from a seed. */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  pick<T>(values: readonly [T, ...T[]]): T {
    return values[this.below(values.length)] ?? values[0];
  }
}

const prompts = ['say hello', 'count to 50', 'think about it', 'list the files', 'fail', 'cut the stream', 'stall', ''];
const hostileTypes = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'prototype',
  'abort ',
  'ABORT',
  '',
  '\u0000',
];
const oddValues: [unknown, ...unknown[]] = [
  null,
  0,
  -1,
  1e300,
  '',
  'a"b\\c\n\u2028',
  true,
  [],
  {},
  [[]],
  { a: { b: 1 } },
];

/** Yields malformed and unusual input lines without end, mixed with valid ones. */
export function* fuzzLines(random: SeededRandom): Generator<FuzzLine> {
  const usedIds: unknown[] = [];
  const kinds: [() => FuzzLine, ...(() => FuzzLine)[]] = [
    () => commandLine(random, usedIds),
    () => commandLine(random, usedIds),
    () => commandLine(random, usedIds),
    () => promptLine(random, usedIds),
    () => invalidFieldLine(random, usedIds),
    () => lineWithResponse(JSON.stringify({ id: 'odd type', type: random.pick(hostileTypes as [string]) }), 'odd type'),
    () => lineWithResponse(JSON.stringify(random.pick(oddValues))),
    () => truncatedLine(random),
    () => nestedLine(random),
    () => hugeLine(random),
    () => randomBytesLine(random),
    () => frameLine(random),
    () => ({ bytes: encode(random.pick(['', ' ', '\t', '\r', ' \t\r', '\uFEFF'])), expectsResponse: false }),
  ];
  while (true) {
    const line = random.pick(kinds)();
    const ending = encode(random.pick(['\n', '\n', '\r\n']));
    yield { ...line, bytes: Buffer.concat([line.bytes, ending]) };
  }
}

const encode = (text: string) => new TextEncoder().encode(text);

const lineWithResponse = (text: string, id?: unknown): FuzzLine => ({
  bytes: encode(text),
  expectsResponse: true,
  id: id === undefined ? undefined : JSON.stringify(id),
});

function anyId(random: SeededRandom, usedIds: unknown[]): Fields {
  const ids: [unknown, ...unknown[]] = [
    random.below(1000),
    `"quoted" \\${random.below(10)}`,
    { n: [random.below(3)] },
    null,
  ];
  const fresh = random.pick([...ids, random.pick(oddValues)]);
  usedIds.push(fresh);
  return random.pick<Fields>([{}, { id: fresh }, { id: usedIds[random.below(usedIds.length)] }]);
}

function commandLine(random: SeededRandom, usedIds: unknown[]): FuzzLine {
  const type = commandNames[random.below(commandNames.length)] ?? 'abort';
  const id = anyId(random, usedIds);
  const params = random.pick([sampleParams(type), fullParams(type)]);
  const line = { ...params, ...(type === 'hello' ? { heartbeatMs: random.pick([0, 5, 1e12]) } : {}), ...id, type };
  return lineWithResponse(JSON.stringify(line), id['id']);
}

function promptLine(random: SeededRandom, usedIds: unknown[]): FuzzLine {
  const type = random.pick(['prompt', 'steer', 'follow_up', 'abort_and_prompt']);
  const id = anyId(random, usedIds);
  const message = random.pick(prompts as [string]);
  return lineWithResponse(
    JSON.stringify({ message, streamingBehavior: random.pick(['steer', 'followUp']), ...id, type }),
    id['id'],
  );
}

function invalidFieldLine(random: SeededRandom, usedIds: unknown[]): FuzzLine {
  const type = commandNames[random.below(commandNames.length)] ?? 'abort';
  const params = fullParams(type);
  const fields = ['more', ...Object.keys(params)] as [string];
  const id = anyId(random, usedIds);
  const line = { ...params, [random.pick(fields)]: random.pick(oddValues), ...id, type };
  return lineWithResponse(JSON.stringify(line), id['id']);
}

/** A command line cut off before its JSON is complete. */
function truncatedLine(random: SeededRandom): FuzzLine {
  const type = commandNames[random.below(commandNames.length)] ?? 'abort';
  const whole = JSON.stringify({ type, ...fullParams(type), text: 'é€𝄞' });
  return lineWithResponse(whole.slice(0, 1 + random.below(whole.length - 1)));
}

function nestedLine(random: SeededRandom): FuzzLine {
  const depth = random.pick([10, 999, 1001, 50_000]);
  const value = random.pick(['['.repeat(depth) + ']'.repeat(depth), '{"a":'.repeat(depth) + 1 + '}'.repeat(depth)]);
  const field = random.pick(['type', 'id', 'message', 'images', 'more']);
  return lineWithResponse(random.pick([value, '['.repeat(depth), `{"${field}":${value},"type":"get_commands"}`]));
}

function hugeLine(random: SeededRandom): FuzzLine {
  const text = random.pick(['x', 'é', '\\u2028']).repeat(100_000 + random.below(500_000));
  return lineWithResponse(
    random.pick([`"${text}"`, `{"type":"set_session_name","name":5,"more":"${text}"}`, `{"type":"${text}"}`]),
  );
}

function randomBytesLine(random: SeededRandom): FuzzLine {
  const bytes = Uint8Array.from({ length: 1 + random.below(200) }, () => random.below(256)).map((byte) =>
    byte === 10 ? 0 : byte,
  );
  const isBlank = bytes.every((byte) => byte === 32 || byte === 9 || byte === 13);
  return { bytes, expectsResponse: !isBlank };
}

function frameLine(random: SeededRandom): FuzzLine {
  const type = random.pick(['extension_ui_response', 'host_tool_update', 'host_tool_result', 'entries_kept']);
  const field = random.pick(['id', 'value', 'partialResult', 'result', 'more']);
  const text = JSON.stringify({ type, id: 'nobody', [field]: random.pick(oddValues) });
  return { bytes: encode(text), expectsResponse: false };
}
