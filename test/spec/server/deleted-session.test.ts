import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { newHome, sessionFiles } from '../../support/agent/test-agent.ts';
import { filterAlive } from '../../support/processes/processes.ts';
import { interceptingAgentArgs } from '../../support/server/intercepting-agent.ts';
import { itOnOneServer, startServer } from '../../support/server/test-server.ts';
import { shortConversation, storeSession } from '../../support/sessions/stored-session.ts';

itOnOneServer('the log has the session, not the file').each(['its id', 'its path'])(
  '[W98] a session deleted while its agent starts, requested by %s, is not found',
  async (by) => {
    const home = newHome();
    const path = storeSession(home, shortConversation(home.cwd));
    const started = join(home.root, 'started');
    const start = `rmSync('${path}'); appendFileSync('${started}', process.pid + '\\n');`;
    const server = await startServer({ home, args: interceptingAgentArgs(home, '', { start }) });
    const session = by === 'its id' ? 'stored-1' : path;
    const missing = { code: 4404, reason: expect.stringContaining('Session not found') };

    expect(await server.connect({ session }).ended).toMatchObject(missing);

    const agents = readFileSync(started, 'utf8').trim().split('\n').map(Number);
    expect(agents).toHaveLength(1);
    expect(await filterAlive(agents)).toEqual([]);
    expect(sessionFiles(home)).toEqual([]);
    expect(await server.connect({ session }).ended).toMatchObject(missing);
    expect(await (await server.get('/api/sessions')).json()).toMatchObject({ sessions: [] });
  },
);
