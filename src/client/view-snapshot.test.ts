import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentEvent, ServerConnectedEvent } from '../protocol/generated/vocabulary.ts';
import { anySimulatedSession, type SimulatedSession } from './testing/simulated-session.ts';
import { emptyView, reduce, type ConversationView } from './view.ts';

const connected = (fields: Partial<ServerConnectedEvent> = {}): AgentEvent => ({
  type: 'server_connected',
  sessionFile: null,
  sessionId: 's1',
  seq: 0,
  epoch: 'e',
  pingMs: 20_000,
  ...fields,
});

const viewAfter = (events: readonly AgentEvent[], view: ConversationView = emptyView) => events.reduce(reduce, view);

/** A session up to some event, and two places before that. */
interface Scenario {
  readonly session: SimulatedSession;
  readonly lostAt: number;
  readonly resumedAt: number;
  readonly end: number;
}

/** What a client has heard that was there from the beginning. */
const liveView = ({ session, end }: Scenario, until = end) =>
  viewAfter([connected(), ...(session.snapshots[0] ?? []), ...session.events.slice(0, until)]);

/** What one is told that comes later. */
const attachEvents = ({ session, resumedAt, end }: Scenario, fields?: Partial<ServerConnectedEvent>) => [
  connected(fields),
  ...(session.snapshots[resumedAt] ?? []),
  ...session.events.slice(resumedAt, end),
];

/** Without what is told once, to whoever is there. */
const withoutTransient = ({ notices: _notices, retry: _retry, title: _title, ...view }: ConversationView) => view;

const anyScenario: fc.Arbitrary<Scenario> = fc
  .tuple(anySimulatedSession, fc.array(fc.nat(), { minLength: 3, maxLength: 3 }))
  .map(([session, numbers]) => {
    const positions = numbers.map((number) => number % (session.events.length + 1)).sort((one, other) => one - other);
    const [lostAt = 0, resumedAt = 0, end = 0] = positions;
    return { session, lostAt, resumedAt, end };
  });

const forAny = (check: (scenario: Scenario) => void) => fc.assert(fc.property(anyScenario, check), { numRuns: 500 });

describe('the view of whoever', () => {
  it('[V37] comes at any moment is the view of whoever was there', () => {
    forAny((scenario) => {
      expect(withoutTransient(viewAfter(attachEvents(scenario)))).toEqual(withoutTransient(liveView(scenario)));
    });
  });

  it('[V24 V37] was away for too long, at any time, is the view of whoever was there', () => {
    forAny((scenario) => {
      const view = viewAfter(attachEvents(scenario, { resume: 'gap', epoch: 'f' }), liveView(scenario, scenario.lostAt));

      expect(withoutTransient(view)).toEqual(withoutTransient(liveView(scenario)));
    });
  });

  it('[V24 V37] was away and missed nothing is the same to the last notice', () => {
    forAny((scenario) => {
      const missed = [connected({ resume: 'ok' }), ...scenario.session.events.slice(scenario.lostAt, scenario.end)];

      expect(viewAfter(missed, liveView(scenario, scenario.lostAt))).toEqual(liveView(scenario));
    });
  });

  it('[V37] goes to another session has nothing of the one before', () => {
    forAny((scenario) => {
      const view = viewAfter([connected({ sessionId: 's2' })], liveView(scenario));

      expect(view).toEqual({ ...emptyView, state: { sessionId: 's2' } });
    });
  });
});
