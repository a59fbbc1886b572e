import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Home, newHome, openTestAgent } from '../../support/agent/test-agent.ts';
import { groupSize, waitUntil } from '../../support/processes/processes.ts';
import { pathWithPi, startProgram } from '../../support/processes/program.ts';
import { assertValid } from '../../support/protocol/wire-log.ts';

const seeds = join(import.meta.dirname, '../../fixtures/seeds');
const python = ['python3', join(seeds, 'client.py')];

it('[V16] the printed Python client prints the response and exits', async () => {
  const home = newHome();
  const response = await modelResponseTo('Hello!');

  const { code, stdout, stderr } = await startProgram(home, python, { env: pathWithPi(home) }).finished;

  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `${response}\n`, stderr: '' });
});

it('[V6 V16] the printed Python client gets only valid records', async () => {
  const home = newHome();

  await startProgram(home, python, { env: pathWithCopyingPi(home) }).finished;

  expect(copiedTypes(home)).toContain('agent_settled');
});

testInteractive('[V17] the printed Node client with readline', 'client.cjs');
testInteractive('[V18] the printed Node client with its JSONL reader', 'jsonl-reader.cjs');

/** Tests a client that does not exit by itself. */
function testInteractive(title: string, program: string): void {
  const node = [process.execPath, join(seeds, program)];

  describe(title, () => {
    it('prints the response, and Ctrl-C ends it and the agent', async () => {
      const home = newHome();
      const response = await modelResponseTo('Hello');
      const client = startProgram(home, node, { env: pathWithPi(home) });
      await client.waitForOutput(response);

      process.kill(-(client.child.pid ?? 0), 'SIGINT');

      expect((await client.finished).stdout).toBe(response);
      await waitUntil(async () => (await groupSize(client.child.pid ?? 0)) === 0);
    });

    it('gets only valid records, and its agent ends when it is killed', async () => {
      const home = newHome();
      const response = await modelResponseTo('Hello');
      const client = startProgram(home, node, { env: pathWithCopyingPi(home) });
      await client.waitForOutput(response);

      client.child.kill('SIGKILL');

      await waitUntil(async () => (await groupSize(client.child.pid ?? 0)) === 0);
      expect(copiedTypes(home)).toContain('agent_settled');
    });
  });
}

/** The exact response of the model to this message. */
async function modelResponseTo(message: string): Promise<string> {
  const { peer } = await openTestAgent('memory');
  await peer.run(message);
  const { text } = await peer.ok({ type: 'get_last_assistant_text' });
  return text;
}

/** A path with a `pi` that also copies the output of the agent to a file. */
function pathWithCopyingPi(home: Home): Record<string, string> {
  const front = join(home.root, 'front');
  const { PATH } = pathWithPi(home);
  mkdirSync(front);
  const copying = `"${home.root}/bin/pi" "$@" | tee "${home.root}/copy.jsonl"`;
  // The copy must be complete even if the client exits early.
  writeFileSync(join(front, 'pi'), `#!/bin/sh\ntrap '' PIPE\n${copying}\n`);
  chmodSync(join(front, 'pi'), 0o755);
  return { PATH: `${front}:${PATH}` };
}

/** The types of the copied records, each validated. */
function copiedTypes(home: Home): string[] {
  const lines = readFileSync(join(home.root, 'copy.jsonl'), 'utf8').split('\n');
  expect(lines.pop()).toBe('');
  return lines.map((line) => {
    const record: Record<string, unknown> = JSON.parse(line);
    assertValid(record);
    return String(record['type']);
  });
}
