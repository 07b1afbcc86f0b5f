import { Effect } from "effect"
import { password } from "../../browser/support/Person.ts"
import { realServer } from "../../browser/support/RealServer.ts"
import { forgeRepository, type MergeWay } from "../../support/forge/ForgeRepository.ts"
import { httpSession, type HttpSession } from "./HttpSession.ts"

/** Returns the module of the team's Capsule, followed by `more`. */
export const moduleOf = (greeting: string, more = ""): string => `variable "note" {
  type = string
}
resource "terraform_data" "greeting" {
  input = "${greeting}"
}
resource "terraform_data" "note" {
  input = var.note
}
${more}`

interface PullRequestRead {
  readonly id: string
  readonly number: number
  readonly state: string
  readonly headCommit: string
  readonly counts?: Readonly<Record<string, number>>
  readonly capsules?: ReadonlyArray<{ readonly verdict?: string; readonly run?: { readonly id: string } }>
}

/** The parts of a lane's plan that the tests compare. */
export interface LanePlan {
  readonly id: string
  readonly status: string
  readonly carriedFrom?: { readonly pullRequestNumber?: number }
  readonly differsFrom?: {
    readonly pullRequestNumber?: number
    readonly reasons: ReadonlyArray<{ readonly code: string }>
    readonly lines: ReadonlyArray<{ readonly side: string; readonly text: string }>
  }
}

/** Polls slowly, because the server limits each person's requests. */
export const patiently = <A, E, R>(ask: Effect.Effect<A, E, R>, holds: (answer: A) => boolean) =>
  Effect.gen(function* () {
    for (;;) {
      const answer = yield* ask
      if (holds(answer)) return answer
      yield* Effect.sleep("500 millis")
    }
  })

interface Ended {
  readonly run: { readonly status: string }
}

/** Waits until the Run is neither queued nor running. */
export const ended = ({ send }: HttpSession, id: string) =>
  Effect.map(
    patiently(
      send("GET", `/api/v1/runs/${id}`),
      ({ run }: Ended) => run.status !== "queued" && run.status !== "running"
    ),
    ({ run }) => run
  )

/** The parts of a team that tests may add to. */
interface TeamOptions {
  /** More flags of the server. */
  readonly flags?: ReadonlyArray<string>
  /** The text of the module behind its own resources. */
  readonly more?: string
  readonly variables?: Readonly<Record<string, string>>
  /** The Connection that the module's provider uses. */
  readonly provider?: { readonly source: string; readonly values: Readonly<Record<string, string>> }
}

/**
 * Starts a server with an applied Capsule whose Source is on a forge, the owner Mina, and the admin Ken. A rule requires one
 * approval by a person other than the plan's author, and carries approvals over.
 */
export const pullRequestTeamWith = Effect.fnUntraced(function* ({
  flags = [],
  more = "",
  provider,
  variables
}: TeamOptions) {
  const forge = yield* forgeRepository({ "main.tf": moduleOf("one", more) })
  const server = yield* realServer(forge.origin, ["--runner-isolation=off", ...flags])
  const { origin } = server.network
  const [mina, ken] = [httpSession(origin), httpSession(origin)]
  const account = (secret: string, displayName: string, email: string) => ({ secret, displayName, email, password })
  const secretOf = (link: string) => new URL(link).hash.slice(1)
  yield* mina.send("POST", "/auth/setup", account(secretOf(server.setupLink), "Mina", "mina@acme.example"))
  const { selectedWorkspaceId, workspaces } = yield* mina.send("GET", "/api/v1/dashboard/bootstrap")
  const within = `/api/v1/workspaces/${selectedWorkspaceId}`
  const { link } = yield* mina.send("POST", `${within}/invitations`, { role: "member" })
  yield* ken.send("POST", "/auth/invitations/sign-up", account(secretOf(link), "Ken", "ken@acme.example"))
  const { subject } = yield* ken.send("GET", "/api/v1/dashboard/bootstrap")
  const roleOfKen = (role: "admin" | "member") =>
    Effect.asVoid(mina.send("PATCH", `${within}/members/${subject.id}`, { role }))
  yield* roleOfKen("admin")

  const { connection } =
    provider === undefined
      ? {}
      : yield* mina.send("POST", "/api/v1/connections", {
          workspaceId: selectedWorkspaceId,
          provider: provider.source,
          displayName: "Provider",
          values: provider.values
        })
  const providerBindings =
    provider === undefined
      ? []
      : [{ provider: provider.source, moduleLocalName: "demo", connectionId: String(connection.id) }]
  const created = yield* mina.send("POST", `${within}/install-plans`, {
    source: { name: "infra", url: forge.url, ref: "main" },
    capsule: { name: "greeter", environment: "production" },
    options: { modulePath: ".", providerBindings },
    variables: { note: "kept", ...variables }
  })
  const { installPlan: plan } = yield* patiently(
    mina.send("POST", `/api/v1/install-plans/${created.installPlan.id}/reconcile`),
    ({ installPlan }) => installPlan.nextAction !== "reconcile"
  )
  const sourceId = String(plan.sourceId)
  const capsuleId = String(plan.capsuleId)

  /** Approves a plan as Ken and applies it as Mina. */
  const apply = Effect.fnUntraced(function* (planId: string, isApproved = false) {
    if (!isApproved) yield* ken.send("POST", `/api/v1/runs/${planId}/approve`)
    const { run } = yield* mina.send("POST", `/api/v1/runs/${planId}/apply`)
    const { status } = yield* ended(mina, run.id)
    if (status !== "succeeded") throw new Error(`The apply of ${planId} is ${status}.`)
  })
  yield* ended(mina, plan.planRunId)
  yield* apply(plan.planRunId)
  const { approvalRule } = yield* mina.send("POST", `${within}/approval-rules`, {
    approvers: 1,
    planAuthorCounts: false,
    carryOver: "approval"
  })
  const { source } = yield* mina.send("GET", `/api/v1/sources/${sourceId}`)
  const { hookSecret } = yield* mina.send("POST", `/api/v1/sources/${sourceId}/hook-secret`, {
    hookSecretVersion: source.hookSecretVersion
  })

  /** Delivers a webhook as the forge would. */
  const deliver = Effect.promise(async () => {
    const answer = await fetch(`${origin}/hooks/sources/${sourceId}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-gitlab-token": String(hookSecret) },
      body: "{}"
    })
    if (answer.status !== 202) throw new Error(`The delivery was answered with ${answer.status}.`)
  })
  const read = Effect.fnUntraced(function* (number: number) {
    const { pullRequests } = yield* mina.send("GET", `${within}/pull-requests?limit=100`)
    const listed: ReadonlyArray<PullRequestRead> = pullRequests
    const found = listed.find((each) => each.number === number)
    if (found === undefined) return undefined
    const { pullRequest } = yield* mina.send("GET", `/api/v1/pull-requests/${found.id}`)
    const one: PullRequestRead = pullRequest
    return one
  })
  /** Waits until the Capsule has this verdict for the current head. */
  const judged = (number: number, verdict: string) =>
    patiently(
      read(number),
      (found) =>
        found?.headCommit === forge.headOf(number) &&
        found.counts?.[verdict] === 1 &&
        found.capsules?.[0]?.verdict === verdict
    )

  return {
    apply,
    approvalRule,
    capsuleId,
    connectionId: providerBindings[0]?.connectionId ?? "",
    deliver,
    forge,
    handle: String(workspaces[0].handle),
    judged,
    ken,
    mina,
    origin,
    /** Changes inputs of the Capsule as Mina, with Ken's approval. */
    configured: Effect.fnUntraced(function* (set: Readonly<Record<string, string>>) {
      const { capsule } = yield* mina.send("GET", `/api/v1/capsules/${capsuleId}`)
      const { run } = yield* mina.send("POST", `/api/v1/capsules/${capsuleId}/configuration-plans`, {
        variablePatch: { set },
        expected: { authorityGuard: capsule.installConfigReAdoption.authorityGuard }
      })
      yield* ended(mina, run.id)
      yield* apply(run.id)
    }),
    /** Takes Ken's membership away. */
    removeKen: Effect.asVoid(mina.send("DELETE", `${within}/members/${subject.id}`)),
    roleOfKen,
    sourceId,
    within,
    /** Approves a pull request's change as Ken, as soon as the change is planned. */
    approveChange: Effect.fnUntraced(function* (number: number) {
      const runId = (yield* judged(number, "planned"))?.capsules?.[0]?.run?.id ?? ""
      const { run } = yield* ken.send("GET", `/api/v1/runs/${runId}`)
      const { changeDigest, planDigest } = run
      yield* ken.send("POST", `/api/v1/runs/${runId}/change-approvals`, { changeDigest, planDigest })
    }),
    /** Merges the pull request, and waits until svc has read the merge and the branch. */
    merged: Effect.fnUntraced(function* (number: number, way: MergeWay) {
      forge.merge(number, way)
      yield* deliver
      yield* patiently(read(number), (found) => found?.state === "merged")
      const { run } = yield* mina.send("POST", `/api/v1/sources/${sourceId}/sync`, { intent: "observe" })
      yield* ended(mina, run.id)
    }),
    /** Plans the lane as Mina. */
    planLane: Effect.gen(function* () {
      const { run } = yield* mina.send("POST", `/api/v1/capsules/${capsuleId}/plan`)
      yield* ended(mina, run.id)
      const { run: planned } = yield* mina.send("GET", `/api/v1/runs/${run.id}`)
      const lane: LanePlan = planned
      return lane
    })
  }
})

/** The team with nothing added. */
export const pullRequestTeam = pullRequestTeamWith({})
