/** The exports of `pi-agent-core` that tau has: none. Agents of extensions are made with `createAgentSession`. */
export const piAgentCore = (): object => ({});
