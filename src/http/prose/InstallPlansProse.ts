import type { InstallPlansApi } from "../../../schema/api/InstallPlansApi.ts"
import { type GroupProse, queuedRun, route } from "./Prose.ts"

export const installPlansProse: GroupProse<typeof InstallPlansApi> = {
  about: "Installing a module as a Capsule.",
  routes: {
    create: queuedRun(
      "Prepare a Source through a reviewable Plan Run",
      "Needs `Idempotency-Key`. `dependencies` lets Outputs of other Capsules, also shared ones, fill inputs of the new Capsule from its first plan on; they are for owners and admins (403), and each has to be ready: its producer applied, and every required Output there (409). 201 for a new plan, 200 with `replayed: true` for the same request under the same key, 409 for another one. The service advances by itself; `reconcile` asks for one step. `variables` are private: they are held sealed until the initial commit and never projected. Of a module that its manifest describes, only the manifest's user inputs take a value, and required variables that it does not mention; names that are derived, left to the module's default or filled by the service are refused. Configuration plans and re-adoption change the manifest's user inputs only.\n\n`adopt` makes an uploaded state the first state of the Capsule, for owners (403). It names the upload and its SHA-256, so that a plan carries nothing of the state. Once the module is known, the install fails with the reasons in `diagnostics`: `state_provider_unknown`, `state_address_undeclared` (a resource that the module neither declares nor covers with a `moved` or `removed` block, and that `adopt.undeclared` does not name), `state_lineage_known`, `state_resource_managed`. Nothing is applied by itself: the plan shows what the module would change."
    ),
    read: route(
      "Read the install coordinator",
      "`phase` and `nextAction` say where it stands; `review_run` comes with `planRunId`. When that plan became void before its apply (superseded, withdrawn or expired), `diagnostics` has the reason (`plan_superseded`, `plan_cancelled`, `plan_expired`) and `nextAction` is `plan_again`: plan the Capsule again, which has the values already. It is `none` once the Capsule was applied or has ended. Private variables are never projected."
    ),
    reconcile: route(
      "Advance exactly one step, when one is due",
      "The service advances by itself; asking again does no harm."
    )
  }
}
