import { NodeServices } from "@effect/platform-node"
import { expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { it } from "../support/Effect.ts"
import { forgeToken } from "../support/forge/ForgeRepository.ts"
import { type LanePlan, moduleOf, pullRequestTeam } from "./support/PullRequestTeam.ts"

setDefaultTimeout(600_000)

const reasonsOf = ({ differsFrom }: LanePlan) => (differsFrom?.reasons ?? []).map(({ code }) => code)

it.live("a real server carries approvals over only if the change is the same after the merge", () =>
  Effect.gen(function* () {
    const { apply, approvalRule, approveChange, configured, deliver, forge, judged, merged, mina, ...team } =
      yield* pullRequestTeam
    const { connection } = yield* mina.send("POST", "/api/v1/connections", {
      workspaceId: team.within.split("/").at(-1),
      provider: "forgejo",
      kind: "forge",
      displayName: "Comments",
      values: { token: forgeToken },
      origins: [forge.origin]
    })
    yield* mina.send("PATCH", `/api/v1/sources/${team.sourceId}`, {
      autoSync: true,
      pullRequests: "own_branches",
      forgeConnectionId: connection.id
    })

    // The approval of a head does not count for commits of a force-push.
    yield* forge.open(1, "Greet in two", { "main.tf": moduleOf("two") })
    yield* deliver
    yield* approveChange(1)
    yield* judged(1, "approved")
    yield* forge.forcePush(1, { "main.tf": moduleOf("two and a half") })
    yield* deliver
    yield* approveChange(1)
    // The base changes outside the module, and the rebase creates different commits with the same change.
    yield* forge.commitToMain({ "docs/about.md": "About" }, "Write about it")
    yield* merged(1, "rebase")
    const carried = yield* team.planLane
    expect([carried.differsFrom, carried.carriedFrom?.pullRequestNumber]).toEqual([undefined, 1])
    yield* apply(carried.id, true)
    expect((yield* judged(1, "applied"))?.state).toBe("merged")

    const rule = (automationCounts: boolean) =>
      mina.send("PATCH", `${team.within}/approval-rules/${approvalRule.id}`, { automationCounts })
    const moved = forge.commitToMain({ "more.tf": 'resource "terraform_data" "more" {}\n' }, "Add more")
    const alterations: ReadonlyArray<
      readonly [code: string, alter: Effect.Effect<void>, restore: Effect.Effect<void>]
    > = [
      ["rule", Effect.asVoid(rule(true)), Effect.void],
      ["approver", team.roleOfKen("member"), team.roleOfKen("admin")],
      ["configuration", configured({ note: "changed" }), Effect.void],
      ["files", Effect.asVoid(moved), Effect.void]
    ]
    for (const [index, [code, alter, restore]] of alterations.entries()) {
      const number = index + 2
      yield* forge.open(number, `Change ${number}`, { "main.tf": moduleOf(`greeting ${number}`) })
      yield* deliver
      yield* approveChange(number)
      yield* alter
      yield* merged(number, number % 2 === 0 ? "merge" : "squash")
      const plan = yield* team.planLane
      expect([code, plan.status, plan.carriedFrom]).toEqual([code, "waiting_approval", undefined])
      expect([code, reasonsOf(plan)]).toEqual([code, expect.arrayContaining([code])])
      yield* judged(number, "differs")
      yield* restore
    }
  }).pipe(Effect.provide(NodeServices.layer))
)
