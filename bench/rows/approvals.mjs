import { approvalsAbort } from './approvals/abort.mjs';
import { approvalsCell } from './approvals/cell.mjs';
import { approvalsDecision } from './approvals/decision.mjs';
import { approvalsFirst } from './approvals/first.mjs';
import { approvalsGrep } from './approvals/grep.mjs';
import { approvalsMany } from './approvals/many.mjs';
import { approvalsOff } from './approvals/off.mjs';
import { approvalsQuestion } from './approvals/question.mjs';
import { approvalsSandbox } from './approvals/sandbox.mjs';
import { approvalsWrite } from './approvals/write.mjs';

/** All benchmarks of approvals and the sandbox; `before` is the folder of a build without them. */
export const approvalsBenchmarks = (before) => [
  ...[approvalsOff(before), approvalsSandbox, approvalsFirst, approvalsDecision, approvalsWrite, approvalsQuestion],
  ...[approvalsCell, approvalsAbort, approvalsGrep, approvalsMany],
];
