import { mkdtempSync, readFileSync, rmdirSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "bun:test"
import { Effect } from "effect"
import { ownGroupFolder, unifiedPlace } from "../../../runner/sandbox/limits/ControlGroupFiles.ts"
import { type ControlGroup, groupsIn, probeControlGroups } from "../../../runner/sandbox/limits/ControlGroups.ts"
import { launchedIn } from "../../../runner/sandbox/limits/RunLauncher.ts"
import { defaultSandboxSettings } from "../../../runner/sandbox/SandboxSettings.ts"
import { it } from "../../support/Effect.ts"
import { holdProcesses, processesBelow } from "../../support/ProcessEnd.ts"

// These tests use this machine's kernel. ControlGroups.test.ts covers all other behaviour.

const bounds = { ...defaultSandboxSettings.limits, memoryBytes: 64 * 1024 ** 2, processes: 12 }
const probed = await Effect.runPromise(probeControlGroups(bounds))
const longestEnd = 10_000

/** Starts a program in a group, and returns the program once it has printed a line. */
const started = (group: ControlGroup, script: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const { args, program } = launchedIn(group.join, { program: "/bin/sh", args: ["-c", script] })
      const child = Bun.spawn([program, ...args], { stdio: ["ignore", "pipe", "ignore"] })
      await child.stdout.getReader().read()
      return child
    }),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )

const made = (groups: NonNullable<typeof probed>) =>
  Effect.flatMap(groups.make(bounds), (group) =>
    group === undefined ? Effect.die("the kernel refused a group") : Effect.succeed(group)
  )

const stray = "(setsid sleep 1000 &); (setsid sleep 1000 &); echo up; exec sleep 1000"

const endsAll = (groups: NonNullable<typeof probed>) =>
  Effect.gen(function* () {
    const group = yield* made(groups)
    const child = yield* started(group, stray)
    const inGroup = group.join.flatMap((file) =>
      readFileSync(file.replace(/[^/]+$/, "cgroup.procs"), "latin1")
        .trim()
        .split("\n")
        .map(Number)
    )
    expect(inGroup).toContain(child.pid)
    expect(new Set(inGroup).size).toBe(3)
    const held = holdProcesses([...new Set([...inGroup, ...processesBelow(child.pid)])])
    yield* group.endAll
    expect(held.ended(longestEnd)).toBe(true)
    held.release()
  })

const version = probed?.version
const reason = (wanted: 1 | 2) =>
  version === undefined ? "no group can be made here" : `groups are of version ${version} here, not ${wanted}`

for (const wanted of [1, 2] as const) {
  const has = probed !== undefined && version === wanted
  const groups = has ? probed : undefined
  if (groups === undefined) {
    test.skip(`version ${wanted} control groups (${reason(wanted)})`, () => {})
    continue
  }
  it.live(`a program starts in its cgroup v${wanted} groups, as do its child processes that leave its session`, () =>
    endsAll(groups)
  )

  it.live(
    `a program that exceeds the memory limit of a version ${wanted} group is killed, and the group reports it`,
    () =>
      Effect.gen(function* () {
        const group = yield* made(groups)
        const child = yield* started(group, "echo up; exec dd if=/dev/zero of=/dev/null bs=200000000 count=1")
        yield* Effect.promise(() => child.exited)
        expect(child.signalCode).toBe("SIGKILL")
        expect(yield* group.hit).toBe("memory_limit")
      })
  )

  it.live(`no process can be started above the limit of a version ${wanted} group, and the group reports it`, () =>
    Effect.gen(function* () {
      const group = yield* made(groups)
      const more = Array.from({ length: bounds.processes + 4 }, () => "sleep 1000 &").join(" ")
      yield* started(group, `echo up; ${more} wait`)
      const hit = yield* group.hit.pipe(Effect.repeat({ until: (found) => found !== undefined }))
      expect(hit).toBe("process_limit")
      yield* group.endAll
    })
  )
}

/** Root folder of the version 2 hierarchy, which may be mounted without controllers. */
const unified = ownGroupFolder("")

if (unified === undefined || process.getuid?.() !== 0 || version === 2) {
  test.skip("Version 2 control groups without controllers (none is mounted here, or it has them)", () => {})
} else {
  it.live("a version 2 group without its controllers can be joined, killed by the kernel, and removed", () =>
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(unified, "svc-test-"))),
        (present) => Effect.sync(() => rmdirSync(present))
      )
      yield* Effect.scoped(endsAll(groupsIn(2, () => [{ ...unifiedPlace(folder, bounds), required: [] }])))
    })
  )
}
