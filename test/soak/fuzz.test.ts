import { spawn } from 'node:child_process';
import { expect, it, onTestFinished } from 'vitest';
import { LineReader, MAX_RECORD_BYTES } from '../../src/wire/json-lines.ts';
import { environment, newHome, TAU } from '../support/agent/test-agent.ts';
import type { WireRecord } from '../support/clients/peer.ts';
import { type FuzzLine, fuzzLines, SeededRandom } from '../support/protocol/fuzz-lines.ts';
import { assertValid } from '../support/protocol/wire-log.ts';

const { SOAK, FUZZ_SEED } = process.env;
const seed = Number(FUZZ_SEED ?? (SOAK ? Math.floor(Math.random() * 2 ** 32) : 1));
const count = SOAK ? 10_000 : 400;

/** An agent process; only its responses are kept, because all records of a long run would fill the memory. */
class FuzzedAgent {
  readonly responses: WireRecord[] = [];
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
      for (const line of reader.push(chunk)) this.#receive(line);
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

  /** Settles when the agent accepts more input. */
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

  /** Sends a command with a unique id and waits for its response. */
  async request(id: string, command: object): Promise<void> {
    await this.write(`${JSON.stringify({ id, ...command })}\n`);
    await this.until(() => this.responses.some((response) => response['id'] === id));
  }

  #receive(line: { text: string } | { tooLong: number }): void {
    try {
      const record = JSON.parse('text' in line ? line.text : '') as WireRecord;
      assertValid(record);
      if (record.type === 'response') this.responses.push({ type: record.type, id: record['id'] });
    } catch (error) {
      this.#problem ??= error;
    }
    this.#wake();
  }
}

/** Writes the lines in pieces that ignore line ends. */
async function writeInPieces(agent: FuzzedAgent, lines: readonly FuzzLine[], random: SeededRandom): Promise<void> {
  let rest = Buffer.concat(lines.map(({ bytes }) => bytes));
  while (rest.length > 0) {
    const size = 1 + random.below(random.pick([10, 1000, 100_000]));
    await agent.write(rest.subarray(0, size));
    rest = rest.subarray(size);
    if (random.below(4) === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

function countById(ids: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

it(`[C12 C13 F10 F15 F16 E8 E9] an agent survives ${count} fuzz lines and responds to each once, with FUZZ_SEED=${seed}`, {
  timeout: SOAK ? 1_200_000 : 60_000,
}, async () => {
  const random = new SeededRandom(seed);
  const source = fuzzLines(random);
  const agent = new FuzzedAgent();
  const sent: FuzzLine[] = [];

  for (let batch = 0; sent.length < count; batch++) {
    const lines = Array.from({ length: 50 }, () => source.next().value as FuzzLine);
    sent.push(...lines);
    await writeInPieces(agent, lines, random);
    await agent.request(`fence ${batch}`, { type: 'get_last_assistant_text' });
  }
  await agent.request('all accepted', { type: 'set_steering_mode', mode: 'all' });
  await agent.request('all stopped', { type: 'abort', clearQueue: true });
  const expected = sent.filter(({ expectsResponse }) => expectsResponse);
  const own = Math.ceil(count / 50) + 2;
  await agent.until(() => agent.responses.length >= expected.length + own);
  await agent.request('alive', { type: 'get_state' });
  agent.end();

  expect(await agent.exited).toBe(0);
  expect(agent.stderr).toBe('');
  expect(agent.responses).toHaveLength(expected.length + own + 1);
  const received = countById(agent.responses.map(({ id }) => JSON.stringify(id)));
  const promised = countById(expected.flatMap(({ id }) => (id === undefined ? [] : [id])));
  expect(new Map([...promised.keys()].map((id) => [id, received.get(id)]))).toEqual(promised);
});
