import { accessMutants } from "./AccessMutants.ts"
import { accountMutants } from "./AccountMutants.ts"
import { approvalMutants } from "./ApprovalMutants.ts"
import { automationMutants } from "./AutomationMutants.ts"
import { authorityMutants } from "./AuthorityMutants.ts"
import { credentialMutants } from "./CredentialMutants.ts"
import { decisionMutants } from "./DecisionMutants.ts"
import { flowMutants } from "./FlowMutants.ts"
import { identityMutants } from "./IdentityMutants.ts"
import { invitationMutants } from "./InvitationMutants.ts"
import type { Mutant } from "./Mutant.ts"
import { redactionMutants } from "./RedactionMutants.ts"
import { retentionMutants } from "./RetentionMutants.ts"
import { runMutants } from "./RunMutants.ts"
import { toolchainMutants } from "./ToolchainMutants.ts"
import { upstreamMutants } from "./UpstreamMutants.ts"

/** `npm run test:mutants` breaks them one by one; `Mutants.test.ts` keeps the lists in step with the code. */
export const mutants: ReadonlyArray<Mutant> = [
  ...accessMutants,
  ...authorityMutants,
  ...runMutants,
  ...credentialMutants,
  ...flowMutants,
  ...toolchainMutants,
  ...redactionMutants,
  ...decisionMutants,
  ...invitationMutants,
  ...identityMutants,
  ...accountMutants,
  ...approvalMutants,
  ...upstreamMutants,
  ...retentionMutants,
  ...automationMutants
]

/** The short form breaks the first guard of each list. */
export const shortMutants: ReadonlyArray<Mutant> = [
  accessMutants,
  authorityMutants,
  runMutants,
  credentialMutants,
  flowMutants,
  toolchainMutants,
  redactionMutants,
  decisionMutants,
  invitationMutants,
  identityMutants,
  accountMutants,
  approvalMutants,
  upstreamMutants,
  retentionMutants,
  automationMutants
].flatMap((list) => list.slice(0, 1))
