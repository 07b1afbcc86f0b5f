import { changeCausesOf } from "../records/ChangeCauses.ts"
import { me } from "../records/People.ts"
import { newId } from "../records/Seeds.ts"
import { type Answer, type Asked, missing, numberField, ok, refuse, textField } from "./Answer.ts"
import { type World, addRun, replaceRun } from "./World.ts"

/** Finds each requested Capsule's newest Run among all Runs, because `runList` may contain only some of the pages. */
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

const commentRoute = (world: World, runId: string, action: string, asked: Asked): Answer => {
  if (asked.method === "GET") return ok({ comments: world.comments.filter((each) => each.runId === runId) })
  if (asked.method === "DELETE") {
    world.comments = world.comments.map(({ text: _text, mentions: _mentions, ...each }) =>
      each.id === action.split("/")[1]
        ? { ...each, removedAt: new Date().toISOString() }
        : { ...each, ...(_text === undefined ? {} : { text: _text }) }
    )
    return ok({ comment: world.comments.find(({ id }) => id === action.split("/")[1]) })
  }
  const comment = {
    id: newId("cmt"),
    runId,
    author: me,
    text: textField(asked.body, "text") ?? "",
    createdAt: new Date().toISOString()
  }
  world.comments.push(comment)
  return ok({ comment }, 201)
}

const changeApprovalRoute = (world: World, runId: string, action: string, asked: Asked): Answer => {
  if (asked.method === "GET") {
    return ok({ changeApprovals: world.changeApprovals.filter((each) => each.runId === runId) })
  }
  const at = new Date().toISOString()
  if (asked.method === "DELETE") {
    const id = action.split("/")[1]
    world.changeApprovals = world.changeApprovals.map((each) =>
      each.id === id ? { ...each, withdrawnAt: at, withdrawnBy: me } : each
    )
    return ok({ changeApproval: world.changeApprovals.find((each) => each.id === id) })
  }
  const changeApproval = {
    id: newId("cha"),
    runId,
    subject: me,
    planDigest: textField(asked.body, "planDigest") ?? "",
    changeDigest: textField(asked.body, "changeDigest") ?? "",
    commit: "0".repeat(40),
    at
  }
  world.changeApprovals.push(changeApproval)
  return ok({ changeApproval }, 201)
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
  if (action === "comments" || action?.startsWith("comments/") === true) return commentRoute(world, id, action, asked)
  if (action?.startsWith("change-approvals") === true) return changeApprovalRoute(world, id, action, asked)
  if (action === "approval-requests") {
    return ok({ approvalRequest: { runId: id, subject: me, at: new Date().toISOString(), asked: 2 } }, 201)
  }
  if (action === "cost") return ok({ cost: { runId: id, ...world.cost } })
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
