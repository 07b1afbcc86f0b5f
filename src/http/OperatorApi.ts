import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { describedGroup, describedRoute } from "../http-kit/description/RouteDescription.ts"
import { Envelope } from "../../schema/api/Middleware.ts"
import { ResolveStableSemver, StableSemver } from "../../schema/api/SourcesApi.ts"
import { SnapshotFile } from "../../schema/records/Source.ts"
import { operator } from "../http-kit/RouteAccess.ts"

export const OperatorList = Schema.Struct({
  operators: Schema.Array(
    Schema.Struct({
      subject: Schema.String,
      email: Schema.String,
      displayName: Schema.optionalKey(Schema.String),
      status: Schema.String
    })
  )
})

/** The operator's endpoints over HTTP. They are all read-only. */
export class OperatorApi extends describedGroup("operator", "Reads for operators.")
  .add(
    HttpApiEndpoint.get("operators", "/internal/v1/operators", { success: OperatorList }).annotateMerge(
      describedRoute(operator, "List the operators", "`svc admin operators` grants and revokes.")
    ),
    HttpApiEndpoint.get("file", "/internal/v1/sources/:sourceId/snapshots/:sourceSnapshotId/file", {
      params: { sourceId: Schema.String, sourceSnapshotId: Schema.String },
      query: { path: Schema.String },
      success: SnapshotFile
    }).annotateMerge(
      describedRoute(operator, "Read a file of any snapshot", "The members of the Workspace see who read it.")
    ),
    HttpApiEndpoint.post("stableSemver", "/internal/v1/workspaces/:workspaceId/source-ref-resolutions/stable-semver", {
      params: { workspaceId: Schema.String },
      payload: ResolveStableSemver,
      success: StableSemver
    }).annotateMerge(
      describedRoute(
        operator,
        "Find the newest stable version of a repository",
        "With the credentials of that Workspace."
      )
    )
  )
  .middleware(Envelope) {}
