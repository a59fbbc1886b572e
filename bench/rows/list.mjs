import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { writeLongSession } from '../support/long-session.mjs';
import { residentMb } from '../support/process-stats.mjs';

const SESSIONS = 1000;
/** About one megabyte. */
const MESSAGES = 1380;

/** Lists a thousand sessions of a megabyte, compared with a plain Node process that reads the start of each file. */
export const list = {
  name: 'list',
  rounds: 5,

  samplers(workspace) {
    const folder = workspace.path('agent/sessions/--listed--');
    mkdirSync(folder, { recursive: true });
    const first = join(folder, '0.jsonl');
    writeLongSession(first, { cwd: '/listed', messages: MESSAGES });
    for (let n = 1; n < SESSIONS; n++) copyFileSync(first, join(folder, `${n}.jsonl`));
    return {
      whole: () => workspace.agent(['--no-session'], (child) => listed(child, {})),
      page: () => workspace.agent(['--no-session'], (child) => listed(child, { limit: 50 })),
      bare: () => workspace.node(bareListing(folder), timeBareListing),
    };
  },

  rows({ whole, page, bare }) {
    return [
      { what: '1,000 sessions of 1 MB', unit: 'ms', value: whole.ms, reference: bare.ms, limit: { value: 2000 } },
      { what: 'the same again', unit: 'ms', value: whole.again, reference: bare.ms, limit: { value: 200 } },
      { what: 'memory over ready', unit: 'MB', value: whole.mb, limit: { value: 60 } },
      { what: 'the newest 50 of them', unit: 'ms', value: page.ms, reference: bare.ms, limit: { value: 150 } },
    ];
  },
};

async function listed(child, params) {
  await child.request({ id: 1, type: 'get_state' });
  const before = residentMb(child.pid);
  const timeList = async (id) => {
    const sent = performance.now();
    return (await child.request({ id, type: 'list_sessions', ...params })) - sent;
  };
  const ms = await timeList(2);
  const again = await timeList(3);
  return { ms, again, mb: residentMb(child.pid) - before };
}

async function timeBareListing(child) {
  await child.until('ready');
  const sent = performance.now();
  child.write('go\n');
  return { ms: (await child.until('done')) - sent };
}

const bareListing = (folder) => `
const fs = require('node:fs');
process.stdin.once('data', () => {
  const head = Buffer.alloc(4096);
  for (const name of fs.readdirSync(${JSON.stringify(folder)})) {
    const path = ${JSON.stringify(`${folder}/`)} + name;
    fs.statSync(path);
    const fd = fs.openSync(path, 'r');
    fs.readSync(fd, head, 0, head.length, 0);
    fs.closeSync(fd);
  }
  console.log('done');
}).once('end', () => process.exit());
console.log('ready');`;
