import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { it } from "../support/Effect.ts"
import { isIncomplete, network, services } from "./support/NetworkShell.ts"
import { atTerminal } from "./support/Shell.ts"

setDefaultTimeout(180_000)

describe.skipIf(isIncomplete)("svc approve", () => {
  it.live(
    "svc approve shows the plan before it prompts, and requires the Capsule's name to confirm a destructive plan",
    () =>
      Effect.gen(function* () {
        const { run, shell } = yield* network
        yield* run("svc workspace use acme")
        yield* run(
          "svc install https://git.example.com/infra.git --module network --name network --var-file values.json"
        )
        const script = yield* run("svc approve network")
        expect([script.code, script.error]).toEqual([2, expect.stringContaining("--digest")])
        const moved = yield* run(`svc approve network --digest sha256:${"0".repeat(64)} --json`)
        expect([moved.code, JSON.parse(moved.error).error.code]).toEqual([6, "guard_conflict"])
        const unsure = yield* atTerminal(shell, "svc approve network")
        yield* unsure.shows("Approve this plan?")
        // The plan is printed first, in colour.
        expect(unsure.screen()).toContain("\u001b[32m+ terraform_data.policy")
        yield* unsure.type("n")
        expect(yield* unsure.code).toBe(1)
        expect(unsure.screen()).toContain("It waits as before.")
        const sure = yield* atTerminal(shell, "svc approve network")
        yield* sure.shows("Approve this plan?")
        yield* sure.type("y")
        expect(yield* sure.code).toBe(0)
        expect((yield* run("svc apply network")).code).toBe(0)
        const twice = yield* run("svc apply network")
        expect([twice.code, twice.error]).toEqual([
          6,
          expect.stringMatching(/was applied by run_\w+, which is succeeded/)
        ])
        // The command picks the newest plan, not the newest approved plan.
        const before = yield* run("svc plan network --destroy && exit 1; svc apply network --json")
        expect([before.code, JSON.parse(before.error.split("\n").at(-2) ?? "").error]).toEqual([
          3,
          { code: "failed_precondition", message: expect.stringMatching(/is not approved. .*`svc approve run_\w+`/) }
        ])
        for (const [typed, code] of [
          ["yes", 1],
          ["network", 0]
        ] as const) {
          const person = yield* atTerminal(shell, "svc approve network")
          yield* person.shows("Type network to approve")
          yield* person.type(`${typed}\r`)
          expect(yield* person.code).toBe(code)
        }
      }).pipe(Effect.provide(services))
  )
})
