import { NodeServices } from "@effect/platform-node"
import { describe, expect } from "bun:test"
import { Effect, FileSystem } from "effect"
import { batchSchedule } from "../../scripts/BatchSchedule.ts"
import { it } from "../support/Effect.ts"

const folderWith = Effect.fnUntraced(function* (chrt: string | undefined) {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-batch-" })
  if (chrt !== undefined) yield* files.writeFileString(`${folder}/chrt`, `#!/bin/sh\n${chrt}\n`, { mode: 0o755 })
  return folder
})

describe("Batch policy", () => {
  it.live("the batch policy applies to the started command and its child processes", () =>
    Effect.gen(function* () {
      const words = yield* batchSchedule("/usr/bin:/bin")
      if (words.length === 0) return
      // The 41st field of the line. The process name contains no space, so the line can be split at spaces.
      const script = "sh -c 'cut -d \" \" -f 41 /proc/self/stat'"
      const { stdout } = Bun.spawnSync([...words, "sh", "-c", script])
      expect(stdout.toString()).toBe("3\n")
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("a test run uses the batch policy if a trial command succeeds", () =>
    Effect.gen(function* () {
      const working = yield* folderWith(`[ "$1" = --max ] || exec "$3" "$4"`)
      expect(yield* batchSchedule(working)).toEqual([`${working}/chrt`, "--batch", "0"])
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("a test run omits the batch policy if the system refuses it or the program is missing", () =>
    Effect.gen(function* () {
      expect(yield* batchSchedule(yield* folderWith("echo Operation not permitted >&2; exit 1"))).toEqual([])
      expect(yield* batchSchedule(yield* folderWith(undefined))).toEqual([])
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
