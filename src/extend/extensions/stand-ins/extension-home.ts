/** What an extension is told of the agent that it runs in. */
export interface ExtensionHome {
  readonly agentDir: string;
  /** In whose name its commands run: what is left of them ends together. */
  readonly family: string;
}
