import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentEvent, ServerConnectedEvent } from '../protocol/generated/vocabulary.ts';
import { anyToldSession, type ToldSession } from './testing/told-session.ts';
import { emptyView, reduce, type View } from './view.ts';

const connected = (fields: Partial<ServerConnectedEvent> = {}): AgentEvent => ({
  type: 'server_connected',
  sessionFile: null,
  sessionId: 's1',
  seq: 0,
  epoch: 'e',
  pingMs: 20_000,
  ...fields,
});

const viewAfter = (events: readonly AgentEvent[], view: View = emptyView) => events.reduce(reduce, view);

/** What a client has heard that was there from the beginning, up to an event. */
const heard = (session: ToldSession, count = session.events.length) =>
  viewAfter([connected(), ...(session.snapshots[0] ?? []), ...session.events.slice(0, count)]);

/** What one is told that comes later. */
const told = (session: ToldSession, count: number, fields?: Partial<ServerConnectedEvent>) => [
  connected(fields),
  ...(session.snapshots[count] ?? []),
  ...session.events.slice(count),
];

/** Without what is told once, to whoever is there. */
const lasting = ({ notices: _notices, retry: _retry, title: _title, ...view }: View) => view;

const anyTwoPlaces = fc.tuple(anyToldSession, fc.nat(), fc.nat()).map(([session, one, other]) => {
  const places = [one % (session.events.length + 1), other % (session.events.length + 1)].sort((a, b) => a - b);
  return { session, left: places[0] ?? 0, back: places[1] ?? 0 };
});

describe('the view of whoever', () => {
  it('[V37] comes at any moment is the view of whoever was there', () => {
    fc.assert(
      fc.property(anyTwoPlaces, ({ session, back }) => {
        expect(lasting(viewAfter(told(session, back)))).toEqual(lasting(heard(session)));
      }),
    );
  });

  it('[V24 V37] was away for too long, at any time, is the view of whoever was there', () => {
    fc.assert(
      fc.property(anyTwoPlaces, ({ session, left, back }) => {
        const view = viewAfter(told(session, back, { resume: 'gap', epoch: 'f' }), heard(session, left));

        expect(lasting(view)).toEqual(lasting(heard(session)));
      }),
    );
  });

  it('[V24 V37] was away and missed nothing is the same to the last notice', () => {
    fc.assert(
      fc.property(anyTwoPlaces, ({ session, left }) => {
        const missed = [connected({ resume: 'ok' }), ...session.events.slice(left)];

        expect(viewAfter(missed, heard(session, left))).toEqual(heard(session));
      }),
    );
  });

  it('[V37] goes to another session has nothing of the one before', () => {
    fc.assert(
      fc.property(anyToldSession, ({ events }) => {
        const view = viewAfter([...events, connected({ sessionId: 's2' })], viewAfter([connected()]));

        expect(view).toEqual({ ...emptyView, state: { sessionId: 's2' } });
      }),
    );
  });
});
