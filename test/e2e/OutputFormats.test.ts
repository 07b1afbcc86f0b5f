import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { commandHelps } from "../../scripts/CommandReference.ts"
import { clientCommandNames } from "../../src/cli/ClientCommandNames.ts"
import { platform } from "../../src/composition/Platform.ts"
import { it } from "../support/Effect.ts"
import { atTerminal, shellOf } from "./support/Shell.ts"

setDefaultTimeout(120_000)

const longName = "a-server-of-a-team-with-a-long-name"

/** A shell with two servers configured. */
const named = Effect.gen(function* () {
  const shell = yield* shellOf({})
  for (const name of ["first", longName]) {
    const set = yield* shell.run(`svc context set ${name} --server https://${name}.example.com --workspace acme`)
    expect(set.code).toBe(0)
  }
  return shell
})

describe("Command results", () => {
  it.live("svc prints a command's result as YAML, JSON or names with -o, and as JSON with --json", () =>
    Effect.gen(function* () {
      const shell = yield* named
      const json = yield* shell.run("svc context list --json")
      expect((yield* shell.run("svc context list -o json")).out).toBe(json.out)
      expect((yield* shell.run("svc context list --format=name")).out).toBe(`${longName}\nfirst\n`)
      const yaml = yield* shell.run("svc context list -o yaml")
      expect(Bun.YAML.parse(yaml.out)).toEqual(JSON.parse(json.out))
      expect(yaml.out).toStartWith("contexts:\n- name: ")
      const unknown = yield* shell.run("svc context list -o xml")
      expect([unknown.code, unknown.out]).toEqual([2, ""])
      const failed = yield* shell.run("svc context use none -o yaml")
      expect([failed.code, failed.out, JSON.parse(failed.error).error.code]).toEqual([
        expect.any(Number),
        "",
        expect.any(String)
      ])
    }).pipe(Effect.provide(platform), Effect.scoped)
  )

  it.live("svc fits a table to the width of the terminal, and prints it in full when the output is piped", () =>
    Effect.gen(function* () {
      const shell = yield* named
      const piped = yield* shell.run("svc context list")
      expect(piped.out).toContain(`https://${longName}.example.com`)
      const person = yield* atTerminal(shell, "bash -c 'stty cols 60; svc context list'")
      expect(yield* person.code).toBe(0)
      const lines = person.screen().split("\r\n")
      expect(lines.some((line) => line.includes("…"))).toBe(true)
      expect(lines.filter((line) => line.length > 60)).toEqual([])
    }).pipe(Effect.provide(platform), Effect.scoped)
  )

  it.live("every client command with --json also has -o", () =>
    Effect.gen(function* () {
      const flags = (yield* commandHelps)
        .filter(({ path: [name = ""] }) => clientCommandNames.has(name))
        .map(({ help, path }) => [path.join(" "), help.flags.map(({ name }) => name)] as const)
      const without = flags.filter(([, names]) => names.includes("json") !== names.includes("format"))
      expect(without.map(([path]) => path)).toEqual([])
    })
  )
})
