import { openModels } from '../../../src/engine/models/open-models.ts';
import { Project } from '../../../src/engine/project.ts';
import type { AgentEvent, SessionHooks } from '../../../src/index.ts';
import { parseScript } from '../../../src/model/scripted/script.ts';
import { Session } from '../../../src/session/session.ts';
import { SessionLog } from '../../../src/store/sessions/session-log.ts';
import { newHome } from './test-agent.ts';

/** Opens an in-memory session with a scripted model, without a client, and collects its events. */
export async function openSession(responses: readonly object[], hooks: SessionHooks = {}) {
  const { cwd, agentDir } = newHome();
  const project = new Project({ cwd, agentDir });
  const script = parseScript(responses.map((response) => JSON.stringify(response)).join('\n'), 'script');
  const { registry } = await openModels({ agentDir, env: {}, project, script });
  const events: AgentEvent[] = [];
  const session = new Session({
    log: SessionLog.inMemory({ cwd }),
    events: { publish: (event) => events.push(event), drained: () => undefined },
    registry,
    hooks,
    tools: () => [],
    shell: () => ({ cwd, env: {}, family: 'test' }),
    promptParts: () => ({ append: [], contextFiles: [] }),
    settings: () => ({}),
    choice: { model: registry.fallback, thinkingLevel: 'off' },
    modes: { steering: 'one-at-a-time', followUp: 'one-at-a-time', interrupt: 'wait' },
    automatic: { compaction: false, retry: false },
  });
  return { session, events };
}
