import { Effect } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { manPages } from "../ManPage.ts"

const standardOutput = Effect.fn("commandTexts.standardOutput")(function* (
  root: string,
  command: string,
  ...args: ReadonlyArray<string>
) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const options = { cwd: root, extendEnv: true, stdin: "ignore", stderr: "inherit" } as const
  return yield* spawner.string(ChildProcess.make(command, args, options))
}, Effect.scoped)

/** Returns the time of the checkout's commit in seconds, which makes builds of one commit equal. */
export const commitSeconds = (root: string) =>
  Effect.map(standardOutput(root, "git", "log", "-1", "--format=%ct"), (text) => Number(text.trim()))

/** Returns the manual pages with the date of the checkout's commit. */
export const datedManPages = (root: string) =>
  Effect.flatMap(commitSeconds(root), (seconds) => manPages(new Date(seconds * 1000).toISOString().slice(0, 10)))

/** Returns the script that completes the words of `svc` in a shell. */
export const completionScript = (root: string, shell: string) =>
  standardOutput(root, process.execPath, "src/Main.ts", "completion", shell)
