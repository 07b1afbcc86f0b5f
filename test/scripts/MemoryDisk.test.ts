import { NodeServices } from "@effect/platform-node"
import { describe, expect } from "bun:test"
import { Effect, FileSystem, Option } from "effect"
import { availableMemory, folderInMemory, memoryDisk, startsPrograms } from "../../scripts/MemoryDisk.ts"
import { it } from "../support/Effect.ts"

const mount = (options: string, place: string = memoryDisk) => `tmpfs ${place} tmpfs ${options} 0 0\n`

describe("Memory folders", () => {
  it.effect("temporary folders are in memory only if the memory file system allows programs to be executed", () =>
    Effect.sync(() => {
      expect(startsPrograms(mount("rw,nosuid,nodev"), memoryDisk)).toBe(true)
      expect(startsPrograms(mount("rw,nosuid,nodev,noexec"), memoryDisk)).toBe(false)
      expect(startsPrograms(mount("ro,nosuid"), memoryDisk)).toBe(false)
      expect(startsPrograms(mount("rw", "/dev/shm/other"), memoryDisk)).toBe(false)
      expect(startsPrograms(mount("rw") + mount("rw,noexec"), memoryDisk)).toBe(false)
      expect(startsPrograms("", memoryDisk)).toBe(false)
    })
  )

  it.effect("the size check for temporary folders uses the available memory, not just the free memory", () =>
    Effect.sync(() => {
      const meminfo = "MemTotal:       8000000 kB\nMemFree:         100000 kB\nMemAvailable:   5000000 kB\n"
      expect(availableMemory(meminfo)).toBe(5_000_000 * 1024)
      expect(availableMemory("")).toBe(0)
    })
  )

  it.live("temporary folders in memory are open to every user, and are not created without a memory file system", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const folder = yield* Effect.scoped(
        Effect.tap(folderInMemory, (found) =>
          Effect.gen(function* () {
            if (Option.isNone(found)) return
            yield* files.writeFileString(`${found.value}/a`, "b")
            // Every user may enter the folder. Otherwise, tests whose sandbox uses another user id would be skipped.
            expect((yield* files.stat(found.value)).mode & 0o7777).toBe(0o1777)
          })
        )
      )
      if (Option.isSome(folder)) expect(yield* files.exists(folder.value)).toBe(false)
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
