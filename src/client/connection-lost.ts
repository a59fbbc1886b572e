/** The agent is gone: what was asked of it will not be answered. It never crosses the wire. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

/** The same for what still waited to be sent: it was not done. */
export class NotSent extends ConnectionLost {}

/** The same for what whoever asked for it has taken back. */
export class Withdrawn extends NotSent {}
