import { describe, expect, test } from "bun:test"
import { Console, Effect } from "effect"
import { jsonLine, type OutputFailed, print } from "../../../src/cli/Output.ts"
import { progress } from "../../../src/cli/remote/Progress.ts"
import { isTypedName, terminalText } from "../../../src/cli/remote/TerminalText.ts"
import { html } from "../../../src/accounts/oidc/Page.ts"

const hostile = "prod\u202ecod\u200b\u{e0041}"
const shown = "prodU+202EcodU+200BU+E0041"

const printed = (effect: Effect.Effect<unknown, OutputFailed>) => {
  const lines: Array<unknown> = []
  const keep = (line: unknown) => void lines.push(line)
  const console = { ...globalThis.console, log: keep, error: keep }
  return Effect.runSync(Effect.as(Effect.provideService(effect, Console.Console, console), lines))
}

describe("Terminal output of invisible characters", () => {
  test("output for people shows invisible characters as escapes and keeps the terminal colours", () => {
    expect(printed(print(false, {}, `\u001b[1m${hostile}\u001b[0m`))).toEqual([`\u001b[1m${shown}\u001b[0m`])
  })

  test("JSON output escapes invisible characters, and a program that parses the output reads the original value", () => {
    const [line] = printed(print(true, { name: hostile }, ""))
    expect(line).toBe('{"name":"prod\\u202ecod\\u200b\\udb40\\udc41"}')
    expect(JSON.parse(jsonLine({ name: hostile }))).toEqual({ name: hostile })
  })

  test("in progress", () => {
    expect(printed(progress(hostile))).toEqual([shown])
  })

  test("a prompt for a name shows the name's invisible characters as escapes", () => {
    expect(terminalText(hostile)).toBe(shown)
    expect([hostile, ` ${shown} `, "prod"].map((typed) => isTypedName(typed, hostile))).toEqual([true, true, false])
  })
})

test("a page of the issuer shows invisible characters as escapes", () => {
  expect(html`<p>${hostile}</p>`.text).toBe(`<p>${shown}</p>`)
})
