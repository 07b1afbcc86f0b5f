import { existsSync } from "node:fs"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, expect } from "bun:test"
import { Effect, Option } from "effect"
import { adoptRoom, makeRoom, roomName } from "../../../runner/agent/AgentRunFolder.ts"
import { writeApplyRecord } from "../../../runner/execution/ApplyRecord.ts"
import { runFolderPaths } from "../../../runner/execution/RunFolder.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { it } from "../../support/Effect.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

const claim = { runId: RunId.make("run_01000000000000000000000001"), fence: 3 }

/**
 * Creates the run folder of an agent whose machine lost power. `record` is the part of the Run's record that reached the
 * disk, or `undefined`.
 */
const afterPowerCut = Effect.fnUntraced(function* (record: string | undefined, name = roomName(claim)) {
  const runs = yield* temporaryFolder
  const folder = join(runs, name)
  const paths = runFolderPaths(join(folder, "run"))
  yield* Effect.promise(async () => {
    await mkdir(paths.root, { recursive: true })
    if (record !== undefined) await writeFile(join(folder, "record.json"), record)
  })
  const adopted = Effect.map(adoptRoom(runs, name), Option.getOrUndefined)
  return { adopted, folder, paths }
})

describe("Power cuts", () => {
  for (const record of [undefined, ""]) {
    const without = record === undefined ? "without a record" : "with an empty record"

    it.live(`${without}, the agent keeps a state that an apply left behind, and the claim in the folder's name`, () =>
      Effect.gen(function* () {
        const { adopted, paths } = yield* afterPowerCut(record)
        yield* writeApplyRecord(paths.applyRecord, { version: 1, modulePath: "." })
        const left = { claim, kind: "apply", runFolder: paths.root, found: { stage: "accepted" } }
        expect(yield* adopted).toMatchObject(left)
        expect(existsSync(paths.applyRecord)).toBe(true)
      })
    )

    it.live(
      `${without}, the agent keeps an apply that may have been permitted to start, and can report that it never started`,
      () =>
        Effect.gen(function* () {
          const { adopted, paths } = yield* afterPowerCut(record)
          yield* Effect.promise(() => writeFile(paths.journal, ""))
          expect(yield* adopted).toMatchObject({ claim, kind: "apply" })
          expect(existsSync(paths.journal)).toBe(true)
        })
    )

    it.live(`${without}, the agent keeps nothing if no apply was about to start`, () =>
      Effect.gen(function* () {
        const { adopted, folder } = yield* afterPowerCut(record)
        expect(yield* adopted).toBeUndefined()
        expect(existsSync(folder)).toBe(false)
      })
    )
  }

  it.live("an apply's state in a folder with an unknown name is kept for a person to review", () =>
    Effect.gen(function* () {
      const { adopted, paths } = yield* afterPowerCut(undefined, "run_01000000000000000000000001-03")
      yield* writeApplyRecord(paths.applyRecord, { version: 1, modulePath: "." })
      expect(yield* adopted).toBe("unreadable")
      expect(existsSync(paths.applyRecord)).toBe(true)
    })
  )

  it.live("a kept record is found again after a restart", () =>
    Effect.gen(function* () {
      const runs = yield* temporaryFolder
      yield* Effect.scoped(
        Effect.gen(function* () {
          const room = yield* makeRoom(runs, claim, "apply")
          if (room === undefined) return yield* Effect.die(new Error("no room"))
          yield* room.accept
          yield* room.keep
        })
      )
      const adopted = Option.getOrUndefined(yield* adoptRoom(runs, roomName(claim)))
      expect(adopted).toMatchObject({ claim, kind: "apply", found: { stage: "accepted" } })
    })
  )
})
