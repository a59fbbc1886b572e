import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { strictestMode } from '../../protocol/approvals/approval-modes.ts';
import type { ApprovalMode, SandboxUse } from '../../protocol/generated/vocabulary.ts';
import type { ApprovalSettings } from '../../store/approvals/approval-settings.ts';
import type { Settings } from '../../store/settings.ts';

/** The limits that flags set for every session. */
export interface ApprovalFlags {
  readonly mode?: ApprovalMode | undefined;
  readonly sandbox?: SandboxUse | undefined;
}

/** The limits that flags and settings set in a project. */
export interface ApprovalPolicy {
  /** The loosest mode. */
  readonly ceiling: ApprovalMode;
  readonly use: SandboxUse | undefined;
  /** Whether a flag or a setting names the mode. */
  readonly isModeSet: boolean;
  /** Undefined if no file has any. */
  readonly settings: ApprovalSettings | undefined;
  /** Whether rules deny or question calls also in the mode `full`. */
  readonly hasLimits: boolean;
  readonly warnings: readonly string[];
}

/** Everything is allowed. */
export const noPolicy: ApprovalPolicy = {
  ceiling: 'full',
  use: undefined,
  isModeSet: false,
  settings: undefined,
  hasLimits: false,
  warnings: [],
};

interface PolicySource {
  readonly agentDir: string;
  readonly cwd: string;
  readonly settings: Settings;
  readonly flags: ApprovalFlags;
}

/** Reads the settings about approvals; nothing is imported for them while no file can have any. */
export async function loadPolicy({ agentDir, cwd, settings, flags }: PolicySource): Promise<ApprovalPolicy> {
  const { settings: read, warnings } = mayHaveSettings(cwd, settings)
    ? (await import('../../store/approvals/approval-settings.ts')).readApprovalSettings({ agentDir, cwd })
    : { settings: undefined, warnings: [] };
  const mode = strictestMode(flags.mode, read?.approvals.mode, read?.approvals.limit);
  const use = flags.sandbox ?? read?.sandbox.use;
  return {
    ceiling: mode ?? 'full',
    use,
    isModeSet: mode !== undefined,
    settings: read,
    hasLimits: read !== undefined && read.approvals.deny.length + read.approvals.ask.length > 0,
    warnings,
  };
}

const mayHaveSettings = (cwd: string, { approvals, sandbox }: Settings): boolean =>
  approvals !== undefined ||
  sandbox !== undefined ||
  ['.pi/settings.json', '.pi/agent/settings.json'].some((path) => existsSync(join(cwd, path)));
