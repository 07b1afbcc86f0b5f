import { Effect } from "effect"

/** Starts a process that waits forever, with a name and additional arguments. Reports when it is running. */
export const waitingProcess = Effect.fnUntraced(function* (cwd: string, name: string, ...args: ReadonlyArray<string>) {
  const script = 'exec -a "$0" sh -c "echo there; read never" "$@"'
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => Bun.spawn(["bash", "-c", script, name, ...args], { cwd, stdin: "pipe", stdout: "pipe" })),
    (started) => Effect.sync(() => started.kill("SIGKILL"))
  )
  yield* Effect.promise(() => child.stdout.getReader().read())
  return child
})
