import { Effect, type Option, Schedule } from "effect"
import type { CapsuleId } from "../../../schema/records/Ids.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { CommandFailed } from "../Output.ts"
import { patiently, waitAtMost } from "./Patience.ts"
import { progress } from "./Progress.ts"
import { terminalText } from "./TerminalText.ts"

const pollEvery = Schedule.spaced("500 millis")

/**
 * Plans a Capsule at another ref and waits until the plan exists. If the revision ends without a plan, fails with the
 * reasons.
 */
export const revisionPlanned = Effect.fn("revisionPlanned")(function* (
  capsuleId: CapsuleId,
  ref: string,
  headers: { readonly "idempotency-key": string },
  {
    json,
    speculative,
    waitTimeout
  }: { readonly json: boolean; readonly speculative: boolean; readonly waitTimeout: Option.Option<number> }
) {
  const { revisionPlans, runs } = yield* SvcClient
  const created = yield* revisionPlans.create({
    params: { capsuleId },
    headers,
    payload: { ref, ...(speculative ? { speculative } : {}) }
  })
  const revisionPlanId = created.revisionPlan.id
  if (!json) yield* progress(`Reading ${terminalText(ref)} ...`)
  const { revisionPlan } = yield* Effect.repeat(patiently(revisionPlans.read({ params: { revisionPlanId } })), {
    until: (answer) => answer.revisionPlan.nextAction !== "reconcile",
    schedule: pollEvery
  }).pipe(waitAtMost(waitTimeout, `The plan of ${terminalText(ref)}`, "svc run list"))
  const { diagnostics, phase, planRunId } = revisionPlan
  if (planRunId !== undefined) return (yield* patiently(runs.read({ params: { runId: planRunId } }))).run
  const reasons = diagnostics.map(({ code, message }) => `  ${terminalText(message)} [${code}]`)
  return yield* new CommandFailed({
    message: [`There is no plan of ${terminalText(ref)}: ${phase}.`, ...reasons].join("\n")
  })
})
