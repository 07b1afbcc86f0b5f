import { createHmac } from "node:crypto"
import { Effect, Redacted, Schema } from "effect"
import { AccessTokens } from "../../actors/access/account/AccessTokens.ts"
import { Sessions } from "../../actors/access/account/Sessions.ts"
import { Capsules } from "../../actors/commands/capsule/Capsules.ts"
import { Invitations } from "../../actors/access/member/Invitations.ts"
import { Runs } from "../../actors/ledger/run/Runs.ts"
import { Sources } from "../../actors/ledger/source/Sources.ts"
import { HttpListener } from "../../src/http/HttpListener.ts"
import { RunId, type SourceId } from "../../schema/records/Ids.ts"
import type { YearClock } from "./YearClock.ts"
import { preview } from "./YearPreviews.ts"
import { quiet } from "./YearQuiet.ts"
import type { YearSize } from "./YearSize.ts"
import { filesOf, type YearSource, type YearWorkspace } from "./YearWorld.ts"
import { CapsuleCommands } from "../../schema/commands/CapsuleCommands.ts"
import { RunCommands } from "../../schema/commands/RunCommands.ts"

const dayMillis = 86_400_000
/** The days of the week on which a person reviews pending plans. */
const reviewDays = [1, 4]
/** One in this many waiting plans is never reviewed, and expires. */
const forgottenPlans = 6

const decodeAccepted = Schema.decodeUnknownEffect(Schema.Struct({ runIds: Schema.Array(Schema.String) }))

/** Delivers the forge's signed webhook. Returns the number of syncs that the webhook started. */
const delivered = Effect.fnUntraced(function* ({ hookSecret, id }: YearSource, delivery: string) {
  const { url } = yield* HttpListener
  const body = JSON.stringify({ ref: "refs/heads/main", delivery })
  const signature = createHmac("sha256", Redacted.value(hookSecret)).update(body).digest("hex")
  const answer = yield* Effect.promise(() =>
    fetch(`${url}/hooks/sources/${id}`, {
      method: "POST",
      body,
      headers: {
        "content-type": "application/json",
        "x-hub-signature-256": `sha256=${signature}`,
        "x-github-delivery": delivery
      }
    })
  )
  if (answer.status !== 202) return yield* Effect.die(new Error(`A webhook got ${answer.status}`))
  return (yield* decodeAccepted(yield* Effect.promise(() => answer.json()))).runIds.length
})

/**
 * Pushes a commit and delivers the webhook of the push. The forge repeats every third delivery, which must not start a
 * second sync.
 */
export const push = Effect.fnUntraced(function* (source: YearSource, day: number) {
  const commit = yield* source.repository.commit("main", filesOf(day))
  const delivery = `${source.id}-${day}`
  const looks = yield* delivered(source, delivery)
  if (looks === 0) return yield* Effect.die(new Error(`The webhook of day ${day} started nothing`))
  if (day % 3 === 0 && (yield* delivered(source, delivery)) > 0) {
    return yield* Effect.die(new Error(`The repeated webhook of day ${day} started a look`))
  }
  return commit
})

/** Approves and applies waiting plans, except the few that nobody reviews. */
const review = Effect.fnUntraced(function* ({ admin, id, owner }: YearWorkspace) {
  const runs = yield* Runs
  const runCommands = yield* RunCommands
  const { items } = yield* runs.list(id, { status: ["waiting_approval"] }, { limit: 100 })
  for (const [index, run] of items.entries()) {
    if (index % forgottenPlans === forgottenPlans - 1) continue
    // The server refuses a plan that has been superseded in the meantime.
    yield* Effect.option(
      Effect.gen(function* () {
        yield* runCommands.Approve(run.id, { context: admin.context, comment: "Looks as expected." })
        yield* runs.apply(owner.context, run.id, undefined)
      })
    )
  }
})

/** Starts plans, as a person would, for Capsules that do not follow their lane. */
const replan = Effect.fnUntraced(function* ({ owner, sources }: YearWorkspace) {
  const capsules = yield* CapsuleCommands
  for (const { capsules: ids } of sources) {
    for (const [number, id] of ids.entries()) {
      if (number % 4 === 0) yield* Effect.option(capsules.Plan(id, { context: owner.context }))
    }
  }
})

/** Signs people in every day, and out every other day. Once a week, people create a token and invite somebody. */
const people = Effect.fnUntraced(function* ({ admin, id, owner }: YearWorkspace, day: number, now: number) {
  const sessions = yield* Sessions
  for (const { subject } of [owner, admin]) {
    const { secret, session } = yield* sessions.open({ subject, method: "password", userAgent: "year" })
    yield* sessions.authenticate(secret)
    if (day % 2 === 0) yield* sessions.revoke(subject, session.id)
  }
  if (day % 7 !== 3) return
  const tokens = yield* AccessTokens
  const invitations = yield* Invitations
  const expiresAt = new Date(now + 7 * dayMillis).toISOString()
  const { token } = yield* tokens.create(owner.context, owner.subject, {
    name: `week of day ${day}`,
    scopes: ["read"],
    expiresAt
  })
  if (day % 2 === 0) yield* tokens.revoke(owner.context, owner.subject, token.token_id)
  const scope = { workspaceId: id, acting: { subject: owner.subject } }
  const invited = yield* invitations.create(owner.context, scope, {
    email: `guest-${day}@example.test`,
    role: "viewer"
  })
  if (day % 2 === 0) yield* invitations.decline(owner.context, invited.secret)
})

/** Performs everything that people do in a day. All of it happens before noon. */
export const morning = Effect.fn("morning")(function* (
  size: YearSize,
  time: YearClock,
  workspaces: ReadonlyArray<YearWorkspace>,
  day: number
) {
  const pushed = new Map<SourceId, string>()
  for (const [place, workspace] of workspaces.entries()) {
    for (const [index, source] of workspace.sources.entries()) {
      if ((day + place + index) % size.pushEvery === 0) pushed.set(source.id, yield* push(source, day))
    }
    yield* people(workspace, day, time.millis())
    if (day % size.previewEvery === 1) yield* preview(workspace, day, day - size.previewEvery)
    if (day % (2 * size.pushEvery) === place) yield* replan(workspace)
    if (day % 7 === 5) yield* (yield* Capsules).backup(workspace.owner.context, workspace.id, undefined)
  }
  yield* quiet(time)
  const faults: Array<string> = []
  for (const [id, commit] of pushed) {
    const { lanes } = yield* (yield* Sources).read(id)
    if (lanes?.[0]?.commit !== commit) faults.push(`the push of day ${day} was not seen: ${JSON.stringify(lanes?.[0])}`)
  }
  if (reviewDays.includes(day % 7)) {
    for (const workspace of workspaces) yield* review(workspace)
    yield* quiet(time)
  }
  return faults
})

/** Checks whether an old state can still be planned: creates a plan for it, then cancels the plan. */
export const rollbackPlanned = Effect.fnUntraced(function* (time: YearClock, workspace: YearWorkspace) {
  const capsules = yield* Capsules
  const runs = yield* Runs
  const runCommands = yield* RunCommands
  const id = workspace.sources[0]?.capsules[1]
  if (id === undefined) return yield* Effect.die("There is no Capsule")
  const { items } = yield* capsules.stateVersions(id, { limit: 10 })
  const oldest = items.at(-1)
  if (oldest === undefined || items.length < 2) return ["There is no state to go back to."]
  const plan = yield* runs.rollbackPlan(workspace.owner.context, oldest.id)
  yield* quiet(time)
  const run = yield* runs.read(plan.id)
  if (run.status === "waiting_approval")
    yield* runCommands.Cancel(RunId.make(plan.id), { context: workspace.owner.context })
  yield* quiet(time)
  return run.status === "waiting_approval" ? [] : [`the rollback ended ${run.status}: ${JSON.stringify(run.error)}`]
})
