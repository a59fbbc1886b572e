import type { Subscriber } from '../../sessions.ts';

/** The properties of a subscriber, as one node sends them to another. */
export type SubscriberTraits = Pick<
  Subscriber,
  | 'isCumulative'
  | 'access'
  | 'canView'
  | 'canAnswerDialogs'
  | 'isAdmin'
  | 'ui'
  | 'receivesTitles'
  | 'receivesEntries'
  | 'receivesIds'
  | 'receivesOutputDeltas'
  | 'heartbeatMs'
  | 'isBehind'
>;

/** The present properties of a subscriber. */
export const traitsOf = (subscriber: SubscriberTraits): SubscriberTraits => ({
  isCumulative: subscriber.isCumulative,
  access: subscriber.access,
  canView: subscriber.canView,
  canAnswerDialogs: subscriber.canAnswerDialogs,
  isAdmin: subscriber.isAdmin,
  ui: subscriber.ui,
  receivesTitles: subscriber.receivesTitles,
  receivesEntries: subscriber.receivesEntries,
  receivesIds: subscriber.receivesIds,
  receivesOutputDeltas: subscriber.receivesOutputDeltas,
  heartbeatMs: subscriber.heartbeatMs,
  isBehind: subscriber.isBehind,
});
