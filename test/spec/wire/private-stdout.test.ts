import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Home, newHome } from '../../support/agent/test-agent.ts';
import { verifies } from '../../support/verifies.ts';

const onStdio = ['stdio'] as const;

// Prints in every way, repeatedly, once tau reads its input.
const PRINTER_CODE = `
const processes = require('node:child_process');
const fs = require('node:fs');
const ways = {
  log: (text) => console.log(text),
  info: (text) => console.info(text),
  table: (text) => console.table([text]),
  stream: (text) => process.stdout.write(text + '\\n'),
  cut: (text) => process.stdout.write(text + ' {"type":"agent_end"'),
  descriptor: (text) => fs.writeSync(1, text + '\\n'),
  file: (text) => fs.appendFileSync('/dev/stdout', text + '\\n'),
  child: (text) => processes.spawn('echo', [text], { stdio: 'inherit' }),
  shell: (text) => processes.execSync('echo ' + text, { stdio: 'inherit' }),
};
const listening = () => process.stdin.listenerCount('data') > 0;
const chatter = setInterval(() => {
  if (!listening()) return;
  for (const [way, print] of Object.entries(ways)) print('chatter-' + way);
}, 20);
chatter.unref();
`;

verifies(
  'F17 C24',
  'output of code inside the process does not reach stdout',
  async ({ open }) => {
    const home = newHome();
    const { peer, process } = await open({ home, env: { NODE_OPTIONS: `--require ${writePrinter(home)}` } });

    await peer.run('count to 3000 then run `sleep 0.2` then say goodbye');
    process?.endInput();
    await process?.exited;

    const lines = process?.stdout().trimEnd().split('\n') ?? [];
    expect(lines.map((line) => JSON.parse(line).type)).toEqual(peer.records.map(({ type }) => type));
    expect(process?.stdout()).not.toContain('chatter');
    for (const way of ['log', 'info', 'table', 'stream', 'cut', 'descriptor', 'file', 'child', 'shell']) {
      expect(process?.stderr()).toContain(`chatter-${way}`);
    }
  },
  onStdio,
);

verifies(
  'F17',
  'the output of a tool reaches only its result, whatever way it prints',
  async ({ open }) => {
    const command =
      'echo one; echo two >&2; echo three >> /dev/stdout; (sleep 0.2; echo four) & node -e "console.log(5)"';
    const script = [{ toolCall: { name: 'bash', arguments: { command } } }, { text: 'Done' }];
    const { peer, process } = await open({ script });

    await peer.run('print');
    process?.endInput();
    await process?.exited;

    const result = JSON.stringify((await peer.find('tool_execution_end'))['result']);
    for (const word of ['one', 'two', 'three', '5']) expect(result).toContain(word);
    for (const line of process?.stdout().trimEnd().split('\n') ?? []) expect(JSON.parse(line)).toHaveProperty('type');
    expect(process?.stderr()).toBe('');
  },
  onStdio,
);

function writePrinter({ root }: Home): string {
  const path = join(root, 'chatterer.cjs');
  writeFileSync(path, PRINTER_CODE);
  return path;
}
