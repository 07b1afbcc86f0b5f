import { changeCausesOf } from "../records/ChangeCauses.ts"
import { me } from "../records/People.ts"
import { type Answer, type Asked, missing, numberField, ok, refuse, textField } from "./Answer.ts"
import { type World, addRun, replaceRun } from "./World.ts"

/** The newest Run of each requested Capsule, looked up among all Runs: `runList` may have only some pages of them. */
export const latestRuns = (world: World, query: URLSearchParams): Answer => {
  const newest = world.runs.toSorted((one, other) => other.createdAt.localeCompare(one.createdAt))
  return ok({
    latestRuns: (query.get("capsuleIds") ?? "").split(",").flatMap((capsuleId) => {
      const run = newest.find((each) => each.capsuleId === capsuleId)
      if (run === undefined) return []
      const { approvedAt, createdAt, id, status, type } = run
      return [{ capsuleId, runId: id, type, status, createdAt, ...(approvedAt === undefined ? {} : { approvedAt }) }]
    })
  })
}

export const runRoute = (world: World, id: string, action: string | undefined, asked: Asked): Answer => {
  const run = world.runs.find((each) => each.id === id)
  if (run === undefined) return missing
  if (action === undefined) return ok({ run })
  if (action === "source-changes")
    return ok({
      sourceChanges: {
        runId: id,
        status: "compared",
        scope: "module",
        fileCount: 1,
        files: [{ path: "policy.tf", change: "changed" }]
      }
    })
  if (action === "change-causes") return ok({ changeCauses: changeCausesOf(run) })
  if (action === "approvals") return ok({ approvals: world.approvals(run) })
  if (action === "approve") {
    const digest = textField(asked.body, "planDigest")
    if (digest !== undefined && digest !== run.planDigest)
      return refuse(409, "failed_precondition", "The plan digest is not this Run's.")
    const next = replaceRun(world, id, {
      status: "succeeded",
      approvedBy: me,
      approvedAt: new Date().toISOString(),
      finishedAt: new Date().toISOString()
    })
    asked.emitEvent(id, { kind: "run.approved", data: {} })
    return ok({ run: next })
  }
  if (action === "apply") {
    const apply = addRun(world, {
      type: run.type === "destroy_plan" ? "destroy_apply" : run.type === "restore" ? "restore" : "apply",
      status: "running",
      planRunId: id,
      startedAt: new Date().toISOString(),
      ...(run.capsuleId === undefined ? {} : { capsuleId: run.capsuleId })
    })
    return ok({ run: apply }, 201)
  }
  if (action === "release") {
    if (numberField(asked.body, "fence") !== run.agent?.fence)
      return refuse(409, "guard_conflict", "The Run was claimed anew meanwhile; read it again.")
    const { agent: _agent, agentUnreachableSince: _since, ...rest } = run
    world.runs = world.runs.map((each) =>
      each.id === id
        ? {
            ...rest,
            status: "failed",
            finishedAt: new Date().toISOString(),
            error: { code: "agent_lost", message: "The agent was released by a person." }
          }
        : each
    )
    asked.emitEvent(id, { kind: "run.failed", data: { error: { code: "agent_lost", message: "released" } } })
    return ok({ run: world.runs.find((each) => each.id === id) })
  }
  if (action === "cancel") {
    const next = replaceRun(world, id, { status: "cancelled", finishedAt: new Date().toISOString() })
    asked.emitEvent(id, { kind: "run.cancelled", data: {} })
    return ok({ run: next })
  }
  return missing
}
