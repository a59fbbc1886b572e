import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { writeLongSession } from '../support/long-session.mjs';
import { residentMb } from '../support/process-facts.mjs';

const SESSIONS = 1000;
/** A megabyte of them. */
const MESSAGES = 1380;

/** A thousand sessions of a megabyte, over a bare node that looks at each file and reads its beginning. */
export const list = {
  name: 'list',
  rounds: 5,

  samplers(place) {
    const folder = place.path('agent/sessions/--listed--');
    mkdirSync(folder, { recursive: true });
    const first = join(folder, '0.jsonl');
    writeLongSession(first, { cwd: '/listed', messages: MESSAGES });
    for (let n = 1; n < SESSIONS; n++) copyFileSync(first, join(folder, `${n}.jsonl`));
    return {
      whole: () => place.agent(['--no-session'], (child) => listed(child, {})),
      page: () => place.agent(['--no-session'], (child) => listed(child, { limit: 50 })),
      bare: () => place.node(bareListing(folder), answered),
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
  await child.ask({ id: 1, type: 'get_state' });
  const before = residentMb(child.pid);
  const ask = async (id) => {
    const sent = performance.now();
    return (await child.ask({ id, type: 'list_sessions', ...params })) - sent;
  };
  const ms = await ask(2);
  const again = await ask(3);
  return { ms, again, mb: residentMb(child.pid) - before };
}

async function answered(child) {
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
