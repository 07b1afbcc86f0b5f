import { listProcesses, ownUserThreads } from "../../../../runner/sandbox/limits/ProcessTree.ts"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer, Stream } from "effect"
import type { SandboxedCommand, SandboxSpec } from "../../../../runner/sandbox/levels/Level.ts"
import { Sandbox } from "../../../../runner/sandbox/Sandbox.ts"
import { systemPath } from "../../../../runner/sandbox/SandboxView.ts"
import {
  defaultSandboxSettings,
  type SandboxLimits,
  SandboxSettings,
  type SandboxSettingsShape
} from "../../../../runner/sandbox/SandboxSettings.ts"
import type { SandboxLevel } from "../../../../schema/records/Run.ts"
import { bundledConfinement } from "../../../support/BundledConfinement.ts"
import { it } from "../../../support/Effect.ts"

const mebibyte = 1024 ** 2
const small: SandboxLimits = {
  ...defaultSandboxSettings.limits,
  memoryBytes: 128 * mebibyte,
  processes: 64,
  folderBytes: 32 * mebibyte,
  tmpBytes: 8 * mebibyte,
  shmBytes: 4 * mebibyte
}

const sandboxWith = (settings: Partial<SandboxSettingsShape>) =>
  Sandbox.layer.pipe(
    Layer.provide(Layer.succeed(SandboxSettings, { ...defaultSandboxSettings, limits: small, ...settings })),
    Layer.provide(bundledConfinement),
    Layer.provide(NodeServices.layer)
  )

const runFolder = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = mkdtempSync(join(tmpdir(), "limits-"))
    chmodSync(folder, 0o711)
    mkdirSync(join(folder, "root"))
    return folder
  }),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const shell = (script: string, more: Partial<SandboxedCommand> = {}): SandboxedCommand => ({
  ...more,
  argv: ["/bin/sh", "-c", script],
  cwd: ".",
  environment: { PATH: systemPath },
  network: false
})

/** Runs a script in a separate sandbox, and returns the script's exit. */
const ended = Effect.fnUntraced(function* (
  script: string,
  place: typeof runFolder = runFolder,
  requirements?: SandboxSpec["requirements"],
  more: Partial<SandboxedCommand> = {}
) {
  const sandbox = yield* Sandbox
  const folder = yield* place
  const box = yield* sandbox.open({ root: join(folder, "root"), readOnly: [], requirements })
  const child = yield* box.spawn(shell(script, more))
  const [stdout] = yield* Effect.all(
    [Stream.mkString(Stream.decodeText(child.stdout)), Stream.runDrain(child.stderr)],
    { concurrency: 2 }
  )
  const end = yield* child.end
  return { end, stdout, exceeded: yield* child.exceeded }
}, Effect.scoped)

/** Allocates more memory at once than is allowed, keeps it, and never exits. */
const hungry = "dd if=/dev/zero bs=160M count=1 | sleep 1000"
const breeding = "(for n in $(seq 100); do sleep 1000 & done); exec sleep 1000"
const waiting = "; trap 'exit 0' INT; while :; do sleep 0.1; done"

/** Each limit, with a script that exceeds it and would otherwise run forever. */
const scripts = {
  memory_limit: hungry,
  process_limit: breeding
}
const filling = `for n in 1 2 3 4 5 6 7 8; do dd if=/dev/zero of=file$n bs=1M count=8; done${waiting}`
/** Returns a script that creates this many empty files. */
const empty = (count: number) => `seq ${count} | xargs -n 5000 touch`
const inMemory = {
  tmp_limit: `dd if=/dev/zero of=/tmp/file bs=1M count=64${waiting}`,
  shm_limit: `dd if=/dev/zero of=/dev/shm/file bs=1M count=64${waiting}`
}

/** Levels that this machine supports. */
const rungs: ReadonlyArray<readonly [SandboxLevel, Partial<SandboxSettingsShape>]> = [
  ["bubblewrap", { levels: ["bubblewrap"] }],
  ["namespaces", { levels: ["namespaces"] }],
  ["user_landlock", { levels: ["user_landlock"] }],
  ["landlock", { levels: ["landlock"] }],
  ["process", { isolation: "off" }]
]

const continues = (layer: ReturnType<typeof sandboxWith>, code: string, script: string) =>
  Effect.gen(function* () {
    const sandbox = yield* Sandbox
    const folder = yield* runFolder
    const box = yield* sandbox.open({ root: join(folder, "root"), readOnly: [] })
    const other = yield* box.spawn(shell("until [ -e go ]; do sleep 0.05; done; echo went on"))
    const { exceeded } = yield* ended(script)
    expect<string | undefined>(exceeded?.code).toBe(code)
    expect(exceeded?.message).toContain("SVC_RUN_")
    writeFileSync(join(folder, "root", "go"), "")
    expect(yield* Stream.mkString(Stream.decodeText(other.stdout))).toBe("went on\n")
    expect(yield* other.end).toEqual({ _tag: "exited", code: 0 })
    expect(yield* other.exceeded).toBeUndefined()
  }).pipe(Effect.provide(layer))

const places: Array<{ readonly place: string; readonly layer: ReturnType<typeof sandboxWith> }> = []

for (const [level, settings] of rungs) {
  for (const keeping of ["auto", "watching"] as const) {
    const layer = sandboxWith({ ...settings, controlGroups: keeping === "auto" })
    const status = await Effect.runPromise(Effect.map(Sandbox, (sandbox) => sandbox.status).pipe(Effect.provide(layer)))
    if (status.level !== level) continue
    if (keeping === "auto" && status.limits.keeper === "watching") continue
    const place = `at the level ${level} with ${status.limits.keeper}`
    places.push({ place, layer })
    describe(`Exceeded limits, ${place}`, () => {
      for (const [code, script] of Object.entries({
        ...scripts,
        ...(level === "bubblewrap" || level === "namespaces" ? inMemory : {})
      })) {
        it.live(`a Run that exceeds a limit fails with ${code}, and another Run continues`, () =>
          continues(layer, code, script)
        )
      }

      // A zombie still counts against its user's limit, and a later Run may get the same user.
      if (level !== "bubblewrap" && level !== "namespaces") {
        it.live("a Run at its process limit leaves no process behind, not even a zombie", () =>
          Effect.gen(function* () {
            const { exceeded, stdout } = yield* ended(`cut -d ' ' -f 5 /proc/self/stat; ${breeding}`)
            expect<string | undefined>(exceeded?.code).toBe("process_limit")
            const group = Number(stdout)
            expect(group).toBeGreaterThan(1)
            expect((yield* listProcesses).filter((left) => left.group === group)).toEqual([])
          }).pipe(Effect.provide(layer))
        )

        it.live("a Run may start one process fewer than its limit, and the supervisor's processes do not count", () =>
          Effect.gen(function* () {
            const own = { profile: "small", limits: { processes: 40 } }
            const { end, exceeded } = yield* ended("for n in $(seq 38); do sleep 0.5 & done; wait", runFolder, own)
            expect(exceeded).toBeUndefined()
            expect(end).toEqual({ _tag: "exited", code: 0 })
          }).pipe(Effect.provide(layer))
        )
      }

      it.live("a Run is stopped at its profile's lower limit", () =>
        Effect.gen(function* () {
          const own = { profile: "small", limits: { processes: 40, memoryBytes: 96 * mebibyte } }
          const bred = yield* ended("(for n in $(seq 50); do sleep 1000 & done); exec sleep 1000", runFolder, own)
          expect<string | undefined>(bred.exceeded?.code).toBe("process_limit")
          expect(bred.exceeded?.message).toContain("than its limit of 40")
          const fed = yield* ended(hungry, runFolder, own)
          expect(fed.exceeded?.message).toContain("limit of 96 MiB")
        }).pipe(Effect.provide(layer))
      )
    })
  }
}

// At every level, svc measures a Run's folder each second.
describe("Growing folders", () => {
  for (const { layer, place } of places) {
    it.concurrent(`a Run whose folder exceeds its limit fails with folder_limit, and another Run continues, ${place}`, () =>
      continues(layer, "folder_limit", filling))
  }
})

describe("Installation folders", () => {
  const eight = "for n in 1 2 3 4 5 6 7 8; do dd if=/dev/zero of=file$n bs=1M count=8; done"
  const deaf = `trap 'echo asked' INT; ${eight}; while :; do sleep 0.1; done`
  const installing = (script: string) => ended(script, runFolder, undefined, { isInstallation: true })

  for (const { layer, place } of places.filter(({ place: name }) => name.endsWith("with watching"))) {
    it.concurrent(`an installation that exceeds its folder limit is killed at once, because it has nothing to save, ${place}`, () =>
      Effect.gen(function* () {
        const { end, exceeded, stdout } = yield* installing(deaf)
        expect([exceeded?.code, end._tag, stdout]).toEqual(["folder_limit", "signalled", ""])
      }).pipe(Effect.provide(layer)))

    it.concurrent(`an installation's folder is measured once more after the installation ends, ${place}`, () =>
      Effect.gen(function* () {
        expect<string | undefined>((yield* installing(eight)).exceeded?.code).toBe("folder_limit")
        expect((yield* installing("echo small")).exceeded).toBeUndefined()
      }).pipe(Effect.provide(layer)))
  }

  it.concurrent("a program other than an installation is asked to stop before it is killed at its folder limit", () =>
    Effect.gen(function* () {
      expect((yield* ended(deaf)).stdout).toBe("asked\n")
    }).pipe(Effect.provide(sandboxWith({ isolation: "off", controlGroups: false }))))
})

for (const [level, settings] of rungs) {
  it.live(`${level} limits a program's processes, regardless of its user`, () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      if (sandbox.status.level !== level) return
      const { stdout } = yield* ended("grep 'Max processes' /proc/self/limits")
      const [, limit] = /Max processes +(\d+)/.exec(stdout) ?? []
      expect(Number(limit)).toBeGreaterThanOrEqual(small.processes)
      // The kernel counts processes per user. If the user is the service's own, existing processes are added to the limit.
      expect(Number(limit)).toBeLessThan(small.processes + 2 * (yield* ownUserThreads) + 100)
    }).pipe(Effect.provide(sandboxWith(settings)))
  )
}

/** Levels that this machine supports, with and without control groups, and with the limits that a test chooses. */
const everywhere = rungs.flatMap(([level, settings]) =>
  ([true, false] as const).map((controlGroups) => ({
    level,
    name: `at the level ${level} ${controlGroups ? "with control groups, if there are any" : "without control groups"}`,
    layer: (limits: Partial<SandboxLimits>) =>
      sandboxWith({ ...settings, controlGroups, limits: { ...small, ...limits } })
  }))
)

describe("Shared memory", () => {
  const both =
    "for n in 1 2 3 4; do dd if=/dev/zero of=/tmp/file$n bs=1M count=20; done; dd if=/dev/zero bs=70M count=1 | sleep 20"
  for (const { layer, level, name } of everywhere.filter(
    ({ level }) => level === "bubblewrap" || level === "namespaces"
  )) {
    it.live(`memory used by a file in /tmp and by a process adds up towards the Run's limit, ${name}`, () =>
      Effect.gen(function* () {
        if ((yield* Sandbox).status.level !== level) return
        const { exceeded } = yield* ended(both)
        expect<string | undefined>(exceeded?.code).toBe("memory_limit")
      }).pipe(Effect.provide(layer({ tmpBytes: 100 * mebibyte })))
    )

    it.live(`empty files in memory count towards the Run's limit, ${name}`, () =>
      Effect.gen(function* () {
        if ((yield* Sandbox).status.level !== level) return
        const { exceeded } = yield* ended(`cd /tmp; ${empty(60_000)}${waiting}`)
        expect<string | undefined>(exceeded?.code).toBe("tmp_limit")
      }).pipe(Effect.provide(layer({ tmpBytes: 48 * mebibyte })))
    )

    it.live(`every place to which a program may write has a limit, ${name}`, () =>
      Effect.gen(function* () {
        if ((yield* Sandbox).status.level !== level) return
        const { stdout } = yield* ended("cat /proc/self/mounts")
        const writable = stdout.split("\n").flatMap((line) => {
          const [, path = "", type = "", options = ""] = line.split(" ")
          // Devices are mounted as single files.
          const isDevice = /^\/dev\/(?:null|zero|full|random|urandom|tty|console)$/.test(path)
          return type === "tmpfs" && options.split(",").includes("rw") && !isDevice ? [{ path, options }] : []
        })
        const own = writable.filter(({ path }) => path !== "/capsule")
        expect(own.map(({ path }) => path).toSorted()).toEqual(["/dev/shm", "/tmp"])
        for (const { options } of own) expect(options).toMatch(/size=\d+k/)
      }).pipe(Effect.provide(layer({})))
    )
  }
})

describe("Temporary folders", () => {
  for (const { layer, level, name } of everywhere.filter(
    ({ level }) => level.endsWith("landlock") || level === "process"
  ))
    it.live(`a temporary folder outside the Run's folder counts towards the Run's limit, ${name}`, () =>
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        if (sandbox.status.level !== level) return
        const root = join(yield* runFolder, "root", "deep".repeat(30))
        mkdirSync(root)
        const box = yield* sandbox.open({ root, readOnly: [] })
        expect(box.temporary.startsWith(root)).toBe(false)
        const child = yield* box.spawn(shell(`cd ${box.temporary} && ${filling}`))
        yield* Effect.all([Stream.runDrain(child.stdout), Stream.runDrain(child.stderr)], { concurrency: 2 })
        yield* child.end
        expect<string | undefined>((yield* child.exceeded)?.code).toBe("folder_limit")
      }).pipe(Effect.provide(layer({})))
    )
})

/** Creates a 64 MiB disk with room for 40,000 files. Only root can create it. */
const smallDisk = Effect.tap(
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(join(tmpdir(), "disk-"))
      Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=64m,nr_inodes=40000,mode=711", "tmpfs", folder])
      return folder
    }),
    (folder) =>
      Effect.sync(() => {
        Bun.spawnSync(["umount", "--lazy", folder])
        rmSync(folder, { recursive: true, force: true })
      })
  ),
  (folder) => Effect.sync(() => mkdirSync(join(folder, "root")))
)

describe.skipIf(process.getuid?.() !== 0)("Full disks", () => {
  it.live("a Run is stopped when it has used most of the disk, even below its own folder limit", () =>
    Effect.gen(function* () {
      const { exceeded } = yield* ended(`dd if=/dev/zero of=big bs=1M count=62${waiting}`, smallDisk)
      expect<string | undefined>(exceeded?.code).toBe("disk_low")
      expect(exceeded?.message).toContain("SVC_RUN_FREE_DISK")
    }).pipe(Effect.provide(sandboxWith({ limits: { ...small, folderBytes: 1024 * mebibyte } })))
  )

  it.live(
    "a Run is stopped when it has created most of the files that fit on the disk, even if all of them are empty",
    () =>
      Effect.gen(function* () {
        const { exceeded } = yield* ended(`${empty(39_900)}${waiting}`, smallDisk)
        expect<string | undefined>(exceeded?.code).toBe("disk_low")
      }).pipe(Effect.provide(sandboxWith({ limits: { ...small, folderBytes: 1024 * mebibyte } })))
  )
})

describe("Empty files", () => {
  it.live("a Run that creates empty files is stopped at its folder's limit", () =>
    Effect.gen(function* () {
      const { exceeded } = yield* ended(`${empty(20_000)}${waiting}`)
      expect<string | undefined>(exceeded?.code).toBe("folder_limit")
    }).pipe(Effect.provide(sandboxWith({ limits: { ...small, folderBytes: 8 * mebibyte } })))
  )
})
