import { Config, Effect, Option } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"

const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...Array<string>]>>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"]
}

/**
 * Opens an address in the browser given by `BROWSER`, or in the desktop's default browser. Returns true if the browser was
 * started.
 */
export const openBrowser = Effect.fn("openBrowser")(
  function* (url: string) {
    const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
    const chosen = yield* Config.option(Config.String("BROWSER"))
    const [program, ...args] = Option.isSome(chosen) ? [chosen.value] : (openers[process.platform] ?? ["xdg-open"])
    const quiet = { stdin: "ignore", stdout: "ignore", stderr: "ignore" } as const
    const code = yield* Effect.option(spawner.exitCode(ChildProcess.make(program, [...args, url], quiet)))
    return Option.isSome(code) && Number(code.value) === 0
  },
  Effect.orElseSucceed(() => false)
)
