import { Effect } from "effect"
import { TerminalCapabilities } from "effect/cli"
import type { Run } from "../../../schema/records/Run.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { printLine } from "../Output.ts"
import { memberNames } from "../member/MemberCommands.ts"
import { driftText, planText } from "./PlanText.ts"
import { Remote } from "./Remote.ts"
import { resultText } from "./RunEnd.ts"
import { factsText } from "./Rows.ts"
import { painter, terminalText } from "./TerminalText.ts"

/** Returns the Capsule of a Run as `name/environment`. */
export const capsuleOfRun = Effect.fn("capsuleOfRun")(function* ({ capsuleId }: Run) {
  if (capsuleId === undefined) return undefined
  const { capsules } = yield* SvcClient
  return (yield* capsules.read({ params: { capsuleId } })).capsule
})

/**
 * Replaces the ids of people in a Run with their email addresses. Keeps the ids if the caller may not read the members.
 */
export const peopleOf = Effect.fnUntraced(function* ({
  approvedBy,
  cancelRequest,
  createdBy,
  endedBy,
  workspaceId
}: Run) {
  const subjects = [approvedBy, cancelRequest?.subject, createdBy, endedBy?.subject]
  const names = subjects.some((subject) => subject?.startsWith("usr_"))
    ? yield* Effect.orElseSucceed(memberNames(workspaceId), () => new Map<string, string>())
    : new Map<string, string>()
  return (subject: string) => terminalText(names.get(subject) ?? subject)
})

export const planTitled = Effect.fn("planTitled")(function* (run: Run) {
  const capsule = yield* capsuleOfRun(run)
  const place = capsule === undefined ? "" : `${terminalText(capsule.name)}/${capsule.environment} · `
  return `${place}${run.type.replaceAll("_", " ")} ${run.id}`
})

/** Prints a plan for review. */
export const showPlan = Effect.fn("showPlan")(function* (run: Run) {
  const { canColor } = yield* TerminalCapabilities.TerminalCapabilities
  yield* printLine(planText(run, yield* planTitled(run), painter(canColor), yield* peopleOf(run)))
})

/** Reads the public Outputs after an apply. */
const outputsOf = Effect.fnUntraced(function* ({ capsuleId, planRunId, status }: Run) {
  if (capsuleId === undefined || planRunId === undefined || status !== "succeeded") return []
  const { capsules } = yield* SvcClient
  const { outputs } = yield* capsules.outputs({ params: { capsuleId } })
  return outputs.map(({ name, value }) => {
    const text = typeof value === "string" ? value : JSON.stringify(value)
    return [terminalText(name), terminalText(text ?? "")] as const
  })
})

/** Returns the address of a Run's page in the dashboard. */
export const addressOf = Effect.fnUntraced(function* ({ id, workspaceId }: Run) {
  const { workspaces } = yield* SvcClient
  const { origin } = yield* Remote
  const { workspace } = yield* workspaces.read({ params: { workspaceId } })
  return `${origin}/w/${workspace.handle}/runs/${id}`
})

/** Prints the outcome of a Run: the full plan if the Run is a plan for review, or a summary of the result otherwise. */
export const showEnd = Effect.fn("showEnd")(function* (run: Run) {
  const isReviewed = run.planSummary !== undefined || run.restore !== undefined
  if (isReviewed && run.planRunId === undefined) return yield* showPlan(run)
  const outputs = yield* outputsOf(run)
  const { canColor } = yield* TerminalCapabilities.TerminalCapabilities
  const drift = run.type === "drift_check" ? driftText(run, painter(canColor)) : ""
  yield* printLine(
    [
      yield* planTitled(run),
      resultText(run, yield* peopleOf(run)),
      ...(drift === "" ? [] : ["", drift, ""]),
      ...(outputs.length === 0 ? [] : ["", factsText(outputs), ""]),
      yield* addressOf(run)
    ].join("\n")
  )
})
