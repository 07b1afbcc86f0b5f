import { accessMutants } from "./AccessMutants.ts"
import { agentKeyMutants } from "./AgentKeyMutants.ts"
import { agentMutants } from "./AgentMutants.ts"
import { adoptionMutants } from "./AdoptionMutants.ts"
import { accountMutants } from "./AccountMutants.ts"
import { approvalMutants } from "./ApprovalMutants.ts"
import { automationMutants } from "./AutomationMutants.ts"
import { authorityMutants } from "./AuthorityMutants.ts"
import { backupMutants } from "./BackupMutants.ts"
import { boundMutants } from "./BoundMutants.ts"
import { changeMutants } from "./ChangeMutants.ts"
import { confirmationMutants } from "./ConfirmationMutants.ts"
import { credentialMutants } from "./CredentialMutants.ts"
import { decisionMutants } from "./DecisionMutants.ts"
import { embeddingMutants } from "./EmbeddingMutants.ts"
import { exportMutants } from "./ExportMutants.ts"
import { flowMutants } from "./FlowMutants.ts"
import { identityMutants } from "./IdentityMutants.ts"
import { importMutants } from "./ImportMutants.ts"
import { invitationMutants } from "./InvitationMutants.ts"
import type { Mutant } from "./Mutant.ts"
import { lookMutants } from "./LookMutants.ts"
import { noticeMutants } from "./NoticeMutants.ts"
import { pullRequestMutants } from "./PullRequestMutants.ts"
import { poolMutants } from "./PoolMutants.ts"
import { redactionMutants } from "./RedactionMutants.ts"
import { reviewMutants } from "./ReviewMutants.ts"
import { retentionMutants } from "./RetentionMutants.ts"
import { stateIndexMutants } from "./StateIndexMutants.ts"
import { storageMutants } from "./StorageMutants.ts"
import { runMutants } from "./RunMutants.ts"
import { terminalMutants } from "./TerminalMutants.ts"
import { toolchainMutants } from "./ToolchainMutants.ts"
import { upstreamMutants } from "./UpstreamMutants.ts"

const lists: ReadonlyArray<ReadonlyArray<Mutant>> = [
  accessMutants,
  confirmationMutants,
  authorityMutants,
  runMutants,
  credentialMutants,
  flowMutants,
  toolchainMutants,
  terminalMutants,
  redactionMutants,
  decisionMutants,
  invitationMutants,
  lookMutants,
  noticeMutants,
  identityMutants,
  accountMutants,
  approvalMutants,
  upstreamMutants,
  retentionMutants,
  storageMutants,
  automationMutants,
  backupMutants,
  adoptionMutants,
  exportMutants,
  importMutants,
  stateIndexMutants,
  embeddingMutants,
  reviewMutants,
  changeMutants,
  agentKeyMutants,
  agentMutants,
  poolMutants,
  pullRequestMutants,
  boundMutants
]

/** `npm run test:mutants` breaks these guards one at a time. `Mutants.test.ts` keeps the lists in sync with the code. */
export const mutants: ReadonlyArray<Mutant> = lists.flat()

/** The first guard in each list, which the short form always breaks. */
export const coreMutants: ReadonlyArray<Mutant> = lists.flatMap((list) => list.slice(0, 1))
