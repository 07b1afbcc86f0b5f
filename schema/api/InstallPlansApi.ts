import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { GivenGitAddress } from "../git/GitAddress.ts"
import { GivenGitRef } from "../git/GitRef.ts"
import { NewDependency } from "../records/Capsule.ts"
import {
  CompatibilityReportId,
  ConnectionId,
  InstallConfigId,
  ProjectId,
  RunId,
  SourceId,
  SourceSnapshotId
} from "../records/Ids.ts"
import { InstallPlan, RevisionPlan } from "../records/InstallPlan.ts"
import { displayText, EnvironmentName, RelativePath } from "../records/Primitives.ts"
import { ProviderBinding } from "../records/Provider.ts"
import { SourceBuild } from "../records/Run.ts"
import { AdoptedUpload } from "../records/StateUpload.ts"
import { accepted, repeatable } from "./AnswerStatus.ts"
import { idempotencyHeaders } from "./IdempotencyHeaders.ts"

/** Private values of module inputs, by variable name. No response ever contains them. */
export const VariableValues = Schema.Record(
  Schema.String.check(Schema.isPattern(/^[A-Za-z_][A-Za-z0-9_-]{0,127}$/, { description: "a variable name" })),
  Schema.Json
)

export class CreateInstallPlan extends Schema.Opaque<CreateInstallPlan>()(
  Schema.Struct({
    source: Schema.Struct({
      name: displayText(80),
      url: GivenGitAddress,
      ref: Schema.optionalKey(GivenGitRef),
      path: Schema.optionalKey(RelativePath),
      authConnectionId: Schema.optionalKey(ConnectionId)
    }),
    capsule: Schema.Struct({
      name: displayText(80),
      environment: EnvironmentName,
      projectId: Schema.optionalKey(ProjectId)
    }),
    options: Schema.optionalKey(
      Schema.Struct({
        modulePath: Schema.optionalKey(RelativePath),
        providerBindings: Schema.optionalKey(Schema.Array(ProviderBinding).check(Schema.isMaxLength(64)))
      })
    ),
    preflight: Schema.optionalKey(
      Schema.Struct({
        sourceId: SourceId,
        sourceSnapshotId: SourceSnapshotId,
        compatibilityCheckRunId: RunId,
        compatibilityReportId: CompatibilityReportId,
        installConfigId: Schema.optionalKey(InstallConfigId)
      })
    ),
    initialConfiguration: Schema.optionalKey(Schema.Struct({ sourceBuild: Schema.optionalKey(SourceBuild) })),
    variables: Schema.optionalKey(VariableValues),
    dependencies: Schema.optionalKey(Schema.Array(NewDependency).check(Schema.isMaxLength(32))),
    adopt: Schema.optionalKey(AdoptedUpload)
  }).annotate({ identifier: "CreateInstallPlan" })
) {}

/** With `speculative`, the plan only shows what the ref would change. It cannot be approved or applied. */
export const CreateRevisionPlan = Schema.Struct({
  ref: GivenGitRef,
  speculative: Schema.optionalKey(Schema.Literal(true))
})

const installPlanAnswer = Schema.Struct({ installPlan: InstallPlan, replayed: Schema.Boolean })
const revisionPlanAnswer = Schema.Struct({ revisionPlan: RevisionPlan, replayed: Schema.Boolean })

export class InstallPlansApi extends HttpApiGroup.make("installPlans")
  .add(
    HttpApiEndpoint.post("create", "/api/v1/workspaces/:workspaceId/install-plans", {
      params: { workspaceId: Schema.String },
      headers: idempotencyHeaders,
      payload: CreateInstallPlan,
      success: repeatable(installPlanAnswer)
    })
  )
  .add(
    HttpApiEndpoint.get("read", "/api/v1/install-plans/:installPlanId", {
      params: { installPlanId: Schema.String },
      success: Schema.Struct({ installPlan: InstallPlan })
    })
  )
  .add(
    HttpApiEndpoint.post("reconcile", "/api/v1/install-plans/:installPlanId/reconcile", {
      params: { installPlanId: Schema.String },
      success: Schema.Struct({ installPlan: InstallPlan })
    })
  ) {}

export class RevisionPlansApi extends HttpApiGroup.make("revisionPlans")
  .add(
    HttpApiEndpoint.post("create", "/api/v1/capsules/:capsuleId/revision-plans", {
      params: { capsuleId: Schema.String },
      headers: idempotencyHeaders,
      payload: CreateRevisionPlan,
      success: [...repeatable(revisionPlanAnswer), revisionPlanAnswer.pipe(accepted)]
    })
  )
  .add(
    HttpApiEndpoint.get("read", "/api/v1/revision-plans/:revisionPlanId", {
      params: { revisionPlanId: Schema.String },
      success: Schema.Struct({ revisionPlan: RevisionPlan })
    })
  )
  .add(
    HttpApiEndpoint.post("reconcile", "/api/v1/revision-plans/:revisionPlanId/reconcile", {
      params: { revisionPlanId: Schema.String },
      success: [
        Schema.Struct({ revisionPlan: RevisionPlan }),
        Schema.Struct({ revisionPlan: RevisionPlan }).pipe(accepted)
      ]
    })
  ) {}
