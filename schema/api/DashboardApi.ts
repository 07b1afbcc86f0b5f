import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AuditEvent } from "../records/AuditEvent.ts"
import { Capsule } from "../records/Capsule.ts"
import { Discovery } from "../records/Discovery.ts"
import { Run } from "../records/Run.ts"
import { Workspace } from "../records/Workspace.ts"
import { accountAccess, workspaceAccess } from "./Access.ts"
import { described } from "./Endpoint.ts"

export const AttentionItem = Schema.Struct({
  kind: Schema.Literals(["waiting_approval", "failed", "drifted", "stale", "unknown_safety"]),
  capsuleId: Schema.optionalKey(Schema.String),
  capsuleName: Schema.optionalKey(Schema.String),
  runId: Schema.optionalKey(Schema.String),
  runType: Schema.optionalKey(Schema.String),
  since: Schema.String
}).annotate({ identifier: "AttentionItem" })

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
        workspaces: Schema.Array(Workspace),
        selectedWorkspaceId: Schema.optionalKey(Schema.String),
        capabilities: Discovery,
        version: Schema.String
      })
    }).annotateMerge(
      described(
        accountAccess,
        "Data for the initial screen",
        "What the dashboard needs before it shows anything, in one request."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("overview", "/api/v1/dashboard/overview", {
      query: { workspaceId: Schema.String },
      success: Schema.Struct({
        workspace: Workspace,
        capsules: Schema.Array(Capsule),
        attention: Schema.Array(AttentionItem),
        recentRuns: Schema.Array(Run),
        activity: Schema.Array(AuditEvent)
      })
    }).annotateMerge(
      described(
        workspaceAccess("viewer", "query.workspaceId"),
        "Workspace overview",
        "Capsules, what waits for a person (approvals, failures, drift, stale Capsules), recent Runs and activity."
      )
    )
  ) {}
