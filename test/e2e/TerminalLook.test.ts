import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { it } from "../support/Effect.ts"
import { isIncomplete, modulesWith, network, services } from "./support/NetworkShell.ts"

setDefaultTimeout(240_000)

describe.skipIf(isIncomplete)("After a push", () => {
  it.live("svc plan reads the repository first, and svc source sync lists the Capsules that are behind", () =>
    Effect.gen(function* () {
      const { run, server } = yield* network
      const json = (line: string) => Effect.map(run(line), ({ code, out }) => ({ code, ...JSON.parse(out) }))
      yield* run("svc workspace use acme")
      yield* run("svc install https://git.example.com/infra.git --module network --name network --var-file values.json")
      const { run: first } = yield* json("svc run get network --json")
      yield* run(`svc approve network --digest ${first.planDigest}`)
      expect((yield* run("svc apply network")).code).toBe(0)

      const pushed = yield* server.commit(modulesWith("s3:PutObject"))
      const unread = yield* json("svc plan network --no-sync --json")
      expect([unread.run.resolvedCommit, unread.look]).toEqual([first.resolvedCommit, undefined])
      const shown = yield* run("svc plan network")
      expect([shown.code, shown.error]).toEqual([
        3,
        expect.stringContaining(
          `is at ${pushed.slice(0, 8)}; ${first.resolvedCommit.slice(0, 8)} is deployed. The ref is 1 commit ahead.`
        )
      ])
      expect(yield* json("svc plan network --json")).toMatchObject({
        code: 3,
        run: { resolvedCommit: pushed },
        look: { status: "succeeded", resolvedCommit: pushed, deployedCommit: first.resolvedCommit }
      })

      const waiting = (yield* json("svc run get network --json")).run
      const shownOnly = yield* run("svc plan network --ref main --speculative")
      expect([shownOnly.code, shownOnly.out]).toEqual([3, expect.stringContaining("(speculative)")])
      expect(yield* json("svc plan network --ref main --speculative --json")).toMatchObject({
        code: 3,
        run: { speculative: true, status: "succeeded", resolvedCommit: pushed }
      })
      expect((yield* run("svc plan network --speculative")).code).toBe(2)
      expect((yield* json(`svc run get ${waiting.id} --json`)).run.status).toBe("waiting_approval")

      const later = yield* server.commit(modulesWith("s3:ListBucket"))
      const synced = yield* run("svc source sync network")
      expect([synced.code, synced.out]).toEqual([
        0,
        expect.stringContaining(
          `network/production is behind: ${first.resolvedCommit.slice(0, 8)}, newest ${later.slice(0, 8)}.`
        )
      ])
      expect(yield* json("svc source sync network --json")).toMatchObject({
        behind: [{ name: "network", deployedCommit: first.resolvedCommit, newestCommit: later }]
      })

      yield* server.loseRepository
      const away = yield* run("svc plan network")
      expect([away.code, away.error]).toEqual([3, expect.stringContaining("The repository could not be read")])
    }).pipe(Effect.provide(services))
  )
})
