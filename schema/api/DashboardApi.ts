import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AuditEvent } from "../records/AuditEvent.ts"
import { Capsule, CredentialWait, StaleReason } from "../records/Capsule.ts"
import { Discovery } from "../records/Discovery.ts"
import {
  CapsuleHealth,
  AttentionItem,
  AttentionCounts,
  AttentionKind,
  StuckWorkKind
} from "../records/AttentionItem.ts"
import { LatestRun, ListedRun } from "../records/Run.ts"
import { Workspace } from "../records/Workspace.ts"
import { nextCursor, pageQuery } from "./Paging.ts"
import { ExtensionFamily } from "./ExtensionFamily.ts"

export const AttentionSummary = Schema.Struct({
  /** `check_failed` and `update_held` occur only in the attention list. */
  kind: AttentionKind,
  capsuleId: Schema.optionalKey(Schema.String),
  capsuleName: Schema.optionalKey(Schema.String),
  connectionId: Schema.optionalKey(Schema.String),
  connectionName: Schema.optionalKey(Schema.String),
  /** The error of a Connection's tokens, or the reason why a Capsule has no credential. */
  reason: Schema.optionalKey(Schema.String),
  /** With `ref`: the lane that cannot be fetched. */
  sourceId: Schema.optionalKey(Schema.String),
  sourceName: Schema.optionalKey(Schema.String),
  ref: Schema.optionalKey(Schema.String),
  /** For work that keeps failing: the kind of work, and the id of the record it belongs to. */
  work: Schema.optionalKey(StuckWorkKind),
  recordId: Schema.optionalKey(Schema.String),
  runId: Schema.optionalKey(Schema.String),
  runType: Schema.optionalKey(Schema.String),
  /** The update that is still open. */
  runGroupId: Schema.optionalKey(Schema.String),
  /** The reason why a Capsule is stale; set only for stale Capsules. */
  staleReasons: Schema.optionalKey(Schema.Array(StaleReason)),
  /** For a Capsule that is waiting for a credential: the person who must act, and the remedy. */
  turn: Schema.optionalKey(CredentialWait.fields.turn),
  next: Schema.optionalKey(CredentialWait.fields.next),
  /** For a Connection: the time at which it expires. */
  since: Schema.String
}).annotate({ identifier: "AttentionSummary" })

const maxLatest = 100
const CapsuleIds = Schema.String.check(
  Schema.isPattern(new RegExp(`^cap_[a-z0-9]{16,64}(?:,cap_[a-z0-9]{16,64}){0,${maxLatest - 1}}$`), {
    description: `1 to ${maxLatest} Capsule ids, separated by commas`
  })
)

/**
 * Codes of the notices that the dashboard shows; the dashboard supplies their text. Only operators see notices about
 * backups.
 */
export const DashboardNotice = Schema.Literals([
  "restore_review",
  "runs_refused",
  "isolation_off",
  "account_changed",
  "backup_failed",
  "database_damaged",
  "key_beside_data"
])
export type DashboardNotice = typeof DashboardNotice.Type

/** The server's scheduled backups, and the time of the newest verified backup. For operators only. */
export class ServerBackups extends Schema.Opaque<ServerBackups>()(
  Schema.Struct({ newestAt: Schema.optionalKey(Schema.String) })
) {}

export class DashboardApi extends HttpApiGroup.make("dashboard")
  .add(
    HttpApiEndpoint.get("bootstrap", "/api/v1/dashboard/bootstrap", {
      query: { workspaceId: Schema.optionalKey(Schema.String) },
      success: Schema.Struct({
        subject: Schema.Struct({
          id: Schema.String,
          email: Schema.optionalKey(Schema.String),
          displayName: Schema.optionalKey(Schema.String)
        }),
        /** The caller's token and its limits. Absent for a session. */
        credential: Schema.optionalKey(
          Schema.Struct({
            kind: Schema.Literals(["session", "token", "oauth", "host", "service"]),
            scopes: Schema.optionalKey(Schema.Array(Schema.String)),
            boundWorkspaceId: Schema.optionalKey(Schema.String)
          })
        ),
        workspaces: Schema.Array(Workspace),
        selectedWorkspaceId: Schema.optionalKey(Schema.String),
        capabilities: Discovery,
        version: Schema.String,
        /** True if the server can mail links. Otherwise, people must ask an operator for links. */
        sendsMail: Schema.Boolean,
        /** The address of the built-in sample repository, for a first install. */
        sampleRepository: Schema.optionalKey(Schema.String),
        /** Notices for everybody; absent if there are none. */
        notices: Schema.optionalKey(Schema.Array(DashboardNotice)),
        /** Set for operators if the server has scheduled backups. */
        serverBackups: Schema.optionalKey(ServerBackups)
      })
    })
  )
  .add(
    HttpApiEndpoint.get("overview", "/api/v1/dashboard/overview", {
      query: { workspaceId: Schema.String },
      success: Schema.Struct({
        workspace: Workspace,
        capsules: Schema.Array(Capsule),
        attention: Schema.Array(AttentionSummary),
        recentRuns: Schema.Array(ListedRun),
        activity: Schema.Array(AuditEvent)
      })
    })
  )
  .add(
    HttpApiEndpoint.get("needs", "/api/v1/dashboard/needs", {
      query: { workspaceId: Schema.String, ...pageQuery },
      success: Schema.Struct({
        needs: Schema.Array(AttentionItem),
        /** Total number of entries on all pages. */
        total: Schema.Int,
        counts: AttentionCounts,
        /** The number of entries in `counts` that are waiting for other people. */
        forOthers: AttentionCounts,
        health: CapsuleHealth,
        ...nextCursor
      })
    }).annotate(ExtensionFamily, "dashboard-lists")
  )
  .add(
    HttpApiEndpoint.get("latestRuns", "/api/v1/dashboard/latest-runs", {
      query: { workspaceId: Schema.String, capsuleIds: CapsuleIds },
      success: Schema.Struct({ latestRuns: Schema.Array(LatestRun) })
    }).annotate(ExtensionFamily, "dashboard-lists")
  ) {}
