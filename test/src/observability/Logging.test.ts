import { expect } from "bun:test"
import { Effect } from "effect"
import { TestConsole } from "effect/testing"
import { logging } from "../../../src/observability/Logging.ts"
import { it } from "../../support/Effect.ts"

const hostile = 'name\r\u001b[2J\u001b]0;title\u0007 {"level":"INFO","message":"forged"}\nsecond line\u009b31m'

it.effect("a log line cannot control the terminal", () =>
  Effect.gen(function* () {
    yield* Effect.logInfo(hostile).pipe(Effect.provide(logging({ level: "info", format: "pretty" })))
    const lines = yield* TestConsole.errorLines
    expect(lines).toHaveLength(1)
    expect(String(lines[0])).toContain("\\x1b[2J")
    expect(String(lines[0])).not.toMatch(/[^\P{Cc}\n\t]/u)
    expect(yield* TestConsole.logLines).toEqual([])
  })
)

it.effect("a JSON log entry is one line, regardless of its content", () =>
  Effect.gen(function* () {
    yield* Effect.logInfo(hostile).pipe(
      Effect.andThen(Effect.logDebug("too detailed")),
      Effect.provide(logging({ level: "info", format: "json" }))
    )
    const lines = yield* TestConsole.errorLines
    expect(lines).toHaveLength(1)
    expect(String(lines[0])).not.toContain("\n")
    expect(JSON.parse(String(lines[0])).message).toBe(hostile)
  })
)
