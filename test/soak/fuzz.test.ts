import { spawn } from 'node:child_process';
import { expect, it, onTestFinished } from 'vitest';
import { LineReader, MAX_RECORD_BYTES } from '../../src/wire/json-lines.ts';
import { Dice, type OddLine, oddLines } from '../support/odd-lines.ts';
import { environment, newHome, TAU } from '../support/open.ts';
import type { Record_ } from '../support/peer.ts';
import { assertValid } from '../support/wire-log.ts';

const { SOAK, FUZZ_SEED } = process.env;
const seed = Number(FUZZ_SEED ?? (SOAK ? Math.floor(Math.random() * 2 ** 32) : 1));
const count = SOAK ? 10_000 : 400;

/** An agent of which only the answers are kept: the rest of a long run would fill the memory. */
class Target {
  readonly responses: Record_[] = [];
  readonly exited: Promise<number | null>;
  stderr = '';
  readonly #child;
  #problem: unknown;
  #wake: () => void = () => {};

  constructor() {
    const home = newHome();
    this.#child = spawn(process.execPath, [TAU, '--mode', 'rpc'], { cwd: home.cwd, env: environment(home) });
    this.exited = new Promise((resolve) => this.#child.once('close', resolve));
    onTestFinished(async () => {
      this.#child.kill('SIGKILL');
      await this.exited;
    });
    const reader = new LineReader(MAX_RECORD_BYTES);
    this.#child.stdout.on('data', (chunk: Buffer) => {
      for (const line of reader.push(chunk)) this.#take(line);
    });
    this.#child.stderr.on('data', (chunk: Buffer) => {
      this.stderr += chunk;
    });
    this.#child.stdin.on('error', () => {});
    void this.exited.then((code) => {
      this.#problem ??= new Error(`tau ended with ${code}: ${this.stderr}`);
      this.#wake();
    });
  }

  /** Settles when the agent has room for more. */
  async write(bytes: Uint8Array | string): Promise<void> {
    if (this.#child.stdin.write(bytes)) return;
    await Promise.race([new Promise((resolve) => this.#child.stdin.once('drain', resolve)), this.exited]);
  }

  end(): void {
    this.#child.stdin.end();
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (this.#problem) throw this.#problem;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Sends a command with an id of its own and waits for its answer. */
  async answer(id: string, command: object): Promise<void> {
    await this.write(`${JSON.stringify({ id, ...command })}\n`);
    await this.until(() => this.responses.some((response) => response['id'] === id));
  }

  #take(line: { text: string } | { tooLong: number }): void {
    try {
      const record = JSON.parse('text' in line ? line.text : '') as Record_;
      assertValid(record);
      if (record.type === 'response') this.responses.push({ type: record.type, id: record['id'] });
    } catch (error) {
      this.#problem ??= error;
    }
    this.#wake();
  }
}

/** Writes lines in pieces that have nothing to do with where they end. */
async function feed(target: Target, lines: readonly OddLine[], dice: Dice): Promise<void> {
  let rest = Buffer.concat(lines.map(({ bytes }) => bytes));
  while (rest.length > 0) {
    const size = 1 + dice.below(dice.one([10, 1000, 100_000]));
    await target.write(rest.subarray(0, size));
    rest = rest.subarray(size);
    if (dice.below(4) === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

function tally(ids: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

it(`[C12 C13 F10 F15 F16 E8 E9] survives ${count} lines and answers each once, with FUZZ_SEED=${seed}`, {
  timeout: SOAK ? 1_200_000 : 60_000,
}, async () => {
  const dice = new Dice(seed);
  const source = oddLines(dice);
  const target = new Target();
  const sent: OddLine[] = [];

  for (let batch = 0; sent.length < count; batch++) {
    const lines = Array.from({ length: 50 }, () => source.next().value as OddLine);
    sent.push(...lines);
    await feed(target, lines, dice);
    await target.answer(`fence ${batch}`, { type: 'get_last_assistant_text' });
  }
  await target.answer('all accepted', { type: 'set_steering_mode', mode: 'all' });
  await target.answer('all stopped', { type: 'abort', clearQueue: true });
  const expected = sent.filter(({ isAnswered }) => isAnswered);
  const own = Math.ceil(count / 50) + 2;
  await target.until(() => target.responses.length >= expected.length + own);
  await target.answer('alive', { type: 'get_state' });
  target.end();

  expect(await target.exited).toBe(0);
  expect(target.stderr).toBe('');
  expect(target.responses).toHaveLength(expected.length + own + 1);
  const received = tally(target.responses.map(({ id }) => JSON.stringify(id)));
  const promised = tally(expected.flatMap(({ id }) => (id === undefined ? [] : [id])));
  expect(new Map([...promised.keys()].map((id) => [id, received.get(id)]))).toEqual(promised);
});
