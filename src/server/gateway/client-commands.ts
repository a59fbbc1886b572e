import { Refusal } from '../../protocol/errors.ts';
import { commandRows, type Lane } from '../../protocol/generated/command-rows.ts';
import type { CommandName, Frame, Result } from '../../protocol/generated/vocabulary.ts';
import type { Inbound, MalformedFrame } from '../../wire/inbound.ts';
import { AgentResponse } from '../agent-response.ts';
import { withApprovalRights } from '../auth/approval-rights.ts';
import { type AuditEvent, FailureAudit } from '../auth/audit.ts';
import { type Grant, type InboundType, permissionDenied, permits } from '../auth/grant.ts';
import type { CommandRequest, DialogAnswer } from '../sessions.ts';
import type { Client } from './client.ts';
import type { InboundLine } from './inbox.ts';
import { containsModels, seesAllFields, visibleCommands, visibleTo } from './redact-records.ts';
import { type ServerCommandHandler, serverCommands } from './server-commands.ts';
import { MoveBarrier } from './session-moves.ts';

/** Commands of one client that may be in flight. */
export const MAX_IN_FLIGHT_PER_CLIENT = 256;

// Commands of these lanes wait for a session move; others run at once.
const BARRIER_LANES: ReadonlySet<Lane> = new Set(['session', 'bash']);

/** The commands and frames of one client: checks scopes and limits, runs them, and sends one response for each command. */
export class ClientCommands {
  readonly #client: Client;
  readonly #sendText: (json: string) => void;
  readonly #moveBarrier = new MoveBarrier();
  readonly #failures: FailureAudit;
  #inFlight = 0;

  constructor(client: Client, sendText: (json: string) => void) {
    this.#client = client;
    this.#sendText = sendText;
    this.#failures = new FailureAudit(client.services.audit);
  }

  /** Records how many failures were not audited one by one. */
  close(): void {
    this.#failures.close();
  }

  /** Runs work that holds back commands of the session lanes. */
  exclusively(work: () => Promise<void>): Promise<void> {
    return this.#moveBarrier.runExclusively(work);
  }

  handle({ inbound, verdict }: InboundLine): void {
    if (inbound.kind === 'command') this.#handleCommand(inbound, verdict);
    else if (inbound.kind === 'frame') this.#handleFrame(inbound.frame);
    else {
      if ('malformed' in inbound && inbound.malformed) this.#handleMalformedFrame(inbound.malformed);
      if (inbound.kind === 'refused') this.#handleInvalid(inbound, verdict);
    }
  }

  #handleFrame(frame: Frame): void {
    if (!this.#maySend(frame.type)) return;
    this.#client.attachedHandle?.sendFrame(withApprovalRights(frame.type, frame, this.#client.identity.grant));
  }

  #handleMalformedFrame(frame: MalformedFrame): void {
    if (this.#maySend(frame.name)) this.#client.attachedHandle?.sendMalformedFrame(frame);
  }

  /** Answers to dialogs are decisions of a user; frames of host tools only continue what a command began. */
  onAnswer({ outcome, approval }: DialogAnswer): void {
    this.#record(approval ? 'approval' : 'extension_ui_response', outcome, approval);
    if (outcome === 'ok') return;
    const error = 'Permission denied: to allow this call needs a token without a limit, or with a higher one';
    this.#client.sendPrivate({ type: 'server_error', error, code: outcome });
  }

  #maySend(type: Frame['type']): boolean {
    const { grant } = this.#client.identity;
    const isPermitted = permits(grant, type) && this.#client.services.authority.isValid(grant);
    if (!isPermitted) this.#record(type, 'permission_denied');
    return isPermitted;
  }

  #handleInvalid(
    { id, command, refusal: parseRefusal }: Extract<Inbound, { kind: 'refused' }>,
    verdict: 'ok' | 'refuse',
  ): void {
    const isForbidden = this.#isForbidden(command);
    const { grant } = this.#client.identity;
    const refusal = isForbidden ? permissionDenied(command as CommandName, grant) : parseRefusal;
    if (isForbidden) this.#record(command as CommandName, refusal.code);
    const respond = () => {
      this.#sendText(AgentResponse.refusal(command, refusal).toText(id));
      // Clients that match responses by id would miss a response without one.
      if (id === undefined)
        this.#client.sendPrivate({ type: 'server_error', error: refusal.message, code: refusal.code });
    };
    if (verdict === 'refuse' || this.#inFlight >= MAX_IN_FLIGHT_PER_CLIENT) respond();
    else this.#afterAgentResponses(respond);
  }

  /** Responds after all pending responses of the agent. */
  #afterAgentResponses(respond: () => void): void {
    this.#inFlight++;
    this.#client.handle.send({ type: 'ping' }, () => {
      this.#inFlight--;
      respond();
    });
  }

  #isForbidden(command: string): boolean {
    return Object.hasOwn(commandRows, command) && !permits(this.#client.identity.grant, command as CommandName);
  }

  #handleCommand({ name, id, params }: Extract<Inbound, { kind: 'command' }>, verdict: 'ok' | 'refuse'): void {
    const { grant } = this.#client.identity;
    const request = withApprovalRights(name, { ...params, type: name, id } as CommandRequest, grant);
    const { inFlight } = this.#client.services;
    this.#inFlight++;
    const isTooMany = inFlight.add(grant) || this.#inFlight > MAX_IN_FLIGHT_PER_CLIENT;
    const onResponse = (response: AgentResponse) => {
      inFlight.remove(grant);
      this.#inFlight--;
      this.#client.services.metrics.onResponse(name, response.success);
      this.#audit(name, response);
      this.#sendText(this.#redacted(name, response).toText(id));
    };
    const reject = (refusal: Refusal) => onResponse(AgentResponse.refusal(name, refusal));
    if (!permits(grant, name) || !this.#client.services.authority.isValid(grant)) reject(permissionDenied(name, grant));
    else if (verdict === 'refuse' || isTooMany) {
      reject(new Refusal('overloaded', 'Too many commands at once'));
    } else {
      const run = () =>
        void this.#runCommand(request, onResponse).catch((error: unknown) => reject(Refusal.from(error)));
      if (BARRIER_LANES.has(commandRows[name].lane)) this.#moveBarrier.run(run);
      else run();
    }
  }

  async #runCommand(request: CommandRequest, onResponse: (response: AgentResponse) => void): Promise<void> {
    // The cast is safe: the table pairs each name with its parameters, which were validated.
    const handler = serverCommands[request.type] as ServerCommandHandler | undefined;
    if (handler) await handler(request, this.#client, onResponse);
    else this.#client.handle.send(request, onResponse);
  }

  #audit(name: CommandName, response: AgentResponse): void {
    if (permits(viewOnly(this.#client.identity.grant), name)) return;
    this.#record(name, response.success ? 'ok' : (response.record()['code'] as Refusal['code']));
  }

  #record(action: 'approval' | InboundType, outcome: AuditEvent['outcome'], approval?: DialogAnswer['approval']): void {
    const { identity, sessionId, services } = this.#client;
    const log = outcome === 'ok' ? services.audit : this.#failures;
    log.record({ action, ...identity, sessionId, ...approval, outcome });
  }

  /** Removes fields that this client may not see. */
  #redacted(name: CommandName, response: AgentResponse): AgentResponse {
    const { grant } = this.#client.identity;
    if (name === 'get_commands' && response.success && grant.allowedPaths) {
      const { commands } = response.data() as Result<'get_commands'>;
      return AgentResponse.success(name, { commands: visibleCommands(commands, grant) });
    }
    if (seesAllFields(this.#client) || !response.success || !containsModels(name)) return response;
    return AgentResponse.from(visibleTo(this.#client, response.record()));
  }
}

const viewOnly = (grant: Grant): Grant => ({ ...grant, scopes: new Set(['view']) });
