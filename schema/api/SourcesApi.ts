import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { confirmationHeaders } from "../records/ActionConfirmation.ts"
import { GivenGitAddress } from "../git/GitAddress.ts"
import { GivenGitRef } from "../git/GitRef.ts"
import { CommitDescription } from "../records/Commit.ts"
import { CompatibilityReport, InstallModules } from "../records/CompatibilityReport.ts"
import { ConnectionId, InstallConfigId, SourceSnapshotId, WorkspaceId } from "../records/Ids.ts"
import { CommitId, displayText, RelativePath } from "../records/Primitives.ts"
import { Run } from "../records/Run.ts"
import { PullRequestPolicy, SnapshotFile, Source, SourceSnapshot, SyncIntent } from "../records/Source.ts"
import { created } from "./AnswerStatus.ts"
import { optionalIdempotencyHeaders } from "./IdempotencyHeaders.ts"
import { nextCursor, pageQuery } from "./Paging.ts"
import { ExtensionFamily } from "./ExtensionFamily.ts"

const ofSource = { sourceId: Schema.String }
const ofSnapshot = { ...ofSource, sourceSnapshotId: Schema.String }

const sourceFields = {
  name: Schema.optionalKey(displayText(80)),
  defaultRef: Schema.optionalKey(GivenGitRef),
  defaultPath: Schema.optionalKey(RelativePath),
  autoSync: Schema.optionalKey(Schema.Boolean)
}

/** A sync that starts as soon as the Source is created. */
const FirstSync = Schema.Struct({
  /** The action to take if the Source cannot be read. */
  onFailure: Schema.Literals(["keep", "remove"])
})

export class CreateSource extends Schema.Opaque<CreateSource>()(
  Schema.Struct({
    ...sourceFields,
    workspaceId: WorkspaceId,
    name: displayText(80),
    url: GivenGitAddress,
    authConnectionId: Schema.optionalKey(ConnectionId),
    firstSync: Schema.optionalKey(FirstSync)
  })
) {}

/** `run` is the sync that `firstSync` requested. */
export const CreatedSource = Schema.Struct({
  source: Source,
  hookSecret: Schema.String,
  run: Schema.optionalKey(Run)
})
export type CreatedSource = typeof CreatedSource.Type

export class UpdateSource extends Schema.Opaque<UpdateSource>()(
  Schema.Struct({
    ...sourceFields,
    authConnectionId: Schema.optionalKey(Schema.NullOr(ConnectionId)),
    /** Replaces the whole list. Requires the owner or admin role. */
    reviewedRefs: Schema.optionalKey(Schema.Array(GivenGitRef).check(Schema.isMaxLength(64))),
    /** Requires the owner or admin role. */
    pullRequests: Schema.optionalKey(PullRequestPolicy),
    /** Requires the owner or admin role. */
    forgeConnectionId: Schema.optionalKey(Schema.NullOr(ConnectionId)),
    status: Schema.optionalKey(Schema.Literals(["active", "disabled"]))
  })
) {}

export class CompatibilityCheckRequest extends Schema.Opaque<CompatibilityCheckRequest>()(
  Schema.Struct({
    sourceSnapshotId: SourceSnapshotId,
    modulePath: RelativePath,
    installConfigId: Schema.optionalKey(InstallConfigId)
  })
) {}

/** A branch or tag. `ref` is unambiguous even if a branch and a tag have the same name. */
const NamedRevision = Schema.Struct({ ref: Schema.String, name: Schema.String, commit: Schema.String })

/** The revisions that a repository currently offers, up to a limit. */
export class SourceRevisions extends Schema.Opaque<SourceRevisions>()(
  Schema.Struct({
    branches: Schema.Array(NamedRevision),
    /** Highest version first. */
    tags: Schema.Array(NamedRevision),
    /** The newest commits of the ref. Empty if the Git server does not support sending commits without their files. */
    commits: Schema.Array(
      Schema.Struct({ commit: Schema.String, commitDescription: Schema.optionalKey(CommitDescription) })
    ),
    /** True if the list omits some branches or tags. */
    truncated: Schema.Boolean
  }).annotate({ identifier: "SourceRevisions" })
) {}

export const ResolveStableSemver = Schema.Struct({ url: GivenGitAddress })
export const StableSemver = Schema.Struct({ tag: Schema.String, commit: Schema.String, version: Schema.String })

export class SourcesApi extends HttpApiGroup.make("sources")
  .add(
    HttpApiEndpoint.get("list", "/api/v1/sources", {
      query: { ...pageQuery, workspaceId: Schema.String },
      success: Schema.Struct({ sources: Schema.Array(Source), ...nextCursor })
    })
  )
  .add(
    HttpApiEndpoint.post("create", "/api/v1/sources", {
      payload: CreateSource,
      success: CreatedSource.pipe(created)
    })
  )
  .add(
    HttpApiEndpoint.get("read", "/api/v1/sources/:sourceId", {
      params: ofSource,
      success: Schema.Struct({ source: Source })
    })
  )
  .add(
    HttpApiEndpoint.patch("update", "/api/v1/sources/:sourceId", {
      params: ofSource,
      payload: UpdateSource,
      success: Schema.Struct({ source: Source })
    })
  )
  .add(
    HttpApiEndpoint.delete("remove", "/api/v1/sources/:sourceId", {
      params: ofSource,
      success: HttpApiSchema.NoContent
    }).annotate(ExtensionFamily, "source-administration")
  )
  .add(
    HttpApiEndpoint.post("renewHookSecret", "/api/v1/sources/:sourceId/hook-secret", {
      params: ofSource,
      headers: { ...optionalIdempotencyHeaders, ...confirmationHeaders },
      payload: Schema.Struct({
        hookSecretVersion: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
        endFormerNow: Schema.optionalKey(Schema.Boolean)
      }),
      success: [
        Schema.Struct({ source: Source, hookSecret: Schema.String }).pipe(created),
        Schema.Struct({ source: Source })
      ]
    }).annotate(ExtensionFamily, "source-administration")
  )
  .add(
    HttpApiEndpoint.post("sync", "/api/v1/sources/:sourceId/sync", {
      params: ofSource,
      payload: Schema.Struct({ intent: Schema.optionalKey(SyncIntent), expectedCommit: Schema.optionalKey(CommitId) }),
      success: Schema.Struct({ run: Run }).pipe(created)
    })
  )
  .add(
    HttpApiEndpoint.post("revisions", "/api/v1/sources/:sourceId/revisions", {
      params: ofSource,
      payload: Schema.Struct({ ref: Schema.optionalKey(GivenGitRef) }),
      success: Schema.Struct({ revisions: SourceRevisions })
    }).annotate(ExtensionFamily, "source-revisions")
  )
  .add(
    HttpApiEndpoint.get("snapshots", "/api/v1/sources/:sourceId/snapshots", {
      params: ofSource,
      query: pageQuery,
      success: Schema.Struct({ snapshots: Schema.Array(SourceSnapshot), ...nextCursor })
    })
  )
  .add(
    HttpApiEndpoint.get("installModules", "/api/v1/sources/:sourceId/snapshots/:sourceSnapshotId/install-modules", {
      params: ofSnapshot,
      success: InstallModules
    })
  )
  .add(
    HttpApiEndpoint.get("file", "/api/v1/sources/:sourceId/snapshots/:sourceSnapshotId/file", {
      params: ofSnapshot,
      query: { path: Schema.String },
      success: SnapshotFile
    })
  )
  .add(
    HttpApiEndpoint.post("compatibilityCheck", "/api/v1/sources/:sourceId/compatibility-check", {
      params: ofSource,
      payload: CompatibilityCheckRequest,
      success: Schema.Struct({ run: Run, compatibilityReport: CompatibilityReport }).pipe(created)
    })
  )
  .add(
    HttpApiEndpoint.get("report", "/api/v1/compatibility-reports/:reportId", {
      params: { reportId: Schema.String },
      success: Schema.Struct({ compatibilityReport: CompatibilityReport })
    })
  )
  .add(
    HttpApiEndpoint.post("stableSemver", "/api/v1/workspaces/:workspaceId/source-ref-resolutions/stable-semver", {
      params: { workspaceId: Schema.String },
      payload: ResolveStableSemver,
      success: StableSemver
    })
  ) {}
