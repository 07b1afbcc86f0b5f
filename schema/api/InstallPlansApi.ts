import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
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
import { accepted, described, describedGroup, describedRun, repeatable } from "./Endpoint.ts"
import { idempotencyHeaders } from "./IdempotencyHeaders.ts"
import { accessOf } from "./Roles.ts"

/** Private values of module inputs, by variable name. They are never projected. */
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

export const CreateRevisionPlan = Schema.Struct({ ref: GivenGitRef })

const installPlanAnswer = Schema.Struct({ installPlan: InstallPlan, replayed: Schema.Boolean })
const revisionPlanAnswer = Schema.Struct({ revisionPlan: RevisionPlan, replayed: Schema.Boolean })

export class InstallPlansApi extends describedGroup("installPlans", "Installing a module as a Capsule.")
  .add(
    HttpApiEndpoint.post("create", "/api/v1/workspaces/:workspaceId/install-plans", {
      params: { workspaceId: Schema.String },
      headers: idempotencyHeaders,
      payload: CreateInstallPlan,
      success: repeatable(installPlanAnswer)
    }).annotateMerge(
      describedRun(
        accessOf("POST /api/v1/workspaces/:workspaceId/install-plans"),
        "Prepare a Source through a reviewable Plan Run",
        "Needs `Idempotency-Key`. `dependencies` lets Outputs of other Capsules, also shared ones, fill inputs of the new Capsule from its first plan on; they are for owners and admins (403), and each has to be ready: its producer applied, and every required Output there (409). 201 for a new plan, 200 with `replayed: true` for the same request under the same key, 409 for another one. The service advances by itself; `reconcile` asks for one step. `variables` are private: they are held sealed until the initial commit and never projected. Of a module that its manifest describes, only the manifest's user inputs take a value, and required variables that it does not mention; names that are derived, left to the module's default or filled by the service are refused. The same rule holds for configuration plans and re-adoption.\n\n`adopt` makes an uploaded state the first state of the Capsule, for owners (403). It names the upload and its SHA-256, so that a plan carries nothing of the state. Once the module is known, the install fails with the reasons in `diagnostics`: `state_provider_unknown`, `state_address_undeclared` (a resource that the module neither declares nor covers with a `moved` or `removed` block, and that `adopt.undeclared` does not name), `state_lineage_known`, `state_resource_managed`. Nothing is applied by itself: the plan shows what the module would change."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("read", "/api/v1/install-plans/:installPlanId", {
      params: { installPlanId: Schema.String },
      success: Schema.Struct({ installPlan: InstallPlan })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/install-plans/:installPlanId"),
        "Read the install coordinator",
        "`phase` and `nextAction` say where it stands; `review_run` comes with `planRunId`. When that plan became void before its apply (superseded, withdrawn or expired), `diagnostics` has the reason (`plan_superseded`, `plan_cancelled`, `plan_expired`) and `nextAction` is `plan_again`: plan the Capsule again, which has the values already. It is `none` once the Capsule was applied or has ended. Private variables are never projected."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("reconcile", "/api/v1/install-plans/:installPlanId/reconcile", {
      params: { installPlanId: Schema.String },
      success: Schema.Struct({ installPlan: InstallPlan })
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/install-plans/:installPlanId/reconcile"),
        "Advance exactly one step, when one is due",
        "The service advances by itself; asking again does no harm."
      )
    )
  ) {}

export class RevisionPlansApi extends describedGroup("revisionPlans", "Moving a Capsule to another revision.")
  .add(
    HttpApiEndpoint.post("create", "/api/v1/capsules/:capsuleId/revision-plans", {
      params: { capsuleId: Schema.String },
      headers: idempotencyHeaders,
      payload: CreateRevisionPlan,
      success: [...repeatable(revisionPlanAnswer), revisionPlanAnswer.pipe(accepted)]
    }).annotateMerge(
      describedRun(
        accessOf("POST /api/v1/capsules/:capsuleId/revision-plans"),
        "Plan a Capsule at another ref",
        "Needs `Idempotency-Key`. The Source's default ref and the Capsule's tracked source stay as they are until an apply. The compatibility report also tells what the Capsule's own configuration meets in that commit, as a check with `installConfigId` does."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("read", "/api/v1/revision-plans/:revisionPlanId", {
      params: { revisionPlanId: Schema.String },
      success: Schema.Struct({ revisionPlan: RevisionPlan })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/revision-plans/:revisionPlanId"),
        "Read the revision coordinator",
        "`phase` and `nextAction` say where it stands; `review_run` comes with `planRunId`. Once the plan was used the phase is `applied`. A plan that is void before its apply (superseded by a newer one or by something that it was made from, withdrawn or expired) makes the phase `superseded`, with the reason in `diagnostics` (`plan_superseded`, `plan_cancelled`, `plan_expired`) and `nextAction` `plan_again`: create a revision plan of the same ref under a new key."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("reconcile", "/api/v1/revision-plans/:revisionPlanId/reconcile", {
      params: { revisionPlanId: Schema.String },
      success: [
        Schema.Struct({ revisionPlan: RevisionPlan }),
        Schema.Struct({ revisionPlan: RevisionPlan }).pipe(accepted)
      ]
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/revision-plans/:revisionPlanId/reconcile"),
        "Advance exactly one step, when one is due",
        "202 while there is more to come, 200 at the end. The service advances by itself; asking again does no harm."
      )
    )
  ) {}
