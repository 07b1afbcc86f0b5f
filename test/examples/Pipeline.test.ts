import { describe, expect, setDefaultTimeout } from "bun:test"
import { readFileSync } from "node:fs"
import { Effect, Fiber, FileSystem } from "effect"
import { join } from "node:path"
import { isIncomplete, modulesWith, network, services } from "../e2e/support/NetworkShell.ts"
import { it } from "../support/Effect.ts"

setDefaultTimeout(180_000)

const root = join(import.meta.dir, "../..")

/** The page's commands, in order: rule, token, plan and apply. */
const [addRule = "", createToken = "", plan = "", apply = ""] = [
  ...readFileSync(join(root, "docs/pipeline.md"), "utf8").matchAll(/^```sh\n(.*?)\n```$/gms)
].map(([, line = ""]) => line)

describe.skipIf(isIncomplete)("docs/pipeline.md", () => {
  it.live(
    "the pipeline example creates a plan, waits for another person's approval, and applies exactly the plan that was reviewed",
    () =>
      Effect.gen(function* () {
        const { run, server, shell } = yield* network
        const files = yield* FileSystem.FileSystem
        yield* files.symlink(join(root, "examples"), `${shell.home}/examples`)
        const done = Effect.fnUntraced(function* (line: string, code = 0) {
          const end = yield* run(line)
          expect([line, end.code, end.code === code ? "" : end.error]).toEqual([line, code, ""])
          return end.out
        })
        yield* done("svc workspace use acme")
        yield* done(
          "svc install https://git.example.com/infra.git --module network --name network --environment production --var-file values.json --json > first.json",
          3
        )
        yield* done('svc approve "$(jq -r .run.id first.json)" --digest "$(jq -r .run.planDigest first.json)"')
        yield* done("svc apply network")
        yield* done("svc invite create --role member --json | jq -r .link > link.txt")
        yield* done(
          "svc invite accept --link-file link.txt --new-account --email bob@example.com --name Bob --password-stdin < password.txt"
        )
        yield* done("svc member role bob@example.com admin")
        yield* done(addRule)
        yield* done(createToken)
        const bob = yield* server.tokenOf("bob@example.com")

        const asPipeline = 'export SVC_TOKEN="$(cat token.txt)" SVC_WORKSPACE=acme;'
        yield* server.commit(modulesWith("s3:PutObject"))
        yield* done(`${asPipeline} ${plan}`)
        // The pipeline cannot approve its own plan, and has no access outside its environment.
        const approval = 'svc approve "$(jq -r .run.id plan.json)" --digest "$(jq -r .run.planDigest plan.json)"'
        yield* run(`${asPipeline} ${approval}`)
        expect(yield* done('svc run get "$(jq -r .run.id plan.json)" --json | jq -r .run.status')).toBe(
          "waiting_approval\n"
        )
        const elsewhere = yield* run(
          `${asPipeline} svc install https://git.example.com/infra.git --module network --name other --environment staging --var-file values.json`
        )
        expect([elsewhere.code, elsewhere.out]).toEqual([4, ""])

        // The pipeline applies only the plan that it has read.
        yield* done("mkdir other && jq '.run.planDigest = \"sha256:0\"' plan.json > other/plan.json")
        const waiting = yield* Effect.forkChild(run(`${asPipeline} ${apply}`))
        yield* done(`SVC_TOKEN=${bob} SVC_WORKSPACE=acme ${approval}`)
        const refused = yield* run(`${asPipeline} cd other && ../${apply}`)
        expect([refused.code, refused.error]).toEqual([1, expect.stringContaining("Nothing was applied.")])

        const applied = yield* Fiber.join(waiting)
        expect([applied.code, applied.code === 0 ? "" : applied.error]).toEqual([0, ""])
        expect(yield* done("svc capsule outputs network greeting --raw")).toBe("s3:PutObject in north\n")
        const summary = yield* files.readFileString(`${shell.home}/summary.md`)
        const { run: planned } = JSON.parse(yield* files.readFileString(`${shell.home}/plan.json`))
        expect(summary).toContain('+         "s3:PutObject"')
        expect(summary).toContain(`### Apply of ${planned.planDigest}\n\nsucceeded: run_`)
      }).pipe(Effect.provide(services))
  )
})
