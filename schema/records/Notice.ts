import { Schema, Struct } from "effect"
import {
  AgentId,
  ApprovalRuleId,
  CapsuleId,
  ConnectionId,
  InvitationId,
  NoticeId,
  OutputShareId,
  ProjectId,
  RunId,
  SourceId,
  SourceSnapshotId,
  TeamId,
  WorkspaceId
} from "./Ids.ts"
import { SentNotice, type SentNoticeKind } from "./NoticeEndpoint.ts"
import { PlanSummary } from "./PlanDetails.ts"
import { CommitId, Timestamp } from "./Primitives.ts"
import { RunTrigger, RunType } from "./Run.ts"
import { Role } from "./Workspace.ts"

/*
 * The bodies of notices contain ids, names, counts, links and digests. They never contain a secret, the value of a variable,
 * Output or resource, a log line, or a message from a tool.
 */

const Capsule = Schema.Struct({
  id: CapsuleId,
  name: Schema.String,
  environment: Schema.String,
  projectId: ProjectId
}).annotate({ identifier: "NoticeCapsule" })

const Run = Schema.Struct({
  id: RunId,
  type: RunType,
  trigger: RunTrigger,
  /** The subject of the person or automation that started the Run; absent if svc started it. */
  startedBy: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "NoticeRun" })

const Source = Schema.Struct({ id: SourceId, name: Schema.String }).annotate({ identifier: "NoticeSource" })

const Connection = Schema.Struct({ id: ConnectionId, name: Schema.String, provider: Schema.String }).annotate({
  identifier: "NoticeConnection"
})

const Agent = Schema.Struct({ id: AgentId, name: Schema.String, pool: Schema.String }).annotate({
  identifier: "NoticeAgent"
})

/** An error code. Notices never contain error messages, because they may quote the tool's output. */
const Code = Schema.String

const planFields = {
  capsule: Capsule,
  run: Run,
  changes: Schema.optionalKey(PlanSummary),
  planDigest: Schema.optionalKey(Schema.String),
  commit: Schema.optionalKey(CommitId)
}

/**
 * The approvals that a plan still needs: the number of members, their minimum role and, if the rule has a team, that team.
 */
const AwaitedApproval = Schema.Struct({
  approvers: Schema.Int,
  role: Role,
  teamId: Schema.optionalKey(TeamId),
  team: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "AwaitedApproval" })

const capsule = {
  id: CapsuleId.make("cap_d2xdsdl53ldwzlzf2t7vxgvz"),
  name: "shop",
  environment: "production",
  projectId: ProjectId.make("prj_xxa3j44qumdyqvgi5cwf4nsz")
}
const run = (type: RunType) => ({
  id: RunId.make("run_36iahavuedikfba75omwzt4o"),
  type,
  trigger: "user" as const,
  startedBy: "usr_gam7mzimdxijnokpbceggl7h"
})
const source = { id: SourceId.make("src_lu6i2vt4ny4yybbwsppltoei"), name: "shop" }
const connection = {
  id: ConnectionId.make("conn_7w52qkycpgns7uet4g3wnbeb"),
  name: "AWS production",
  provider: "registry.opentofu.org/hashicorp/aws"
}
const agent = { id: AgentId.make("agt_7w52qkycpgns7uet4g3wnbeb"), name: "build-1", pool: "eu" }
const changes = { add: 2, change: 1, destroy: 0, replace: 0, import: 0, forget: 0 }
const planDigest = "sha256:b15f86b43a22fe312ac3e0caa38fa7c48f9bdb4d465de74bc6e580276a6a6515"
const commit = "a71d259de1999001f769d739a17b09ff9cc5d9f9"
const plan = { capsule, run: run("plan"), changes, planDigest, commit }

/** A kind of notice: its description, the schema of its `data`, and an example. */
interface Kind<D extends Schema.Codec<unknown, unknown>> {
  readonly summary: string
  readonly data: D
  readonly example: D["Type"]
}

const kind = <D extends Schema.Codec<unknown, unknown>>(summary: string, data: D, example: D["Type"]): Kind<D> => ({
  summary,
  data,
  example
})

/** Every kind of notice. */
export const noticeKinds = {
  "run.waiting_approval": kind(
    "A plan is ready and waits for approval.",
    Schema.Struct({ ...planFields, waitsFor: Schema.Array(AwaitedApproval) }),
    { ...plan, waitsFor: [{ approvers: 1, role: "admin" }] }
  ),
  "run.approved": kind(
    "A plan has every approval that it needs.",
    Schema.Struct({ ...planFields, approvedBy: Schema.Array(Schema.String) }),
    { ...plan, approvedBy: ["usr_gam7mzimdxijnokpbceggl7h"] }
  ),
  "run.applied": kind(
    "An apply succeeded, and its state is the Capsule's current state.",
    Schema.Struct({
      ...planFields,
      planRunId: Schema.optionalKey(RunId),
      stateGeneration: Schema.optionalKey(Schema.Int)
    }),
    { ...plan, run: run("apply"), planRunId: RunId.make("run_4ka3jvrc56uqhcyiuhjrtiqt"), stateGeneration: 7 }
  ),
  "run.failed": kind(
    "A Run failed.",
    Schema.Struct({
      capsule: Schema.optionalKey(Capsule),
      source: Schema.optionalKey(Source),
      run: Run,
      code: Schema.optionalKey(Code)
    }),
    { capsule, run: run("apply"), code: "apply_failed" }
  ),
  "run.unknown": kind(
    "It is not known what an apply left behind: somebody has to look at the real resources before the next Run.",
    Schema.Struct({ capsule: Capsule, run: Schema.optionalKey(Run) }),
    { capsule, run: run("apply") }
  ),
  "run.cancelled": kind(
    "A Run was cancelled, or its plan was discarded, replaced by a newer one, or has expired.",
    Schema.Struct({
      capsule: Schema.optionalKey(Capsule),
      source: Schema.optionalKey(Source),
      run: Run,
      status: Schema.Literals(["cancelled", "superseded", "expired"]),
      reason: Schema.optionalKey(Code)
    }),
    { capsule, run: run("plan"), status: "superseded" }
  ),
  "drift.found": kind(
    "The real resources of a Capsule were changed outside svc.",
    Schema.Struct({ capsule: Capsule, run: Run, resources: Schema.Int }),
    { capsule, run: { ...run("drift_check"), trigger: "schedule" }, resources: 2 }
  ),
  "drift.gone": kind(
    "The real resources of a Capsule match its state again.",
    Schema.Struct({ capsule: Capsule, run: Schema.optionalKey(Run) }),
    { capsule, run: run("apply") }
  ),
  "source.broken": kind(
    "A ref of a Source can no longer be read.",
    Schema.Struct({ source: Source, ref: Schema.String, path: Schema.String, code: Code }),
    { source, ref: "main", path: ".", code: "authentication_failed" }
  ),
  "source.healed": kind(
    "A ref of a Source can be read again.",
    Schema.Struct({ source: Source, ref: Schema.String, path: Schema.String, commit: Schema.optionalKey(CommitId) }),
    { source, ref: "main", path: ".", commit }
  ),
  "update.available": kind(
    "The ref that a Capsule follows has a newer commit.",
    Schema.Struct({
      capsule: Capsule,
      sourceId: SourceId,
      sourceSnapshotId: SourceSnapshotId,
      commit: CommitId
    }),
    { capsule, sourceId: source.id, sourceSnapshotId: SourceSnapshotId.make("snap_76nrv2tcw2ylabo22a7ek2hf"), commit }
  ),
  "connection.expiring": kind(
    "The credentials of a Connection expire soon.",
    Schema.Struct({ connection: Connection, expiresAt: Timestamp }),
    { connection, expiresAt: Timestamp.make("2026-02-14T09:30:00.000Z") }
  ),
  "connection.failing": kind(
    "The provider no longer accepts a Connection.",
    Schema.Struct({ connection: Connection, code: Schema.optionalKey(Code) }),
    { connection }
  ),
  "agent.unreachable": kind(
    "No message of an agent arrives any more.",
    Schema.Struct({ agent: Agent, runs: Schema.Int }),
    { agent, runs: 1 }
  ),
  "agent.back": kind("Messages of an agent arrive again.", Schema.Struct({ agent: Agent }), { agent }),
  "backup.failed": kind(
    "A backup could not be made.",
    Schema.Struct({
      capsule: Schema.optionalKey(Capsule),
      run: Schema.optionalKey(Run),
      code: Schema.optionalKey(Code)
    }),
    { run: run("backup"), code: "storage_full" }
  ),
  "backup.unverified": kind(
    "A backup of the server was made, and could not be read back.",
    Schema.Struct({ code: Schema.optionalKey(Code) }),
    { code: "backup_unreadable" }
  ),
  "share.requested": kind(
    "Another Workspace wants to share Outputs with this one.",
    Schema.Struct({
      share: OutputShareId,
      fromWorkspaceId: WorkspaceId,
      toWorkspaceId: WorkspaceId,
      outputs: Schema.Int
    }),
    {
      share: OutputShareId.make("oshare_7w52qkycpgns7uet4g3wnbeb"),
      fromWorkspaceId: WorkspaceId.make("ws_xxa3j3u3czjjosam7n6zmajr"),
      toWorkspaceId: WorkspaceId.make("ws_7w52qkycpgns7uet4g3wnbeb"),
      outputs: 3
    }
  ),
  "invitation.accepted": kind(
    "Somebody accepted an invitation and is now a member.",
    Schema.Struct({ invitationId: InvitationId, subject: Schema.String, role: Role }),
    {
      invitationId: InvitationId.make("inv_7w52qkycpgns7uet4g3wnbeb"),
      subject: "usr_gam7mzimdxijnokpbceggl7h",
      role: "member"
    }
  ),
  "rule.changed": kind(
    "An approval rule was created, changed or removed.",
    Schema.Struct({
      ruleId: ApprovalRuleId,
      change: Schema.Literals(["created", "updated", "removed"]),
      by: Schema.optionalKey(Schema.String)
    }),
    {
      ruleId: ApprovalRuleId.make("apr_7w52qkycpgns7uet4g3wnbeb"),
      change: "updated",
      by: "usr_gam7mzimdxijnokpbceggl7h"
    }
  ),
  "endpoint.test": kind("Somebody tested the endpoint.", Schema.Struct({ by: Schema.optionalKey(Schema.String) }), {
    by: "usr_gam7mzimdxijnokpbceggl7h"
  })
} as const satisfies { readonly [K in SentNoticeKind]: Kind<Schema.Codec<unknown, unknown>> }

/** Encodes the `data` of a notice as JSON. Drops members that the kind's schema does not contain. */
export const noticeDataText = (type: SentNoticeKind, data: unknown): string => {
  const schema: Schema.Codec<unknown, unknown> = noticeKinds[type].data
  return JSON.stringify(Schema.encodeUnknownSync(schema)(data))
}

export type NoticeData<K extends SentNoticeKind> = (typeof noticeKinds)[K]["data"]["Type"]

const identifierOf = (type: SentNoticeKind) =>
  `${type
    .split(/[._]/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join("")}Notice`

/** Returns the schema of a notice of this kind in the JSON format. */
export const noticeSchema = <const K extends SentNoticeKind>(type: K) =>
  Schema.Struct({ ...SentNotice.fields, type: Schema.Literal(type), data: noticeKinds[type].data }).annotate({
    identifier: identifierOf(type)
  })

/** Returns an example of the kind for the API description. */
export const noticeExample = (type: SentNoticeKind): Omit<SentNotice, "data"> & { readonly data: unknown } => ({
  type,
  id: NoticeId.make("ntc_36iahavuedikfba75omwzt4o"),
  timestamp: Timestamp.make("2026-01-31T09:30:00.000Z"),
  sequence: 12,
  workspace: { id: WorkspaceId.make("ws_xxa3j3u3czjjosam7n6zmajr"), handle: "ada", name: "Ada's Workspace" },
  subject: { kind: "capsule", id: capsule.id },
  url: `https://svc.example.test/w/ada/runs/${run("plan").id}`,
  data: noticeKinds[type].example
})

/** The schema components for the bodies of notices in the API description. */
export const noticeComponents = Struct.keys(noticeKinds).map((type) => ({ type, identifier: identifierOf(type) }))
