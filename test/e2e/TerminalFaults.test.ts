import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { it } from "../support/Effect.ts"
import { existingState, isIncomplete, network, services } from "./support/NetworkShell.ts"

setDefaultTimeout(240_000)

describe.skipIf(isIncomplete)("the terminal", () => {
  it.live("svc explains refusals, and sends no request that cannot succeed", () =>
    Effect.gen(function* () {
      const { run, shell } = yield* network
      yield* run("svc workspace use acme")
      const who = yield* run("svc whoami")
      expect(who.out).toMatch(/^workspace +acme, as owner$/m)
      expect(who.out).toMatch(/^scopes +read, write$/m)

      const unnamed = yield* run("svc install https://git.example.com/infra.git --name network")
      expect([unnamed.code, unnamed.error]).toEqual([1, expect.stringMatching(/modules?: network, queue/)])
      yield* run("svc install https://git.example.com/infra.git --module network --name network --var-file values.json")
      const shown = yield* run("svc run get network")
      expect(shown.out).toMatch(/^by +ada@example\.test$/m)
      const digest = JSON.parse((yield* run("svc run get network --json")).out).run.planDigest
      yield* run(`svc approve network --digest ${digest}`)
      expect((yield* run("svc --json apply network")).code).toBe(0)
      expect((yield* run("svc run get network")).out).not.toContain("usr_")

      const drift = yield* run("svc drift network")
      expect([drift.code, drift.out]).toEqual([0, expect.stringContaining("No drift:")])

      // svc rejects the file before it creates the export.
      yield* run("touch taken.tar.gz")
      const kept = yield* run("svc export network --confirm network --out taken.tar.gz --password-stdin < password.txt")
      expect([kept.code, kept.error]).toEqual([2, expect.stringContaining("Nothing was exported")])
      expect((yield* run("svc api GET 'workspaces/{workspace}/activity'")).out).not.toContain("export")

      const connection = "svc connection create staging --provider hashicorp/aws --values credentials.json"
      expect((yield* run(connection)).code).toBe(0)
      const again = yield* run(connection)
      expect([again.code, again.error]).toEqual([6, expect.stringMatching(/named staging already: conn_/)])
      const token = "svc token create ci --password-stdin < password.txt"
      expect((yield* run(token)).code).toBe(0)
      expect((yield* run(token)).code).toBe(6)

      yield* existingState(shell.home)
      const adopted = yield* run(
        "svc adopt - --source https://git.example.com/infra.git --module queue --name queue < terraform.tfstate"
      )
      expect([adopted.code, adopted.out]).toEqual([3, expect.stringContaining("The plan shows no changes")])

      const end = JSON.parse((yield* run("svc plan network --destroy --json")).out).run
      yield* run(`svc approve ${end.id} --digest ${end.planDigest}`)
      expect((yield* run("svc apply network")).code).toBe(0)
      const gone = yield* run("svc capsule get network")
      expect([gone.code, gone.error]).toEqual([5, expect.stringMatching(/network\/production is destroyed. .*cap_\w+/)])
    }).pipe(Effect.provide(services))
  )
})
