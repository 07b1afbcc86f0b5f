import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect } from "bun:test"
import { Effect, Fiber } from "effect"
import { Sandbox } from "../../../runner/sandbox/Sandbox.ts"
import type { SandboxLevel } from "../../../schema/records/Run.ts"
import { it } from "../../support/Effect.ts"
import { eventually } from "../../support/Eventually.ts"
import { note, onStage, required, tokenA } from "./support/ProviderStage.ts"
import { recorder, temporaryFolder } from "./support/RunnerHarness.ts"
import { TestRunner } from "./support/TestRunner.ts"

const hostile = `
terraform {
  required_providers {
    evil = {
      source  = "example.test/acme/evil"
      version = "1.0.0"
    }
  }
}
resource "evil_thing" "a" {}
`

/** A pattern that matches the credential but not the pattern's own text, which appears in the plugin and its command lines. */
const canary = `${tokenA.slice(0, -1)}[${tokenA.slice(-1)}]`

/**
 * Returns the attacks that the plugin attempts when the tool starts it. Each line prints its name if its attack succeeds.
 */
const attempts = ({
  cache,
  notes,
  other
}: {
  readonly cache: string
  readonly notes: string
  readonly other: string
}) =>
  ({
    "finds the other's credential in an environment": `grep -alr '${canary}' /proc/[0-9]*/environ | grep .`,
    "finds the other's credential in a command line": `grep -al '${canary}' /proc/[0-9]*/cmdline | grep .`,
    "finds the other's credential in a file": `grep -rIl '${canary}' ${other} /tmp /dev/shm "$HOME" "$PWD" "$TMPDIR" | grep .`,
    "lists the other Run": `ls ${other}/* | grep .`,
    "writes into the other Run": `sh -c 'echo x > ${other}/planted'`,
    "finds a package of the other": `find / -xdev -path ${notes} -prune -o -name 'terraform-provider-demo*' -print | grep .`,
    "lists the provider store": `ls ${cache}/* | grep .`,
    "writes into the provider store": `sh -c 'echo x > ${cache}/planted'`,
    "changes its own package": `sh -c 'chmod u+w "$0" && echo "# poisoned" >> "$0"' "$SELF"`,
    "replaces its own package": `sh -c 'rm -f "$0" && echo poisoned > "$0"' "$SELF"`,
    "puts a file beside its package": `sh -c 'echo x > "$0.planted"' "$SELF"`,
    "finds the socket of another plugin": `find / -xdev -path ${notes} -prune -o -type s -print | grep -v "^$PWD" | grep plugin`,
    "signals a process of the other": `sh -c 'for p in /proc/[0-9]*; do n=\${p#/proc/}; tr "\\0" " " < $p/cmdline | grep -q provider-dem[o] && kill -0 $n && echo $n; done' | grep .`,
    "traces a process of the other": `sh -c 'for p in /proc/[0-9]*; do tr "\\0" " " < $p/cmdline | grep -q provider-dem[o] && cat $p/maps; done' | grep .`,
    "enters the other's current folder": `sh -c 'for p in /proc/[0-9]*; do tr "\\0" " " < $p/cmdline | grep -q provider-dem[o] && ls $p/cwd/; done' | grep .`
  }) as const

/** Creates a mirror with a plugin that attacks and then exits without the tool's handshake. */
const hostileMirror = (folder: string, wanted: Readonly<Record<string, string>>, report: string) => {
  const mirror = join(folder, "hostile-mirror")
  const architecture = process.arch === "x64" ? "amd64" : process.arch
  const place = join(mirror, "example.test", "acme", "evil", "1.0.0", `${process.platform}_${architecture}`)
  mkdirSync(place, { recursive: true })
  const lines = Object.entries(wanted).map(
    ([name, command]) => `if ${command} >/dev/null 2>&1; then echo "${name}" >> ${report}.part; fi`
  )
  const script = `#!/bin/sh\nSELF=$(readlink -f "$0"); export SELF\n: > ${report}.part\n${lines.join("\n")}\nmv ${report}.part ${report}\n`
  const plugin = join(place, "terraform-provider-evil_v1.0.0")
  writeFileSync(plugin, script, { mode: 0o755 })
  return { mirror: { path: mirror, required: true as const }, script }
}

describe("Hostile providers", () => {
  /** Returns the attacks that succeed at a level while another Workspace's plan is running. */
  const couldAt = (level: SandboxLevel | "process", check: (could: ReadonlyArray<string>) => void) =>
    onStage(
      ({ cacheFolder, job, notesDir }) =>
        Effect.gen(function* () {
          if (level !== "process" && !(yield* Sandbox).status.accepted) return
          const runner = yield* TestRunner
          const owner = job({ "main.tf": `${required}${note("kept")}` }, { workspaceId: "ws_one" })
          // World-writable, because at some levels Runs write here as separate users.
          chmodSync(notesDir, 0o777)
          writeFileSync(join(notesDir, "hold-plan-kept"), "")
          const running = yield* Effect.forkChild(runner.plan(owner, recorder().sink))
          yield* Effect.raceFirst(
            eventually(
              Effect.sync(() => existsSync(join(notesDir, "held-plan-kept"))),
              (isHeld) => isHeld
            ),
            Fiber.join(running)
          )
          const folder = yield* temporaryFolder
          const report = join(notesDir, "report")
          const tried = attempts({ cache: cacheFolder, notes: notesDir, other: owner.runFolder })
          const { mirror, script } = hostileMirror(folder, tried, report)
          const attack = job({ "main.tf": hostile }, { mirror, workspaceId: "ws_two", credentials: [] })
          const failure = yield* Effect.flip(runner.plan(attack, recorder().sink))
          expect(failure.reason).not.toBe("prepare_failed")
          check(readFileSync(report, "utf8").split("\n").filter(Boolean))
          if (level === "process") {
            rmSync(join(notesDir, "hold-plan-kept"))
            yield* Fiber.join(running)
            return
          }
          // The next Run receives the original package.
          rmSync(report)
          yield* Effect.flip(
            runner.plan(
              job({ "main.tf": hostile }, { mirror, workspaceId: "ws_two", credentials: [] }),
              recorder().sink
            )
          )
          expect(existsSync(report)).toBe(true)
          const plugins = readdirSync(mirror.path, { recursive: true, encoding: "utf8" }).filter((name) =>
            name.endsWith("evil_v1.0.0")
          )
          expect(plugins.map((name) => readFileSync(join(mirror.path, name), "utf8"))).toEqual([script])
          rmSync(join(notesDir, "hold-plan-kept"))
          expect((yield* Fiber.join(running)).summary.add).toBe(1)
        }).pipe(Effect.scoped),
      true,
      level === "process" ? { isolation: "off" } : { levels: [level], dataFolder: tmpdir() }
    )

  const levels: ReadonlyArray<SandboxLevel> = ["bubblewrap", "namespaces", "user_landlock", "landlock"]
  for (const level of levels) {
    it.live(`a hostile provider can neither read nor change another Workspace's Run: ${level}, where available`, () =>
      couldAt(level, (could) => expect(could).toEqual([]))
    )
  }

  it.live(
    "a hostile provider without isolation can read and change nearly everything, which proves that the attacks work",
    () =>
      couldAt("process", (could) => {
        expect(could.length).toBeGreaterThan(7)
        expect(could).toEqual(
          expect.arrayContaining(["finds the other's credential in an environment", "writes into the other Run"])
        )
      })
  )
})
