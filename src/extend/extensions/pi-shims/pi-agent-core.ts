import { unavailable } from './missing-names.ts';

const UNAVAILABLE = ['Agent', 'agentLoop', 'agentLoopContinue'];

/** The exports of `pi-agent-core`: all but a few are types. */
export const piAgentCore = (): object => Object.fromEntries(UNAVAILABLE.map((name) => [name, unavailable(name)]));
