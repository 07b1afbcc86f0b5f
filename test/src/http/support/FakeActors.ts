import { Brand, Effect, Layer, Redacted, Stream } from "effect"
import { AgentReleases } from "../../../../actors/running/agent/AgentReleases.ts"
import { WorkspacePools } from "../../../../actors/running/agent-pool/WorkspacePools.ts"
import { AgentBlobs } from "../../../../actors/running/agent/AgentBlobs.ts"
import { AgentClaims } from "../../../../actors/running/agent/AgentClaims.ts"
import { AgentEvidence } from "../../../../actors/running/agent/AgentEvidence.ts"
import { AgentFiles } from "../../../../actors/running/agent/AgentFiles.ts"
import { AgentMonitor } from "../../../../actors/running/agent/AgentMonitor.ts"
import { AgentOffers } from "../../../../actors/running/agent/AgentOffers.ts"
import { AgentReports } from "../../../../actors/running/agent/AgentReports.ts"
import { AgentSettlement } from "../../../../actors/running/agent/AgentSettlement.ts"
import { InlineBlobs } from "../../../../actors/running/agent/InlineBlobs.ts"
import { AgentSessions } from "../../../../actors/running/agent-pool/AgentSessions.ts"
import { Pools } from "../../../../actors/running/agent-pool/Pools.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { Passkeys } from "../../../../actors/access/account/Passkeys.ts"
import { PasswordSignIn } from "../../../../actors/access/account/PasswordSignIn.ts"
import { AccountNotices } from "../../../../actors/access/account/AccountNotices.ts"
import { AddressChanges } from "../../../../actors/access/account/AddressChanges.ts"
import { ActionConfirmations } from "../../../../actors/access/account/ActionConfirmations.ts"
import { Confirmations } from "../../../../actors/access/account/Confirmations.ts"
import { SecondFactors } from "../../../../actors/access/account/SecondFactors.ts"
import { Sessions } from "../../../../actors/access/account/Sessions.ts"
import { InvitationAcceptance } from "../../../../actors/access/member/InvitationAcceptance.ts"
import { InvitedSignUp } from "../../../../actors/access/member/InvitedSignUp.ts"
import { UpstreamArrivals } from "../../../../actors/access/member/UpstreamArrivals.ts"
import { SetupLinks } from "../../../../actors/access/account/SetupLinks.ts"
import { Mails } from "../../../../actors/base/mail/Mails.ts"
import { UpstreamIdentities } from "../../../../actors/access/account/UpstreamIdentities.ts"
import { UpstreamSignIns } from "../../../../actors/access/account/UpstreamSignIns.ts"
import { Users } from "../../../../actors/access/account/Users.ts"
import { StoredBytes } from "../../../../actors/upkeep/retention/StoredBytes.ts"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import { StateReceipt } from "../../../../actors/commands/adoption/StateReceipt.ts"
import { CapsuleBackups } from "../../../../actors/commands/capsule/CapsuleBackups.ts"
import { CapsuleExports } from "../../../../actors/commands/capsule-export/CapsuleExports.ts"
import { CapsuleOrphanedStates } from "../../../../actors/commands/capsule/CapsuleOrphanedStates.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Connections } from "../../../../actors/inputs/connection/Connections.ts"
import { Dependencies } from "../../../../actors/ledger/dependency/Dependencies.ts"
import { Handoffs } from "../../../../actors/commands/handoff/Handoffs.ts"
import { SetupTickets } from "../../../../actors/commands/handoff/SetupTickets.ts"
import { InstallPlans } from "../../../../actors/commands/install-plan/InstallPlans.ts"
import { OutputShares } from "../../../../actors/ledger/output-share/OutputShares.ts"
import { RevisionPlans } from "../../../../actors/commands/revision-plan/RevisionPlans.ts"
import { type AttentionPage, Attention } from "../../../../actors/commands/attention/Attention.ts"
import { PullRequestReads } from "../../../../actors/commands/pull-request/PullRequestReads.ts"
import { PullRequests } from "../../../../actors/ledger/pull-request/PullRequests.ts"
import { ChangeApprovals } from "../../../../actors/access/approval/ChangeApprovals.ts"
import { RunComments } from "../../../../actors/commands/run/RunComments.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { provenSecret } from "../../../../actors/ledger/source/WebhookSignature.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { ResourceHistory } from "../../../../actors/ledger/state/ResourceHistory.ts"
import { StateResources } from "../../../../actors/ledger/state/StateResources.ts"
import { Workspaces } from "../../../../actors/ledger/workspace/Workspaces.ts"
import { GitPolicy } from "../../../../runner/git/GitPolicy.ts"
import { ApiError } from "../../../../schema/errors/ApiError.ts"
import { strangers } from "../../../support/Attempts.ts"
import { AttemptLimits } from "../../../../src/accounts/AttemptLimits.ts"
import { UpstreamProvider } from "../../../../src/accounts/upstream/UpstreamProvider.ts"
import { Authenticator } from "../../../../src/http-kit/Authenticator.ts"
import type { RunId } from "../../../../schema/records/Ids.ts"
import { principals } from "./World.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { ConnectionCommands } from "../../../../schema/commands/ConnectionCommands.ts"
import { InstallPlanCommands } from "../../../../schema/commands/InstallPlanCommands.ts"
import { PullRequestCommands } from "../../../../schema/commands/PullRequestCommands.ts"
import { RevisionPlanCommands } from "../../../../schema/commands/RevisionPlanCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"

/**
 * Fake services for the HTTP routes. They record every call and refuse it with an error that validation never returns, so a
 * test can detect whether a request reached a service.
 */
export const reached = new ApiError({ code: "run_conflict", message: "An actor was reached." })

/** The message of a defect, which must appear only in the log. */
export const defectText = "internal detail: password=hunter2"

// Makes the fake return the content of the delivery instead of the id of a Run, so that tests can check its bytes.
const ranFor = Brand.nominal<RunId>()

const refuse = () => Effect.fail(reached)

export const fakeSources = Sources.of({
  create: refuse,
  remove: refuse,
  sync: refuse,
  checkCompatibility: refuse,
  stableSemver: refuse,
  revisions: refuse,
  read: refuse,
  list: refuse,
  failingLanes: () => Effect.succeed([]),
  snapshots: refuse,
  installModules: refuse,
  file: refuse,
  report: refuse,
  hook: Effect.fnUntraced(function* (_, { body, isPing, proofs }) {
    let text = ""
    const decoder = new TextDecoder()
    const read = Stream.tap(body, (bytes) =>
      Effect.sync(() => {
        if (text.length < 1000) text += decoder.decode(bytes, { stream: true })
      })
    )
    if ((yield* provenSecret(["hook-secret"], proofs, read)) === undefined) {
      return yield* new ApiError({ code: "unauthenticated", message: "The delivery is not signed." })
    }
    return { runIds: isPing === true ? [] : [ranFor(text)] }
  })
})

const noAttention: AttentionPage = {
  items: [],
  total: 0,
  counts: { failed: 0, decision: 0, blocked: 0, drifted: 0, update: 0, expiring: 0 },
  forOthers: { failed: 0, decision: 0, blocked: 0, drifted: 0, update: 0, expiring: 0 },
  health: {
    capsules: 0,
    healthy: 0,
    unchecked: 0,
    waiting: 0,
    failed: 0,
    notApplied: 0,
    disabled: 0,
    complete: true
  }
}

const commands = Layer.mergeAll(
  Layer.succeed(CapsuleCommands, {
    Plan: refuse,
    PlanSpeculatively: refuse,
    CancelSpeculative: refuse,
    ReconcilePlan: refuse,
    DestroyPlan: refuse,
    RollbackPlan: refuse,
    RestorePlan: refuse,
    DriftCheck: refuse,
    Apply: refuse,
    Update: refuse,
    Remove: refuse,
    Release: refuse,
    ConfirmImport: refuse,
    ConfigurationPlan: refuse,
    ReAdopt: refuse,
    AdoptOrphanedState: refuse,
    DiscardOrphanedState: refuse,
    FollowLane: refuse,
    FollowDeferred: refuse,
    ApplyFollowed: refuse
  }),
  Layer.succeed(ConnectionCommands, {
    Create: refuse,
    Update: refuse,
    Remove: refuse,
    Test: refuse,
    ConfirmOrigins: refuse,
    StartAuthorization: refuse,
    FinishAuthorization: refuse,
    StartAppRegistration: refuse,
    FinishAppRegistration: refuse,
    RenewTokens: refuse,
    RevokeTokens: refuse,
    Revoke: refuse
  }),
  Layer.succeed(InstallPlanCommands, { Create: refuse, Reconcile: refuse, Advance: refuse }),
  Layer.succeed(PullRequestCommands, { Advance: refuse, Plan: refuse }),
  Layer.succeed(RevisionPlanCommands, { Create: refuse, Reconcile: refuse, Advance: refuse }),
  Layer.succeed(RunCommands, {
    Approve: refuse,
    ApproveChange: refuse,
    AskApproval: refuse,
    Cancel: refuse,
    Comment: refuse,
    RemoveComment: refuse,
    WithdrawChange: refuse
  }),
  Layer.succeed(SourceCommands, {
    Create: refuse,
    Unread: refuse,
    Update: refuse,
    Remove: refuse,
    RenewHookSecret: refuse,
    Sync: refuse,
    CheckCompatibility: refuse
  })
)

const actors = Layer.mergeAll(
  commands,
  Layer.succeed(Capsules, {
    look: refuse,
    planUpdate: refuse,
    driftCheckAll: refuse,
    backup: refuse,
    backups: refuse,
    read: refuse,
    list: refuse,
    needingAttention: () => Effect.succeed([]),
    names: () => Effect.succeed(new Map()),
    outputs: refuse,
    providerBindings: refuse,
    stateVersions: refuse,
    stateVersion: refuse,
    currentStateVersions: refuse,
    installConfigs: refuse,
    autoUpdateDecisions: refuse,
    installConfig: () => Effect.die(new TypeError(defectText)),
    usage: refuse,
    workspaceUsage: refuse
  }),
  Layer.succeed(StateReceipt, { receive: refuse, receiveBackup: refuse }),
  Layer.succeed(CapsuleExports, { grant: refuse, download: refuse }),
  Layer.succeed(StateResources, { list: refuse, difference: refuse }),
  Layer.succeed(ResourceHistory, { history: refuse }),
  Layer.succeed(CapsuleBackups, { archive: refuse, restorePlan: refuse }),
  Layer.succeed(CapsuleOrphanedStates, { list: refuse, read: refuse }),
  Layer.succeed(Runs, {
    apply: refuse,
    read: refuse,
    changeCauses: refuse,
    sourceChanges: refuse,
    list: refuse,
    changes: refuse,
    facets: () =>
      Effect.succeed({ type: [], status: [], trigger: [], actor: [], capsule: [], total: 0, complete: true }),
    latest: () => Effect.succeed([]),
    unfinished: () => Effect.succeed({ approvedPlans: [], updates: [] }),
    group: refuse,
    approveGroup: refuse,
    cancelGroup: refuse,
    rollbackPlan: refuse
  }),
  Layer.succeed(PullRequestReads, { read: refuse }),
  Layer.succeed(PullRequests, { list: refuse, ofCapsule: refuse, read: refuse }),
  Layer.succeed(ChangeApprovals, {
    list: refuse,
    approve: refuse,
    withdraw: refuse,
    live: () => Effect.succeed([]),
    isApproved: () => Effect.succeed(false),
    carried: () => Effect.void
  }),
  Layer.succeed(RunComments, { list: refuse, write: refuse, remove: refuse }),
  Layer.succeed(Attention, { list: () => Effect.succeed(noAttention) }),
  Layer.succeed(Sources, fakeSources),
  Layer.succeed(Connections, {
    create: refuse,
    read: refuse,
    awaitingOrigins: () => Effect.succeed([]),
    expiring: () => Effect.succeed([]),
    failing: () => Effect.succeed([]),
    list: refuse,
    startOAuth: refuse,
    finishOAuth: refuse,
    startAppRegistration: refuse,
    startedAppRegistration: refuse,
    finishAppRegistration: refuse,
    helpers: Effect.succeed([]),
    recipes: Effect.succeed([])
  }),
  Layer.succeed(Dependencies, { list: refuse, create: refuse, remove: refuse }),
  Layer.succeed(OutputShares, { list: refuse, create: refuse, approve: refuse, revoke: refuse }),
  Layer.mock(Handoffs)({}),
  Layer.mock(SetupTickets)({}),
  GitPolicy.layer,
  Layer.succeed(InstallPlans, { create: refuse, read: refuse }),
  Layer.succeed(RevisionPlans, { create: refuse, read: refuse }),
  Layer.succeed(StoredBytes, {
    measured: Effect.succeed(undefined),
    measure: Effect.die("unused"),
    measureSometimes: Effect.void
  }),
  Layer.succeed(Audit, { append: () => Effect.void, names: () => Effect.succeed(false), list: refuse })
)

const unconfirmed = () =>
  Effect.fail(new ApiError({ code: "reauthentication_required", message: "Nobody confirmed the action." }))

const people = Layer.mergeAll(
  Layer.mock(Users)({ find: () => Effect.succeedNone }),
  Layer.mock(Workspaces)({
    ensurePersonal: () => Effect.void,
    list: () => Effect.fail(reached),
    read: () => Effect.fail(reached)
  }),
  Layer.mock(Sessions)({}),
  Layer.mock(ActionConfirmations)({ begin: refuse, poll: refuse, require: unconfirmed, use: unconfirmed }),
  Layer.mock(Confirmations)({}),
  Layer.mock(SecondFactors)({}),
  Layer.mock(AccountNotices)({}),
  Layer.mock(AddressChanges)({}),
  Layer.mock(SetupLinks)({}),
  Layer.mock(Mails)({ baseUrl: undefined }),
  Layer.mock(InvitedSignUp)({}),
  Layer.mock(UpstreamArrivals)({}),
  Layer.mock(InvitationAcceptance)({}),
  Layer.mock(PasswordSignIn)({}),
  Layer.mock(Passkeys)({}),
  Layer.mock(UpstreamIdentities)({}),
  Layer.mock(UpstreamSignIns)({}),
  UpstreamProvider.none,
  AttemptLimits.layer,
  strangers
)

const authenticator = Layer.succeed(Authenticator, {
  bearer: (token) => {
    const found = principals.get(Redacted.value(token))
    return found === undefined || found.credential === "session"
      ? Effect.fail(new ApiError({ code: "invalid_token", message: "The token is unknown." }))
      : Effect.succeed(found)
  },
  session: (secret) => {
    const found = principals.get(Redacted.value(secret))
    return found === undefined || found.credential !== "session"
      ? Effect.fail(new ApiError({ code: "unauthenticated", message: "The session is unknown." }))
      : Effect.succeed(found)
  },
  host: () => Effect.fail(new ApiError({ code: "unauthenticated", message: "The account is unknown." }))
})

/** Agent routes exist only if there is a pool. */
const agents = Layer.mergeAll(
  Layer.mock(Pools)({ exist: Effect.succeed(false) }),
  Layer.succeed(WorkspacePools, { pools: refuse, agents: refuse }),
  Layer.succeed(AgentReleases, { holder: () => Effect.succeed(undefined), release: refuse }),
  Layer.mock(AgentBlobs)({}),
  Layer.mock(AgentClaims)({}),
  Layer.mock(InlineBlobs)({}),
  Layer.mock(AgentEvidence)({}),
  Layer.mock(AgentFiles)({}),
  Layer.mock(AgentMonitor)({}),
  Layer.mock(AgentOffers)({}),
  Layer.mock(AgentReports)({}),
  Layer.mock(AgentSessions)({}),
  Layer.mock(AgentSettlement)({}),
  Layer.mock(RunLedger)({})
)

export const fakeActors = Layer.mergeAll(actors, agents, people, authenticator)
