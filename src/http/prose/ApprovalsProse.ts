import type { ApprovalsApi } from "../../../schema/api/ApprovalsApi.ts"
import { type GroupProse, route } from "./Prose.ts"

export const approvalsProse: GroupProse<typeof ApprovalsApi> = {
  about: "How many people have to approve what.",
  routes: {
    rules: route(
      "List rules of approval, oldest first",
      "Every rule that fits a Capsule's Project and environment has to be met. Where none fits, one approval by an admin is enough."
    ),
    createRule: route(
      "Add a rule of approval",
      "Binds every apply from now on, also of plans that are approved already. Defaults: `role` admin, every Project, environment and team, `planAuthorCounts` false, `commitAuthorCounts` true, `automationCounts` false."
    ),
    updateRule: route(
      "Change a rule of approval",
      "Plans that wait, and applies that are queued, are judged by the changed rule."
    ),
    removeRule: route(
      "Remove a rule of approval",
      "What it asked for is no longer needed. A plan that waited for it needs one more call of approve."
    ),
    ofRun: route(
      "Who approved a plan, who is missing, and why it waits",
      "Decided by the rules and the rights of this moment: an approval lapses when its approver loses the right. An approval by somebody in `authors` does not count for a rule with `planAuthorCounts` false: who started the plan (`starter`), who made the automation or minted the token that started it (`automation`), and who turned on or last changed the auto-update that started it (`auto_update`). They are recorded when the plan is created. `problem` gives the reason. `own` says what the caller's approval would be worth. `uncertain` lists why the plan may not know of objects that exist, and whether an approval has acknowledged it. 409 for a Run that is no plan."
    )
  }
}
