import { expect, it, onTestFinished } from 'vitest';
import { Broadcast } from '../../fanout/broadcast.ts';
import { streamTimeouts } from '../../model/endpoint.ts';
import { ModelRegistry } from '../../model/registry/registry.ts';
import type { Model } from '../../protocol/generated/vocabulary.ts';
import { SessionList } from '../../store/sessions/listing/list-sessions.ts';
import { SessionLog } from '../../store/sessions/session-log.ts';
import { tempFolder } from '../../store/testing/temp-folder.ts';
import { memoryPair } from '../../wire/memory.ts';
import { Agent } from '../agent.ts';
import { noPolicy } from '../approvals/policy.ts';
import { ClientConnection } from '../client-connection.ts';
import { dispatch } from '../dispatch.ts';
import { Project } from '../project.ts';
import { SessionLane } from '../session-lane.ts';

/** A registry with the credentials of one provider. */
class OneModel extends ModelRegistry {
  override available(): readonly Model[] {
    return super.available().slice(0, 1);
  }
}

it('[L6] cycle_model returns null when only one model is available', async () => {
  const cwd = tempFolder();
  const parts = {
    broadcast: new Broadcast(),
    registry: new OneModel({ agentDir: cwd, env: {}, folderOptions: { timeouts: streamTimeouts({}) } }),
    hooks: {},
    agentDir: '',
    addonOptions: {},
    mode: 'rpc' as const,
    env: {},
    policyFor: async () => noPolicy,
    projectFor: () => new Project({ cwd, agentDir: cwd }),
    tools: () => [],
    toolChoice: {},
    shell: () => ({ cwd, env: {}, family: 'test' }),
    promptParts: () => ({ append: [], contextFiles: [] }),
    sessionDirectory: () => undefined,
    sessionList: async () => new SessionList(cwd),
    saveSettings: async () => {},
    setApiKey: async () => {},
    requested: {},
  };
  const agent = new Agent(parts, { log: SessionLog.inMemory({ cwd }), project: parts.projectFor(), policy: noPolicy });
  onTestFinished(() => agent.close());
  const [inside, outside] = memoryPair();
  const answer = new Promise((resolve) => {
    outside.onLine((line) => resolve('text' in line && JSON.parse(line.text)));
  });
  const before = agent.state;

  dispatch(
    { text: '{"type":"cycle_model","id":1}' },
    { agent, connection: new ClientConnection(inside), lane: new SessionLane() },
  );

  expect(await answer).toEqual({ id: 1, type: 'response', command: 'cycle_model', success: true, data: null });
  expect(agent.state).toEqual(before);
  expect(agent.session.log.entries().filter(({ type }) => type === 'model_change')).toHaveLength(1);
});
