import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { meddlingAgent } from '../../support/meddling-agent.ts';
import { newHome, sessionFiles } from '../../support/open.ts';
import { living } from '../../support/processes.ts';
import { serve } from '../../support/server.ts';
import { conversation, keepSession } from '../../support/stored-session.ts';

it.each(['its id', 'its path'])(
  '[W98] a session that is deleted as its agent starts, asked for by %s, is missing',
  async (by) => {
    const home = newHome();
    const path = keepSession(home, conversation(home.cwd));
    const started = join(home.root, 'started');
    const start = `rmSync('${path}'); appendFileSync('${started}', process.pid + '\\n');`;
    const server = await serve({ home, args: meddlingAgent(home, '', { start }) });
    const session = by === 'its id' ? 'stored-1' : path;
    const missing = { code: 4404, reason: expect.stringContaining('Session not found') };

    expect(await server.connect({ session }).ended).toMatchObject(missing);

    const agents = readFileSync(started, 'utf8').trim().split('\n').map(Number);
    expect(agents).toHaveLength(1);
    expect(await living(agents)).toEqual([]);
    expect(sessionFiles(home)).toEqual([]);
    expect(await server.connect({ session }).ended).toMatchObject(missing);
    expect(await (await server.get('/api/sessions')).json()).toMatchObject({ sessions: [] });
  },
);
