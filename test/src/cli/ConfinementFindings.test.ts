import { expect, test } from "bun:test"
import { describeLimits } from "../../../src/cli/doctor/ConfinementFindings.ts"

const limits = {
  keeper: "watching",
  memoryBytes: 2 ** 30,
  processes: 512,
  tmpBytes: 2 ** 28,
  shmBytes: 2 ** 26,
  folderBytes: 2 ** 31,
  freeBytes: 2 ** 29
} as const

test("doctor lists /tmp and /dev/shm sizes only for isolation levels that give a Run its own file systems", () => {
  for (const level of ["bubblewrap", "namespaces"] as const) {
    expect(describeLimits({ level, limits })).toContain("/dev/shm 64 MiB")
  }
  for (const level of ["user_landlock", "landlock", "seatbelt", "process"] as const) {
    expect(describeLimits({ level, limits })).not.toMatch(/\/tmp|\/dev\/shm/)
    expect(describeLimits({ level, limits })).toContain("run folder")
  }
})
