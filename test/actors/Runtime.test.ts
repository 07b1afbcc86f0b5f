import type { Mails } from "../../actors/base/mail/Mails.ts"
import type { RunComments } from "../../actors/commands/run/RunComments.ts"
import { expect, test } from "bun:test"
import type { FileSystem, Layer, Path } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import type { mailboxesOf } from "../../actors/Actor.ts"
import type * as Runtime from "../../actors/Runtime.ts"
import type * as CapsuleActor from "../../actors/commands/capsule/CapsuleActor.ts"
import type * as InstallPlanActor from "../../actors/commands/install-plan/InstallPlanActor.ts"
import type * as PullRequestActor from "../../actors/commands/pull-request/PullRequestActor.ts"
import type { PullRequestLooks } from "../../actors/commands/pull-request/PullRequestLooks.ts"
import type { PullRequestSteps } from "../../actors/commands/pull-request/PullRequestSteps.ts"
import type { PullRequestStore } from "../../actors/ledger/pull-request/PullRequestStore.ts"
import type * as RevisionPlanActor from "../../actors/commands/revision-plan/RevisionPlanActor.ts"
import type * as RunActor from "../../actors/commands/run/RunActor.ts"
import type * as SourceActor from "../../actors/commands/source/SourceActor.ts"
import type * as ConnectionActor from "../../actors/inputs/connection/ConnectionActor.ts"
import type * as InterfaceActor from "../../actors/ledger/interface/InterfaceActor.ts"
import type { Approvals } from "../../actors/access/approval/Approvals.ts"
import type { ChangeApprovals } from "../../actors/access/approval/ChangeApprovals.ts"
import type { DueWork } from "../../actors/base/DueWork.ts"
import type { Audit } from "../../actors/base/audit/Audit.ts"
import type { Commits } from "../../actors/base/database/Commits.ts"
import type { DatabaseFile } from "../../actors/base/database/DatabaseFile.ts"
import type { ReadSql } from "../../actors/base/database/ReadSql.ts"
import type { ExclusiveWork } from "../../actors/base/node/ExclusiveWork.ts"
import type { Receipts } from "../../actors/base/idempotency/Receipts.ts"
import type { Cursors } from "../../actors/base/paging/Cursors.ts"
import type { Vault } from "../../actors/base/vault/Vault.ts"
import type { StateAdoption } from "../../actors/commands/adoption/StateAdoption.ts"
import type { CapsuleRuns } from "../../actors/commands/capsule/CapsuleRuns.ts"
import type { InstallPlanSteps } from "../../actors/commands/install-plan/InstallPlanSteps.ts"
import type { InstallPlanStore } from "../../actors/commands/install-plan/InstallPlanStore.ts"
import type { RevisionPlanSteps } from "../../actors/commands/revision-plan/RevisionPlanSteps.ts"
import type { RevisionPlanStore } from "../../actors/commands/revision-plan/RevisionPlanStore.ts"
import type { ConnectionAuthorizations } from "../../actors/inputs/connection/ConnectionAuthorizations.ts"
import type { ConnectionStore } from "../../actors/inputs/connection/ConnectionStore.ts"
import type { ConnectionTokens } from "../../actors/inputs/connection/ConnectionTokens.ts"
import type { ConnectionUses } from "../../actors/inputs/connection/ConnectionUses.ts"
import type { CredentialTest } from "../../actors/inputs/connection/CredentialTest.ts"
import type { CredentialsInUse } from "../../actors/inputs/connection/CredentialsInUse.ts"
import type { Deliveries } from "../../actors/inputs/delivery/Deliveries.ts"
import type { CapsuleLedger } from "../../actors/ledger/capsule/CapsuleLedger.ts"
import type { ConfigSuccession } from "../../actors/ledger/configuration/ConfigSuccession.ts"
import type { InstallConfigCompilation } from "../../actors/ledger/configuration/InstallConfigCompilation.ts"
import type { InstallConfigStore } from "../../actors/ledger/configuration/InstallConfigStore.ts"
import type { InterfaceLedger } from "../../actors/ledger/interface/InterfaceLedger.ts"
import type { InterfaceMaterialization } from "../../actors/ledger/interface/InterfaceMaterialization.ts"
import type { InterfaceSettlement } from "../../actors/ledger/interface/InterfaceSettlement.ts"
import type { RunCancels } from "../../actors/ledger/run/RunCancels.ts"
import type { RunLedger } from "../../actors/ledger/run/RunLedger.ts"
import type { RunLifecycle } from "../../actors/ledger/run/RunLifecycle.ts"
import type { RunSettings } from "../../actors/ledger/run/RunSettings.ts"
import type { DeferredSyncs } from "../../actors/ledger/source/DeferredSyncs.ts"
import type { SourceLanes } from "../../actors/ledger/source/SourceLanes.ts"
import type { SourceStore } from "../../actors/ledger/source/SourceStore.ts"
import type { PathFilters } from "../../actors/ledger/staleness/PathFilters.ts"
import type { StaleReasons } from "../../actors/ledger/staleness/StaleReasons.ts"
import type { OrphanedStates } from "../../actors/ledger/state/OrphanedStates.ts"
import type { StateUploads } from "../../actors/ledger/state/StateUploads.ts"
import type { StateVersions } from "../../actors/ledger/state/StateVersions.ts"
import type { Memberships } from "../../actors/ledger/workspace/Memberships.ts"
import type { RunHandover } from "../../actors/running/execution/RunHandover.ts"
import type { RunPlans } from "../../actors/running/execution/RunPlans.ts"
import type { RunAdmission } from "../../actors/running/queue/RunAdmission.ts"
import type { RunQueue } from "../../actors/running/queue/RunQueue.ts"
import type { BuildStore } from "../../runner/execution/BuildStore.ts"
import type { ModuleRunner } from "../../runner/execution/ModuleRunner.ts"
import type { GitPolicy } from "../../runner/git/GitPolicy.ts"
import type { GitRemote } from "../../runner/git/GitRemote.ts"
import type { OAuthClient } from "../../runner/oauth/OAuthClient.ts"
import type { Sandbox } from "../../runner/sandbox/Sandbox.ts"
import type { ModuleScanner } from "../../runner/scan/ModuleScanner.ts"
import type { SnapshotStore } from "../../runner/snapshot/SnapshotStore.ts"
import type { SnapshotSync } from "../../runner/snapshot/SnapshotSync.ts"
import type { Toolchain } from "../../runner/toolchain/Toolchain.ts"

/** True if a layer requires exactly these services. `unknown` never matches, because it would accept every list. */
type Exactly<Needed, Listed> = unknown extends Needed
  ? false
  : [Needed] extends [Listed]
    ? [Listed] extends [Needed]
      ? true
      : false
    : false

/** Services that an actor requires, except the mailboxes and the client for actors of the same kind. */
type NeedsOf<Actor extends Layer.Any, Type extends string> = Exclude<
  Layer.Services<Actor>,
  Layer.Success<ReturnType<typeof mailboxesOf<Type, string, never>>>
>

test("each actor's inferred requirements are exactly the services its handlers use", () => {
  const capsule: Exactly<
    NeedsOf<typeof CapsuleActor.layer, "Capsule">,
    | Approvals
    | Audit
    | CapsuleLedger
    | CapsuleRuns
    | ConfigSuccession
    | ConnectionStore
    | Deliveries
    | DueWork
    | InstallConfigCompilation
    | InstallConfigStore
    | InterfaceLedger
    | InterfaceSettlement
    | OrphanedStates
    | PathFilters
    | ReadSql
    | Receipts
    | RunCancels
    | RunHandover
    | RunLedger
    | RunLifecycle
    | RunQueue
    | SecureRandom.SecureRandom
    | SourceLanes
    | SourceStore
    | SqlClient.SqlClient
    | StaleReasons
    | StateVersions
    | Vault
  > = true
  const connection: Exactly<
    NeedsOf<typeof ConnectionActor.layer, "Connection">,
    | Audit
    | CapsuleLedger
    | ConnectionAuthorizations
    | ConnectionStore
    | ConnectionTokens
    | ConnectionUses
    | CredentialTest
    | CredentialsInUse
    | ExclusiveWork
    | GitPolicy
    | OAuthClient
    | RunCancels
    | RunLedger
    | RunLifecycle
    | SqlClient.SqlClient
  > = true
  const interface_: Exactly<
    NeedsOf<typeof InterfaceActor.layer, "Interface">,
    Audit | DueWork | InterfaceMaterialization | ReadSql | SqlClient.SqlClient
  > = true
  const revisionPlan: Exactly<
    NeedsOf<typeof RevisionPlanActor.layer, "RevisionPlan">,
    | Audit
    | CapsuleLedger
    | ConnectionStore
    | ConnectionUses
    | DueWork
    | InstallConfigStore
    | ReadSql
    | Receipts
    | RevisionPlanSteps
    | RevisionPlanStore
    | RunAdmission
    | RunHandover
    | SourceStore
    | SqlClient.SqlClient
  > = true
  const pullRequest: Exactly<
    NeedsOf<typeof PullRequestActor.layer, "PullRequest">,
    Audit | DueWork | PullRequestLooks | PullRequestSteps | PullRequestStore | SourceStore | SqlClient.SqlClient
  > = true
  const run: Exactly<
    NeedsOf<typeof RunActor.layer, "Run">,
    | Approvals
    | ChangeApprovals
    | Audit
    | Mails
    | RunCancels
    | RunComments
    | RunHandover
    | RunLedger
    | RunLifecycle
    | RunPlans
    | RunQueue
    | SqlClient.SqlClient
  > = true
  const source: Exactly<
    NeedsOf<typeof SourceActor.layer, "Source">,
    | Audit
    | CapsuleLedger
    | ConnectionStore
    | ConnectionUses
    | DeferredSyncs
    | DueWork
    | GitPolicy
    | InstallConfigStore
    | PullRequestStore
    | ReadSql
    | Receipts
    | RunAdmission
    | RunLedger
    | RunQueue
    | SecureRandom.SecureRandom
    | SourceLanes
    | SourceStore
    | SqlClient.SqlClient
  > = true
  // Install plans require all services that Runs and Capsules require, so this list contains only the additional services.
  type InstallPlanNeeds = NeedsOf<typeof InstallPlanActor.layer, "InstallPlan">
  const installPlan: unknown extends InstallPlanNeeds
    ? false
    : [InstallPlanSteps | InstallPlanStore | StateAdoption | StateUploads | RunAdmission | Receipts] extends [
          InstallPlanNeeds
        ]
      ? true
      : false = true
  expect([capsule, connection, installPlan, interface_, pullRequest, revisionPlan, run, source]).not.toContain(false)
})

test("all actors together require only the database, the vault and the runner", () => {
  const needs: Exactly<
    Layer.Services<typeof Runtime.layer>,
    | Audit
    | BuildStore
    | Commits
    | Cursors
    | DatabaseFile
    | FileSystem.FileSystem
    | GitPolicy
    | GitRemote
    | Mails
    | Memberships
    | ModuleRunner
    | ModuleScanner
    | Path.Path
    | ReadSql
    | RunSettings
    | Sandbox
    | SecureRandom.SecureRandom
    | SnapshotStore
    | SnapshotSync
    | SqlClient.SqlClient
    | Toolchain
    | Vault
  > = true
  expect(needs).toBe(true)
})
