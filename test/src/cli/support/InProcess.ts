import { expect } from "bun:test"
import { type Cause, ConfigProvider, Console, Effect, Fiber, Queue, Stream } from "effect"
import { TestConsole } from "effect/testing"
import { doctorLine, environmentOf, findingOf, saysReady, says, serveLine, type ServeOptions } from "./CheckedFolder.ts"
import { codeOf, svc } from "./CommandLine.ts"

const withEnvironment = (environment: Readonly<Record<string, string>>) =>
  Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(environmentOf(environment))))

interface Line {
  readonly isResult: boolean
  readonly text: string
}

/** Creates a console that emits its lines as events. */
const consoleInto = Effect.fnUntraced(function* (lines: Queue.Enqueue<Line, Cause.Done>) {
  const into =
    (isResult: boolean) =>
    (...text: ReadonlyArray<unknown>) =>
      Queue.offerUnsafe(lines, { isResult, text: text.join(" ") })
  return { ...(yield* TestConsole.make), log: into(true), error: into(false) }
})

/** Runs a command of the service, and fails unless the command succeeds. */
export const succeeded = Effect.fnUntraced(function* (args: ReadonlyArray<string>) {
  expect([args, yield* svc(args).pipe(withEnvironment({}))]).toMatchObject([args, { code: 0 }])
})

/** The same two commands as `apart`, but with a fraction of the CPU time. */
export const inProcess = {
  doctor: Effect.fn("doctor")(function* (
    dataDir: string,
    check: string,
    environment: Readonly<Record<string, string>> = {}
  ) {
    const { code, out } = yield* svc(doctorLine(dataDir)).pipe(withEnvironment(environment))
    return { ...findingOf(out, check), code }
  }),
  serve: Effect.fn("serve")(function* (dataDir: string, { environment = {}, line = "" }: ServeOptions = {}) {
    const lines = yield* Queue.unbounded<Line, Cause.Done>()
    const server = yield* codeOf(serveLine(dataDir)).pipe(
      withEnvironment(environment),
      Effect.provideService(Console.Console, yield* consoleInto(lines)),
      Effect.ensuring(Queue.end(lines)),
      Effect.forkScoped
    )
    let isReady = false
    let log = ""
    yield* Stream.fromQueue(lines).pipe(
      Stream.takeUntil(({ isResult, text }) => {
        if (isResult) isReady ||= saysReady(text)
        else log += `${text}\n`
        return isReady && says(log, line)
      }),
      Stream.runDrain
    )
    return { isReady, code: isReady ? 0 : yield* Fiber.join(server), log }
  }, Effect.scoped)
}
