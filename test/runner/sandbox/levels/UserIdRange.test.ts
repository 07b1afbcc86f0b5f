import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { Context, Effect, Exit, Layer, Scope, Stream } from "effect"
import { rangesFrom, takeUserIds } from "../../../../runner/sandbox/levels/UserIdRange.ts"
import { Sandbox } from "../../../../runner/sandbox/Sandbox.ts"
import { defaultSandboxSettings, SandboxSettings } from "../../../../runner/sandbox/SandboxSettings.ts"
import { systemPath } from "../../../../runner/sandbox/SandboxView.ts"
import { it } from "../../../support/Effect.ts"

const wanted = defaultSandboxSettings.userIds
const harness = new URL("../support/UserIdProcess.ts", import.meta.url).pathname

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "user-ids-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

describe("User ids", () => {
  it.live("no other service gets a running service's user ids or group", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const first = yield* Scope.make()
      expect(yield* Scope.provide(takeUserIds(wanted, folder), first)).toEqual(wanted)
      const second = yield* takeUserIds(wanted, folder)
      expect(second?.first).toBeGreaterThan(wanted.first + wanted.count)
      yield* Scope.close(first, Exit.void)
      expect(yield* takeUserIds(wanted, folder)).toEqual(wanted)
    })
  )

  it.live("the user ids of a killed service can be claimed again", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const other = yield* Effect.acquireRelease(
        Effect.sync(() => Bun.spawn([process.execPath, harness, folder], { stdio: ["ignore", "pipe", "inherit"] })),
        (started) => Effect.sync(() => started.kill("SIGKILL"))
      )
      const said = yield* Effect.promise(() => other.stdout.getReader().read())
      expect(new TextDecoder().decode(said.value).trim()).toBe(String(wanted.first))
      expect((yield* takeUserIds(wanted, folder))?.first).not.toBe(wanted.first)
      other.kill("SIGKILL")
      yield* Effect.promise(() => other.exited)
      expect(yield* takeUserIds(wanted, folder)).toEqual(wanted)
    })
  )

  it.live("a service gets no user ids if all are taken, or if their owners cannot be determined", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const ranges = rangesFrom(wanted)
      expect(ranges.at(-1)?.first).toBeLessThan(65_534 - wanted.count)
      const taken = yield* Effect.forEach(ranges, () => takeUserIds(wanted, folder))
      expect(taken).toEqual([...ranges])
      expect(yield* takeUserIds(wanted, folder)).toBeUndefined()
      writeFileSync(join(folder, "file"), "")
      expect(yield* takeUserIds(wanted, join(folder, "file/below"))).toBeUndefined()
    })
  )
})

const service = Layer.fresh(Sandbox.layer).pipe(
  Layer.provide(Layer.succeed(SandboxSettings, { ...defaultSandboxSettings, levels: ["user_landlock"] })),
  Layer.provide(NodeServices.layer)
)
const found = await Effect.runPromise(Effect.map(Sandbox, ({ status }) => status).pipe(Effect.provide(service)))
const describeUsers = found.accepted ? describe : describe.skip

describeUsers("two root services get separate user ids", () => {
  it.live("each Run of a service gets a separate user", () =>
    Effect.gen(function* () {
      const userOf = Effect.gen(function* () {
        const { open } = Context.get(yield* Layer.build(service), Sandbox)
        const folder = yield* temporaryFolder
        mkdirSync(join(folder, "root"))
        Bun.spawnSync(["chmod", "711", folder])
        const box = yield* open({ root: join(folder, "root"), readOnly: [] })
        const child = yield* box.spawn({
          argv: ["id", "-u"],
          cwd: ".",
          environment: { PATH: systemPath },
          network: false
        })
        return Number((yield* Stream.mkString(Stream.decodeText(child.stdout))).trim())
      })
      const [one, other] = [yield* userOf, yield* userOf]
      expect(one).toBeGreaterThanOrEqual(wanted.first)
      expect(Math.abs(one - other)).toBeGreaterThan(wanted.count)
    })
  )
})
