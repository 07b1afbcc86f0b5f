import { describe, expect } from "bun:test"
import { Effect } from "effect"
import type { SandboxLevel } from "../../../schema/records/Run.ts"
import { bundledProgram } from "../../support/BundledProgram.ts"
import { it } from "../../support/Effect.ts"

const harness = new URL("./support/LevelProcess.ts", import.meta.url)
const secret = "a secret of the service's environment"
const isRoot = process.getuid?.() === 0
const unprivileged = ["setpriv", "--reuid=61001", "--regid=61001", "--clear-groups", "--"]

/**
 * Runs the fake service at a level. Returns the attacks that its sandbox allowed, or `undefined` if the machine lacks the level.
 */
const attackAt = (level: SandboxLevel | "process", network: "network" | "none") =>
  Effect.promise(async () => {
    const command = [process.execPath, await bundledProgram(harness), level, network]
    const child = Bun.spawn(
      isRoot && (level === "landlock" || level === "process") ? [...unprivileged, ...command] : command,
      {
        stdout: "pipe",
        stderr: "inherit",
        env: { PATH: "/usr/bin:/bin", SVC_SECRET: secret }
      }
    )
    const answer = JSON.parse(await new Response(child.stdout).text())
    if (!answer.status.accepted) return undefined
    expect(answer).toMatchObject({ status: { level }, said: "", end: { _tag: "exited", code: 0 } })
    const could: ReadonlyArray<string> = answer.could
    return could
  })

/** Attacks that each level does not prevent. docs/security.md contains the same list. */
const open: ReadonlyArray<readonly [SandboxLevel, ReadonlyArray<string>]> = [
  ["bubblewrap", []],
  ["namespaces", []],
  ["user_landlock", ["see the command line of another process"]],
  [
    "landlock",
    [
      "see the command line of another process",
      "change the mode of the master key",
      "change the times of the master key"
    ]
  ]
]

describe("Module attacks", () => {
  it.live("nearly every attack succeeds without isolation, which proves that the attacks work", () =>
    Effect.gen(function* () {
      const could = (yield* attackAt("process", "network")) ?? []
      expect(could.length).toBeGreaterThan(25)
      expect(could).toEqual(
        expect.arrayContaining([
          "read the master key",
          "replace the database",
          "read another Run",
          "write to another Run's pipe",
          "read the environment of any process",
          "signal the server",
          "connect to a socket without a path",
          "connect to the host's loopback"
        ])
      )
    })
  )

  for (const [level, expected] of open) {
    for (const network of ["none", "network"] as const)
      it.live(`only documented attacks succeed at ${level}, ${network === "none" ? "without" : "with"} a network`, () =>
        Effect.gen(function* () {
          const could = yield* attackAt(level, network)
          if (could === undefined) {
            // CI machines must have bubblewrap. The other levels depend on the user and the kernel.
            expect(process.env["SVC_TEST_REQUIRE_ALL"] === "1" && level === "bubblewrap").toBe(false)
            return
          }
          // A sandbox with a network shares the host's network, so the test ignores attacks over the network.
          const isOwn = level === "bubblewrap" || level === "namespaces"
          const hosts = ["connect to the host's loopback", ...(isOwn ? ["connect to a socket without a path"] : [])]
          expect(could.filter((name) => network === "none" || !hosts.includes(name))).toEqual([...expected])
        })
      )
  }
})
