import { Effect, FileSystem } from "effect"
import { svcProgram } from "../../support/SvcProgram.ts"

export interface ShellEnd {
  readonly code: number
  readonly out: string
  readonly error: string
}

/** Creates one person's shell with a separate home folder. In this shell, `svc` is the shipped program. */
export const shellOf = Effect.fnUntraced(function* (environment: Readonly<Record<string, string>>) {
  const files = yield* FileSystem.FileSystem
  const home = yield* files.makeTempDirectoryScoped({ prefix: "svc-shell-" })
  yield* files.makeDirectory(`${home}/bin`)
  yield* files.symlink(yield* Effect.promise(svcProgram), `${home}/bin/svc`)
  const env = { PATH: `${home}/bin:${process.env["PATH"]}`, HOME: home, TERM: "xterm", ...environment }
  /** Runs a line without a terminal, as a script would. */
  const run = (line: string): Effect.Effect<ShellEnd> =>
    Effect.promise(async () => {
      const { exited, stderr, stdout } = Bun.spawn(["bash", "-c", line], {
        cwd: home,
        env,
        stderr: "pipe",
        stdout: "pipe"
      })
      const [out, error] = await Promise.all([new Response(stdout).text(), new Response(stderr).text()])
      return { code: await exited, out, error }
    })
  return { env, home, run }
})

export type Shell = Effect.Success<ReturnType<typeof shellOf>>

/** Starts a command line on a pseudo-terminal, and kills the process when the Scope closes. */
export const atTerminal = Effect.fnUntraced(function* ({ env, home }: Shell, line: string) {
  const decoder = new TextDecoder()
  let screen = ""
  let seen = () => {}
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      Bun.spawn(["bash", "-c", `exec ${line}`], {
        cwd: home,
        env,
        terminal: {
          cols: 120,
          rows: 40,
          data: (_, bytes) => {
            screen += decoder.decode(bytes, { stream: true })
            seen()
          }
        }
      })
    ),
    (started) => Effect.sync(() => started.kill("SIGKILL"))
  )
  return {
    /** Waits until the string has appeared on the screen. */
    shows: (text: string) =>
      Effect.promise(async () => {
        while (!screen.includes(text)) {
          const next = Promise.withResolvers<boolean>()
          seen = () => next.resolve(true)
          if (screen.includes(text)) return
          const isAlive = await Promise.race([next.promise, child.exited.then(() => false)])
          if (!isAlive && !screen.includes(text)) throw new Error(`"${text}" was not shown in:\n${screen}`)
        }
      }),
    type: (text: string) => Effect.sync(() => child.terminal?.write(text)),
    code: Effect.promise(() => child.exited),
    screen: () => screen
  }
})
