import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Backup } from "../records/Backup.ts"
import { AutoUpdateDecision } from "../records/AutoUpdate.ts"
import { CommitDescription } from "../records/Commit.ts"
import { Capsule, CapsuleChange, Dependency, NewDependency } from "../records/Capsule.ts"
import { InstallConfigId, RunId, SourceSnapshotId } from "../records/Ids.ts"
import { InstallConfig } from "../records/InstallConfig.ts"
import { ProviderBinding } from "../records/Provider.ts"
import { Run, RunStatus } from "../records/Run.ts"
import { Output, StateVersion } from "../records/StateVersion.ts"
import { CapsuleReleased, ReleaseRequest } from "./CapsuleReleased.ts"
import { ConfigurationPlanRequest, ReAdoptionRequest } from "./ConfigurationRequests.ts"
import { created, repeatable } from "./AnswerStatus.ts"
import { idempotencyHeaders, optionalIdempotencyHeaders } from "./IdempotencyHeaders.ts"
import { nextCursor, pageQuery } from "./Paging.ts"
import { ExtensionFamily } from "./ExtensionFamily.ts"

const ofCapsule = { capsuleId: Schema.String }
const runAnswer = Schema.Struct({ run: Run })

/**
 * With `refreshOnly`, the plan accepts drift into the state, at the deployed revision, instead of planning the newest
 * snapshot.
 */
export class CapsulePlanRequest extends Schema.Opaque<CapsulePlanRequest>()(
  Schema.Struct({ refreshOnly: Schema.optionalKey(Schema.Boolean) })
) {}

/** The result of checking the ref that a Capsule follows. */
export class CapsuleLook extends Schema.Opaque<CapsuleLook>()(
  Schema.Struct({
    runId: RunId,
    status: RunStatus,
    ref: Schema.String,
    path: Schema.String,
    /** The current commit of the ref; absent if the ref could not be read. */
    resolvedCommit: Schema.optionalKey(Schema.String),
    commitDescription: Schema.optionalKey(CommitDescription),
    sourceSnapshotId: Schema.optionalKey(SourceSnapshotId),
    /** The deployed commit. */
    deployedCommit: Schema.optionalKey(Schema.String),
    /**
     * Number of commits since the deployed commit; absent if the number cannot be determined from the repository's history.
     */
    commitsAhead: Schema.optionalKey(Schema.Int),
    error: Schema.optionalKey(Schema.Struct({ code: Schema.String, message: Schema.String }))
  }).annotate({ identifier: "CapsuleLook" })
) {}

const configurationPlanAnswer = Schema.Struct({
  replayed: Schema.Boolean,
  targetInstallConfigId: InstallConfigId,
  planRunId: RunId,
  run: Run
})

export class CapsulesApi extends HttpApiGroup.make("capsules")
  .add(
    HttpApiEndpoint.get("read", "/api/v1/capsules/:capsuleId", {
      params: ofCapsule,
      success: Schema.Struct({ capsule: Capsule })
    })
  )
  .add(
    HttpApiEndpoint.patch("update", "/api/v1/capsules/:capsuleId", {
      params: ofCapsule,
      payload: CapsuleChange,
      success: Schema.Struct({ capsule: Capsule })
    })
  )
  .add(
    HttpApiEndpoint.delete("remove", "/api/v1/capsules/:capsuleId", {
      params: ofCapsule,
      success: [runAnswer.pipe(created), Schema.Struct({ capsule: Capsule })]
    })
  )
  .add(
    HttpApiEndpoint.post("release", "/api/v1/capsules/:capsuleId/release", {
      params: ofCapsule,
      payload: ReleaseRequest,
      success: CapsuleReleased
    }).annotate(ExtensionFamily, "capsule-release")
  )
  .add(
    HttpApiEndpoint.get("outputs", "/api/v1/capsules/:capsuleId/outputs", {
      params: ofCapsule,
      success: Schema.Struct({ outputs: Schema.Array(Output) })
    })
  )
  .add(
    HttpApiEndpoint.get("usageSummary", "/api/v1/capsules/:capsuleId/usage-summary", {
      params: ofCapsule,
      success: Schema.Struct({
        usage: Schema.Struct({
          runMinutes: Schema.Finite,
          applies: Schema.Int,
          stateBytes: Schema.Int,
          logBytes: Schema.Int
        })
      })
    })
  )
  .add(
    HttpApiEndpoint.get("stateVersions", "/api/v1/capsules/:capsuleId/state-versions", {
      params: ofCapsule,
      query: pageQuery,
      success: Schema.Struct({ stateVersions: Schema.Array(StateVersion), ...nextCursor })
    })
  )
  .add(
    HttpApiEndpoint.get("autoUpdateDecisions", "/api/v1/capsules/:capsuleId/auto-update-decisions", {
      params: ofCapsule,
      query: pageQuery,
      success: Schema.Struct({ decisions: Schema.Array(AutoUpdateDecision), ...nextCursor })
    }).annotate(ExtensionFamily, "drift-repair")
  )
  .add(
    HttpApiEndpoint.get("dependencies", "/api/v1/capsules/:capsuleId/dependencies", {
      params: ofCapsule,
      query: pageQuery,
      success: Schema.Struct({ dependencies: Schema.Array(Dependency), ...nextCursor })
    })
  )
  .add(
    HttpApiEndpoint.post("createDependency", "/api/v1/capsules/:capsuleId/dependencies", {
      params: ofCapsule,
      payload: NewDependency,
      success: Schema.Struct({ dependency: Dependency }).pipe(created)
    })
  )
  .add(
    HttpApiEndpoint.delete("removeDependency", "/api/v1/dependencies/:dependencyId", {
      params: { dependencyId: Schema.String },
      success: HttpApiSchema.NoContent
    })
  )
  .add(
    HttpApiEndpoint.get("providerBindings", "/api/v1/capsules/:capsuleId/provider-bindings", {
      params: ofCapsule,
      success: Schema.Struct({ providerBindings: Schema.Array(ProviderBinding) })
    })
  )
  .add(
    HttpApiEndpoint.put("replaceProviderBindings", "/api/v1/capsules/:capsuleId/provider-bindings", {
      params: ofCapsule,
      success: HttpApiSchema.NoContent
    })
  )
  .add(
    HttpApiEndpoint.get("configs", "/api/v1/capsule-configs", {
      query: { ...pageQuery, workspaceId: Schema.String },
      success: Schema.Struct({ capsuleConfigs: Schema.Array(InstallConfig), ...nextCursor })
    })
  )
  .add(
    HttpApiEndpoint.get("config", "/api/v1/capsule-configs/:capsuleConfigId", {
      params: { capsuleConfigId: Schema.String },
      success: Schema.Struct({ capsuleConfig: InstallConfig })
    })
  )
  .add(
    HttpApiEndpoint.patch("updateConfig", "/api/v1/capsule-configs/:capsuleConfigId", {
      params: { capsuleConfigId: Schema.String },
      success: HttpApiSchema.NoContent
    })
  )
  .add(
    HttpApiEndpoint.post("plan", "/api/v1/capsules/:capsuleId/plan", {
      params: ofCapsule,
      headers: optionalIdempotencyHeaders,
      payload: Schema.optional(CapsulePlanRequest),
      success: repeatable(runAnswer)
    })
  )
  .add(
    HttpApiEndpoint.post("look", "/api/v1/capsules/:capsuleId/look", {
      params: ofCapsule,
      payload: Schema.optional(Schema.Struct({})),
      success: Schema.Struct({ look: CapsuleLook })
    }).annotate(ExtensionFamily, "capsule-look")
  )
  .add(
    HttpApiEndpoint.post("configurationPlan", "/api/v1/capsules/:capsuleId/configuration-plans", {
      params: ofCapsule,
      headers: idempotencyHeaders,
      payload: ConfigurationPlanRequest,
      success: repeatable(configurationPlanAnswer)
    })
  )
  .add(
    HttpApiEndpoint.post("reconcilePlan", "/api/v1/capsules/:capsuleId/reconcile-plan", {
      params: ofCapsule,
      headers: optionalIdempotencyHeaders,
      payload: Schema.optional(Schema.Struct({})),
      success: repeatable(runAnswer)
    }).annotate(ExtensionFamily, "drift-repair")
  )
  .add(
    HttpApiEndpoint.post("destroyPlan", "/api/v1/capsules/:capsuleId/destroy-plan", {
      params: ofCapsule,
      headers: optionalIdempotencyHeaders,
      payload: Schema.optional(Schema.Struct({})),
      success: repeatable(runAnswer)
    })
  )
  .add(
    HttpApiEndpoint.post("driftCheck", "/api/v1/capsules/:capsuleId/drift-check", {
      params: ofCapsule,
      payload: Schema.optional(Schema.Struct({})),
      success: runAnswer.pipe(created)
    })
  )
  .add(
    HttpApiEndpoint.post("backup", "/api/v1/capsules/:capsuleId/backups", {
      params: ofCapsule,
      payload: Schema.optional(Schema.Struct({})),
      success: Schema.Struct({ backup: Backup }).pipe(created)
    })
  )
  .add(
    HttpApiEndpoint.post("reAdopt", "/api/v1/capsules/:capsuleId/install-config-re-adoptions", {
      params: ofCapsule,
      headers: idempotencyHeaders,
      payload: ReAdoptionRequest,
      success: Schema.Struct({
        capsule: Capsule,
        installConfigReAdoption: Schema.Struct({
          replayed: Schema.Boolean,
          previousInstallConfigId: InstallConfigId,
          previousInstallConfigDigest: Schema.String,
          targetInstallConfigId: InstallConfigId,
          targetInstallConfigDigest: Schema.String,
          sourceSnapshotId: SourceSnapshotId
        })
      })
    })
  ) {}
