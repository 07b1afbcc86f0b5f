import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Stream } from "effect"
import { probeConditions } from "../RunConditions.ts"
import { systemPath } from "../SandboxView.ts"
import { probeFolder } from "../ProbeFolder.ts"
import type { Level, LevelHost } from "./Level.ts"

/** An action that a confined program tries, and its required result. */
interface Attempt {
  readonly name: string
  /** A shell command that succeeds if the program can perform the action. */
  readonly script: string
  readonly expected: "done" | "denied"
}

const attempts = (
  canary: string,
  { sharedProcessIds }: { readonly sharedProcessIds: boolean }
): ReadonlyArray<Attempt> => [
  { name: "write in its folder", script: "echo x > one/file", expected: "done" },
  { name: "rename between folders", script: "mv one/file two/file && cat two/file", expected: "done" },
  { name: "read a file of the service", script: `cat '${canary}'`, expected: "denied" },
  { name: "overwrite a file of the service", script: `echo x >> '${canary}'`, expected: "denied" },
  { name: "write to the kernel's settings", script: ": >> /proc/sys/kernel/core_pattern", expected: "denied" },
  { name: "make namespaces", script: "unshare --user true", expected: "denied" },
  ...(sharedProcessIds
    ? ([
        { name: "signal the service", script: `kill -0 ${process.pid}`, expected: "denied" },
        { name: "read the service's environment", script: `cat /proc/${process.pid}/environ`, expected: "denied" },
        { name: "read the service's memory map", script: `cat /proc/${process.pid}/maps`, expected: "denied" },
        { name: "use the service's files", script: `readlink /proc/${process.pid}/fd/0`, expected: "denied" }
      ] as const)
    : [])
]

const longestSaid = 200

const foldersFor = Effect.fnUntraced(function* (host: LevelHost) {
  const folder = yield* probeFolder(host.ownFolder, "confinement")
  const root = join(folder, "root")
  const canary = join(folder, "canary")
  yield* Effect.tryPromise(async () => {
    for (const name of ["one", "two"]) await mkdir(join(root, name), { mode: 0o700 })
    await writeFile(canary, "a secret of the service", { mode: 0o600 })
  })
  return { root, canary }
})

/**
 * Runs a confined program that tries what module code must and must not be able to do. Returns the deviations as a sentence,
 * or `undefined` if the level works on this machine. Testing the actions is more reliable than comparing version numbers.
 */
export const deviationsOf = Effect.fnUntraced(
  function* (host: LevelHost, level: Level, machine: { readonly sharedProcessIds: boolean }) {
    const { canary, root } = yield* foldersFor(host)
    const tried = attempts(canary, machine)
    const script = tried.map(
      ({ script: attempt }, index) => `(${attempt}) > /dev/null 2>&1 && echo ${index} done || echo ${index} denied`
    )
    const box = yield* level.open({ root, readOnly: [] }, probeConditions(host.limits))
    const child = yield* box.spawn({
      argv: ["/bin/sh", "-c", script.join("\n")],
      cwd: ".",
      environment: { PATH: systemPath },
      network: false
    })
    const [out, said] = yield* Effect.all(
      [child.stdout, child.stderr].map((stream) => stream.pipe(Stream.decodeText(), Stream.mkString)),
      { concurrency: 2 }
    )
    yield* child.end
    const answers = new Set((out ?? "").split("\n"))
    const deviations = tried.filter(({ expected }, index) => !answers.has(`${index} ${expected}`))
    if (deviations.length === 0) return undefined
    // If no action has a result, the program never ran in confinement. Report the program's error message, which is more
    // useful than the list of deviations.
    const [first = ""] = (said ?? "").trim().split("\n").slice(-1)
    if (deviations.length === tried.length && first !== "") return first.slice(0, longestSaid)
    return `a confined program ${deviations.map(({ expected, name }) => `${expected === "done" ? "could not" : "could"} ${name}`).join(", ")}`
  },
  Effect.scoped,
  Effect.timeout("10 seconds"),
  Effect.catch((error) =>
    Effect.succeed(
      error._tag === "TimeoutError"
        ? "it did not answer"
        : error._tag === "UnknownError"
          ? "its folder could not be made"
          : error.message
    )
  )
)
