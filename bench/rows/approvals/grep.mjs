import { mkdirSync } from 'node:fs';
import { promptInTurn } from '../../support/agents-in-turn.mjs';
import { callScript } from '../../support/call-script.mjs';

const TURNS = 30;
const FOLDERS = 100;
const FILES = 100;

/** A search in 10,000 files in the sandbox, compared with one without. */
export const approvalsGrep = {
  name: 'approvals-grep',
  rounds: 3,

  samplers(workspace) {
    for (let folder = 0; folder < FOLDERS; folder++) {
      mkdirSync(workspace.path(`project/searched/${folder}`), { recursive: true });
      for (let file = 0; file < FILES; file++) {
        workspace.file(`project/searched/${folder}/${file}.txt`, `a line of ${folder} and ${file}\n`.repeat(20));
      }
    }
    const args = { path: 'searched', pattern: 'of 57 and 33' };
    const script = ['--tools', 'grep', '--script', callScript(workspace, 'approvals-grep', { tool: 'grep', args })];
    const agents = { off: { args: script }, on: { args: ['--approvals', 'auto', '--sandbox', 'required', ...script] } };
    return { turns: () => promptInTurn(workspace, agents, TURNS) };
  },

  rows({ turns }) {
    const limit = { over: 8 };
    return [
      {
        what: '`grep` in 10,000 files, median',
        unit: 'ms',
        value: turns['on median'],
        reference: turns['off median'],
        limit,
      },
    ];
  },
};
