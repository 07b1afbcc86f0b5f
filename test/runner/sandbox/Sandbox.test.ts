import { chmodSync, constants, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer, Stream } from "effect"
import type { OpenSandbox, SandboxedCommand } from "../../../runner/sandbox/levels/Level.ts"
import { Sandbox } from "../../../runner/sandbox/Sandbox.ts"
import { systemPath } from "../../../runner/sandbox/SandboxView.ts"
import {
  defaultSandboxSettings,
  SandboxSettings,
  type SandboxSettingsShape
} from "../../../runner/sandbox/SandboxSettings.ts"
import { rangesFrom } from "../../../runner/sandbox/levels/UserIdRange.ts"
import type { SandboxLevel } from "../../../schema/records/Run.ts"
import { it } from "../../support/Effect.ts"

const sandboxWith = (settings: Partial<SandboxSettingsShape>) =>
  Sandbox.layer.pipe(
    Layer.provide(Layer.succeed(SandboxSettings, { ...defaultSandboxSettings, ...settings })),
    Layer.provide(NodeServices.layer)
  )

const runFolder = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = mkdtempSync(join(tmpdir(), "sandbox-"))
    chmodSync(folder, 0o711)
    mkdirSync(join(folder, "root"))
    return folder
  }),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const shell = (script: string, more: Partial<SandboxedCommand> = {}): SandboxedCommand => ({
  argv: ["/bin/sh", "-c", script],
  cwd: ".",
  environment: { PATH: systemPath, ONLY: "this" },
  network: false,
  ...more
})

const runShell = Effect.fnUntraced(function* (box: OpenSandbox, command: SandboxedCommand) {
  const child = yield* box.spawn(command)
  const [stdout, stderr] = yield* Effect.forEach(
    [child.stdout, child.stderr],
    (stream) => stream.pipe(Stream.decodeText(), Stream.mkString),
    { concurrency: 2 }
  )
  return { stdout: stdout ?? "", stderr: stderr ?? "", end: yield* child.end }
})

/** Returns the states of a user's remaining processes, except zombies. */
const living = (userId: string) => {
  const list = Bun.spawnSync(["ps", "-u", userId, "-o", "stat="])
  return list.stdout
    .toString()
    .split("\n")
    .filter((state) => state !== "" && !state.startsWith("Z"))
}

/** Levels that this machine supports. */
const rungs: ReadonlyArray<readonly [SandboxLevel, Partial<SandboxSettingsShape>]> = [
  ["bubblewrap", { levels: ["bubblewrap"] }],
  ["namespaces", { levels: ["namespaces"] }],
  ["user_landlock", { levels: ["user_landlock"] }],
  ["landlock", { levels: ["landlock"] }],
  ["process", { isolation: "off" }]
]
const available = new Map<SandboxLevel, boolean>()
for (const [level, settings] of rungs) {
  const status = await Effect.runPromise(
    Effect.gen(function* () {
      return (yield* Sandbox).status
    }).pipe(Effect.provide(sandboxWith(settings)))
  )
  available.set(level, status.accepted && status.level === level)
}

const sharedByAll = (level: SandboxLevel, settings: Partial<SandboxSettingsShape>) => {
  it.live(`at ${level}, a program has a fresh environment and none of the service's files open`, () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const folder = yield* runFolder
      const box = yield* sandbox.open({ root: join(folder, "root"), readOnly: [] })
      const { stdout, end } = yield* runShell(
        box,
        shell(
          "env | sort; echo --; for fd in /proc/self/fd/*; do readlink $fd; done; tr '\\0' '\\n' < /proc/1/environ || true"
        )
      )
      expect(end).toEqual({ _tag: "exited", code: 0 })
      const [environment = "", rest = ""] = stdout.split("--\n")
      const names = environment.split("\n").map((line) => line.split("=")[0])
      expect(
        names.filter((name) => name !== "" && name !== "_" && name !== "PWD" && name !== "OLDPWD" && name !== "SHLVL")
      ).toEqual(["ONLY", "PATH"])
      // Only the pipes to the runner, /dev/null and the listing's own descriptor are open, so the program inherited no other
      // file.
      const kinds = rest
        .split("\n")
        .filter((line) => line.startsWith("/") && !line.startsWith("/proc") && line !== "/dev/null")
      expect(kinds).toEqual([])
      if (level === "bubblewrap" || level === "namespaces") expect(rest).toContain("ONLY=this")
    }).pipe(Effect.provide(sandboxWith(settings)))
  )

  it.live(`at ${level}, a program's writes block until its output is read, so that nothing is lost`, () =>
    Effect.gen(function* () {
      const folder = yield* runFolder
      const box = yield* (yield* Sandbox).open({ root: join(folder, "root"), readOnly: [] })
      const { stdout } = yield* runShell(
        box,
        shell("sed -n 's/^flags:[^0-9]*//p' /proc/self/fdinfo/1 /proc/self/fdinfo/2")
      )
      const flags = stdout
        .trim()
        .split("\n")
        .map((text) => Number.parseInt(text, 8))
      expect(flags.map((each) => each & constants.O_NONBLOCK)).toEqual([0, 0])
    }).pipe(Effect.provide(sandboxWith(settings)))
  )

  it.live(`at ${level}, a kill stops the program and every process that it started`, () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const folder = yield* runFolder
      const box = yield* sandbox.open({ root: join(folder, "root"), readOnly: [] })
      const child = yield* box.spawn(
        shell(
          "(while :; do echo x >> beat; sleep 0.02; done) & echo started; trap '' INT TERM; while :; do sleep 1; done"
        )
      )
      yield* child.stdout.pipe(Stream.decodeText(), Stream.take(1), Stream.runDrain)
      yield* child.interrupt
      yield* child.kill
      expect(yield* child.end).toEqual({ _tag: "signalled" })
      const file = join(folder, "root", "beat")
      const beat = () => (existsSync(file) ? readFileSync(file, "utf8") : "")
      const after = beat()
      yield* Effect.sleep("100 millis")
      expect(beat()).toBe(after)
    }).pipe(Effect.provide(sandboxWith(settings)))
  )

  it.live(`at ${level}, an interrupt reaches the program itself`, () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const folder = yield* runFolder
      const box = yield* sandbox.open({ root: join(folder, "root"), readOnly: [] })
      const child = yield* box.spawn(
        shell("trap 'echo stopping; exit 7' INT; echo ready; while :; do sleep 0.05; done")
      )
      const lines = child.stdout.pipe(
        Stream.decodeText(),
        Stream.tap((text) => (text.includes("ready") ? child.interrupt : Effect.void)),
        Stream.mkString
      )
      expect(yield* lines).toContain("stopping")
      expect(yield* child.end).toEqual({ _tag: "exited", code: 7 })
    }).pipe(Effect.provide(sandboxWith(settings)))
  )
}

describe("Sandbox", () => {
  for (const [level, settings] of rungs) if (available.get(level)) sharedByAll(level, settings)

  if (available.get("bubblewrap")) {
    it.live("bubblewrap hides the network, the host's processes, and files outside the sandbox", () =>
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        const folder = yield* runFolder
        writeFileSync(join(folder, "control.db"), "secret state")
        writeFileSync(join(folder, "allowed"), "readable")
        const box = yield* sandbox.open({ root: join(folder, "root"), readOnly: [join(folder, "allowed")] })
        const { stdout } = yield* runShell(
          box,
          shell(
            [
              `cat ${folder}/control.db || echo hidden`,
              `cat ${folder}/allowed && echo`,
              `echo x > ${folder}/allowed || echo read-only`,
              "touch /usr/x || echo no-usr",
              "pwd",
              "echo made > here",
              "grep -c : /proc/net/dev",
              "ls -d /proc/[0-9]* | wc -l",
              "grep CapBnd /proc/self/status"
            ].join("; ")
          )
        )
        const lines = stdout.split("\n")
        expect(lines.slice(0, 5)).toEqual(["hidden", "readable", "read-only", "no-usr", "/capsule"])
        expect(Number(lines[5])).toBe(1)
        expect(Number(lines[6])).toBeLessThan(8)
        expect(lines[7]).toContain("0000000000000000")
        expect(readFileSync(join(folder, "root", "here"), "utf8")).toBe("made\n")
        expect(readFileSync(join(folder, "allowed"), "utf8")).toBe("readable")
      }).pipe(Effect.provide(sandboxWith({})))
    )
  }

  if (available.get("bubblewrap")) {
    it.live("bubblewrap shows only the host's public settings, and makes them read-only", () =>
      Effect.gen(function* () {
        const folder = yield* runFolder
        const paths = ["/etc/shadow", "/etc/gshadow", "/etc/ssl/private", "/etc/ssh", "/etc/passwd", "/etc/ssl/certs"]
        const script = [
          ...paths.map((path) => `if test -e ${path}; then echo ${path}; fi`),
          "(echo x > /etc/passwd) || echo read-only",
          "cksum < /etc/passwd"
        ].join("; ")
        const visible = ["/etc/passwd", "/etc/ssl/certs"].filter((path) => existsSync(path))
        const sum = Bun.spawnSync(["cksum"], { stdin: readFileSync("/etc/passwd") })
          .stdout.toString()
          .trim()
        // If no folder is given, the copies are temporary; otherwise they are permanent. If the folder cannot be created,
        // there are no copies.
        for (const ownFolder of [undefined, join(folder, "own"), "/proc/nowhere"]) {
          const { stdout } = yield* Effect.gen(function* () {
            const box = yield* (yield* Sandbox).open({ root: join(folder, "root"), readOnly: [] })
            return yield* runShell(box, shell(script))
          }).pipe(Effect.scoped, Effect.provide(sandboxWith({ ownFolder })))
          expect(stdout.trim().split("\n")).toEqual([...visible, "read-only", sum])
        }
      })
    )
  }

  if (available.get("user_landlock")) {
    it.live("user_landlock gives a Run a separate user id that cannot read the service's files", () =>
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        const folder = yield* runFolder
        writeFileSync(join(folder, "control.db"), "secret state", { mode: 0o600 })
        const box = yield* sandbox.open({ root: join(folder, "root"), readOnly: [] })
        const { stdout, end } = yield* runShell(
          box,
          shell(
            [
              "id -u",
              `cat ${folder}/control.db || echo hidden`,
              "setsid sh -c 'echo > up; exec sleep 1000' > /dev/null 2>&1 & while [ ! -e up ]; do :; done",
              "exit 3"
            ].join("; ")
          )
        )
        const [userId = "", ...rest] = stdout.split("\n")
        // The ids depend on other services, which may already use the first ids of the range.
        const ranges = rangesFrom(defaultSandboxSettings.userIds)
        expect(ranges.some(({ count, first }) => Number(userId) >= first && Number(userId) < first + count)).toBe(true)
        expect(rest).toEqual(["hidden", ""])
        expect(end).toEqual({ _tag: "exited", code: 3 })
        // The user's processes exited with the program, even before the sandbox was closed.
        expect(living(userId)).toEqual([])
      }).pipe(Effect.provide(sandboxWith({ levels: ["user_landlock"] })))
    )

    it.live("user_landlock rejects a private folder and reports a remedy", () =>
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        const folder = yield* runFolder
        chmodSync(folder, 0o700)
        const refusal = yield* Effect.flip(sandbox.open({ root: join(folder, "root"), readOnly: [] }))
        expect(refusal.message).toContain("711")
      }).pipe(Effect.provide(sandboxWith({ levels: ["user_landlock"] })))
    )
  }

  it.live("required isolation rejects Runs below bubblewrap, with the reason and the remedy", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const folder = yield* runFolder
      expect(sandbox.status.accepted).toBe(false)
      expect(sandbox.status.reason).toContain("bubblewrap was not found")
      const refusal = yield* Effect.flip(sandbox.open({ root: join(folder, "root"), readOnly: [] }))
      expect(refusal._tag).toBe("SandboxRefused")
      expect(refusal.message).toContain("Install the 'bubblewrap' package")
    }).pipe(
      Effect.provide(sandboxWith({ bubblewrap: "/nowhere/bwrap", isolation: "required", levels: ["bubblewrap"] }))
    )
  )

  for (const [said, remedy] of [
    ["Can't mount proc on /newroot/proc: Operation not permitted", "mounted over a part of /proc"],
    ["No permissions to create new namespace", "make user namespaces"]
  ] as const)
    it.live(`the sandbox reports bubblewrap's message with a remedy: ${said}`, () =>
      Effect.gen(function* () {
        const folder = yield* runFolder
        const bubblewrap = join(folder, "bwrap")
        writeFileSync(bubblewrap, `#!/bin/sh\necho "bwrap: ${said}" >&2\nexit 1\n`, { mode: 0o755 })
        const { status } = yield* Effect.provide(Sandbox, sandboxWith({ bubblewrap, levels: ["bubblewrap"] }))
        expect(status.accepted).toBe(false)
        expect(status.reason).toContain(`does not work here (bwrap: ${said})`)
        expect(status.remedy).toContain(remedy)
      })
    )

  it.live("the sandbox status reports that nothing is isolated if isolation is off", () =>
    Effect.gen(function* () {
      const { status } = yield* Sandbox
      expect(status).toMatchObject({ level: "process", accepted: true })
      expect(status.reason).toContain("switched off")
      expect(status.reason).toContain("can evade every limit of its Run")
    }).pipe(Effect.provide(sandboxWith({ isolation: "off" })))
  )

  it.live("at startup, the sandbox removes probes of a killed service", () =>
    Effect.gen(function* () {
      const own = yield* runFolder
      mkdirSync(`${own}/network-left/root`, { recursive: true })
      yield* Effect.provide(Effect.asVoid(Sandbox), sandboxWith({ ownFolder: own }))
      expect(existsSync(`${own}/network-left`)).toBe(false)
    })
  )

  it.live("a missing program is a typed failure that does not disclose the environment", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const folder = yield* runFolder
      const box = yield* sandbox.open({ root: join(folder, "root"), readOnly: [] })
      const failure = yield* Effect.flip(
        box.spawn({ argv: ["/nowhere/tofu"], cwd: ".", environment: { TOKEN: "hunter2-canary" }, network: false })
      )
      expect(failure.message).toContain("/nowhere/tofu")
      expect(JSON.stringify(failure)).not.toContain("hunter2-canary")
    }).pipe(Effect.provide(sandboxWith({ isolation: "off", prlimit: "/nowhere/prlimit" })))
  )
})
