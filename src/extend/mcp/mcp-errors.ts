/** The server did not respond, in contrast to an error response. */
export class ServerUnavailable extends Error {
  override readonly name: string = 'ServerUnavailable';
}

/** Why a session ended that the server does not know. */
export const SESSION_UNKNOWN = 'no longer has the session';

/** The server no longer has the session of a request, so that it has not run it: it may be repeated in a new session. */
export class SessionRefused extends ServerUnavailable {
  override readonly name = 'SessionRefused';
}

/** The demand of a server for a sign-in, as its response states it. */
export interface SignInChallenge {
  readonly scope?: string;
  readonly resourceMetadataUrl?: string;
  /** The stored sign-in lacks rights, so that renewing it cannot help. */
  readonly needsMoreScope?: true;
}

/** The server requires a sign-in of the user. It has not run the request. */
export class SignInRequired extends Error {
  override readonly name = 'SignInRequired';
  readonly challenge: SignInChallenge;

  constructor(challenge: SignInChallenge) {
    super(challenge.needsMoreScope ? 'requires a sign-in with more rights' : 'requires a sign-in');
    this.challenge = challenge;
  }
}
