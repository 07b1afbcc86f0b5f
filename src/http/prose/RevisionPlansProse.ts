import type { RevisionPlansApi } from "../../../schema/api/InstallPlansApi.ts"
import { type GroupProse, queuedRun, route } from "./Prose.ts"

export const revisionPlansProse: GroupProse<typeof RevisionPlansApi> = {
  about: "Moving a Capsule to another revision.",
  routes: {
    create: queuedRun(
      "Plan a Capsule at another ref",
      "Needs `Idempotency-Key`. The Source's default ref and the Capsule's tracked source stay as they are until an apply. For a ref outside the adopted lane and the default ref only an owner or admin opens private inputs, Outputs of other Capsules, the state and Connections (403 for anybody else), unless `reviewedRefs` of the Source and `use.refs` of the Connections allow the ref; the Run records it in `openedForRef`. The compatibility report also tells what the Capsule's own configuration meets in that commit, as a check with `installConfigId` does."
    ),
    read: route(
      "Read the revision coordinator",
      "`phase` and `nextAction` say where it stands; `review_run` comes with `planRunId`. Once the plan was used the phase is `applied`. A plan that is void before its apply (superseded by a newer one or by something that it was made from, withdrawn or expired) makes the phase `superseded`, with the reason in `diagnostics` (`plan_superseded`, `plan_cancelled`, `plan_expired`) and `nextAction` `plan_again`: create a revision plan of the same ref under a new key."
    ),
    reconcile: route(
      "Advance exactly one step, when one is due",
      "202 while there is more to come, 200 at the end. The service advances by itself; asking again does no harm."
    )
  }
}
