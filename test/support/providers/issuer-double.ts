import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request that the issuer received. */
export interface IssuerRequest {
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage['headers'];
}

/** A response that replaces the usual one of the next request to a path. */
export interface IssuerReply {
  readonly status?: number;
  readonly body?: unknown;
  /** The connection stays open without a response. */
  readonly hangs?: true;
  /** The connection is lost before a response. */
  readonly drops?: true;
}

interface Family {
  ended: boolean;
}

const ACCOUNT = 'account-1';

/** A token whose claims name a ChatGPT account. */
const jwt = (name: string) =>
  ['head', JSON.stringify({ 'https://api.openai.com/auth': { chatgpt_account_id: ACCOUNT }, name }), 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');

/** An issuer of all sign-ins on loopback: checks PKCE, rotates refresh tokens, and ends a family that is used twice. */
export class IssuerDouble {
  readonly requests: IssuerRequest[] = [];
  /** Seconds that an access token lives. */
  expiresIn = 3600;
  /** A renewal returns no new refresh token. */
  keepsRefresh = false;
  /** Called when a refresh token was exchanged, before the response is sent. */
  onRotated: () => void | Promise<void> = () => {};
  /** Every token, code and verifier that must not be written anywhere but to auth.json. */
  readonly secrets = new Set<string>();
  readonly #replies = new Map<string, IssuerReply[]>();
  readonly #codes = new Map<string, { challenge: string; redirect: string }>();
  readonly #families = new Map<string, { family: Family; isUsed: boolean }>();
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  #waiting: (() => void)[] = [];
  #count = 0;

  static async start(): Promise<IssuerDouble> {
    const double = new IssuerDouble();
    double.#server.listen(0, '127.0.0.1');
    await once(double.#server, 'listening');
    onTestFinished(() => {
      double.#server.close();
      double.#server.closeAllConnections();
    });
    return double;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Replaces the next responses to this path. */
  respond(path: string, ...replies: readonly IssuerReply[]): void {
    this.#replies.set(path, [...(this.#replies.get(path) ?? []), ...replies]);
  }

  /** Settles when a path has received this many requests. */
  async received(path: string, count = 1): Promise<readonly IssuerRequest[]> {
    const matching = () => this.requests.filter((request) => request.path === path);
    while (matching().length < count) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return matching();
  }

  /** A stored sign-in of this issuer that has expired, or expires after some milliseconds. */
  storedSignIn(leftMs = -1000): Record<string, unknown> {
    const { access_token: access, refresh_token: refresh } = this.#tokens({ ended: false });
    return { type: 'oauth', access, refresh, expires: Date.now() + leftMs };
  }

  /** Confirms a login as a user in a browser would; returns the address that the browser opens next. */
  approve(address: string, more: Record<string, string> = {}): string {
    const { searchParams } = new URL(address);
    const redirect = searchParams.get('redirect_uri') ?? searchParams.get('callback_url') ?? '';
    const code = this.#secret('code');
    this.#codes.set(code, { challenge: searchParams.get('code_challenge') ?? '', redirect });
    const state = searchParams.get('state');
    const next = new URL(redirect);
    next.search = new URLSearchParams({ code, ...(state ? { state } : {}), ...more }).toString();
    return next.href;
  }

  /** The number of renewals that succeeded. */
  get renewals(): number {
    return [...this.#families.values()].filter(({ isUsed }) => isUsed).length;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const text = Buffer.concat(pieces).toString();
    const path = (request.url ?? '').split('?')[0] ?? '';
    const isJson = request.headers['content-type'] === 'application/json';
    const fields = (isJson ? JSON.parse(text) : Object.fromEntries(new URLSearchParams(text))) as Record<
      string,
      string
    >;
    this.requests.push({ path, fields, headers: request.headers });
    for (const wake of this.#waiting.splice(0)) wake();
    const reply = this.#replies.get(path)?.shift() ?? (await this.#usual(path, fields));
    if (reply.hangs) return;
    if (reply.drops) return void request.socket.destroy();
    response.writeHead(reply.status ?? 200, { 'content-type': 'application/json' });
    response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? {}));
  }

  async #usual(path: string, fields: Readonly<Record<string, string>>): Promise<IssuerReply> {
    if (/device_?(?:authorization|\/code|\/authorization\/)/.test(path)) return { body: this.#deviceCode() };
    switch (path) {
      case '/api/accounts/deviceauth/usercode':
        return { body: { device_auth_id: this.#secret('device'), user_code: 'ABCD-1234', interval: '1' } };
      case '/api/accounts/deviceauth/token':
        return { body: this.#deviceGrant() };
      case '/api/v1/auth/keys':
        return this.#exchange(fields, () => ({ key: this.#secret('key') }));
      case '/muse-code/key':
        return { body: { api_key: this.#secret('key') } };
      case '/models':
        return { body: { data: copilotModels } };
      default:
        return fields['grant_type'] === 'refresh_token'
          ? this.#refresh(fields)
          : this.#exchange(fields, () => this.#tokens({ ended: false }));
    }
  }

  #deviceCode(): object {
    return {
      device_code: this.#secret('device'),
      user_code: 'ABCD-1234',
      verification_uri: `${this.url}/device`,
      interval: 1,
      expires_in: 600,
    };
  }

  #deviceGrant(): object {
    const verifier = this.#secret('verifier');
    const code = this.#secret('code');
    const challenge = challengeOf(verifier);
    this.#codes.set(code, { challenge, redirect: 'https://auth.openai.com/deviceauth/callback' });
    return { authorization_code: code, code_verifier: verifier };
  }

  #exchange(fields: Readonly<Record<string, string>>, grant: () => object): IssuerReply {
    if (fields['grant_type']?.endsWith(':device_code')) return { body: grant() };
    const { code = '', code_verifier: verifier = '', redirect_uri: redirect } = fields;
    this.secrets.add(verifier);
    const known = this.#codes.get(code);
    this.#codes.delete(code);
    const isRight = known?.challenge === challengeOf(verifier) && (redirect ?? known.redirect) === known.redirect;
    return isRight ? { body: grant() } : { status: 400, body: { error: 'invalid_grant' } };
  }

  async #refresh({ refresh_token: refresh = '' }: Readonly<Record<string, string>>): Promise<IssuerReply> {
    const known = this.#families.get(refresh);
    if (!known || known.family.ended) return { status: 400, body: { error: 'invalid_grant' } };
    if (known.isUsed) {
      known.family.ended = true;
      return { status: 401, body: { error: { code: 'refresh_token_reused', message: `${refresh} was used` } } };
    }
    if (this.keepsRefresh) {
      const { refresh_token: _, ...tokens } = this.#tokens(known.family);
      return { body: tokens };
    }
    known.isUsed = true;
    const tokens = this.#tokens(known.family);
    await this.onRotated();
    return { body: tokens };
  }

  #tokens(family: Family) {
    const refresh = this.#secret('refresh');
    this.#families.set(refresh, { family, isUsed: false });
    const access = jwt(this.#secret('access'));
    this.secrets.add(access);
    return {
      access_token: access,
      refresh_token: refresh,
      id_token: jwt('id'),
      expires_in: this.expiresIn,
      scope: 'openid chatgpt.tokens.use.direct',
    };
  }

  #secret(kind: string): string {
    const secret = `${kind}-hunter2-${++this.#count}`;
    this.secrets.add(secret);
    return secret;
  }
}

const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url');

const copilotModels = [
  { id: 'gpt-6-sol', model_picker_enabled: true, policy: { state: 'enabled' } },
  { id: 'claude-opus-5.5', model_picker_enabled: true },
  { id: 'gpt-6-luna', model_picker_enabled: true, policy: { state: 'disabled' } },
  { id: 'grok-4.5', model_picker_enabled: false },
];
