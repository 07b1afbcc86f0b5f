import { describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { commandHelps, commandReference, exitCodeReference } from "../../../scripts/CommandReference.ts"
import {
  candidatesCommandName,
  clientCommandNames,
  commandFirst,
  isClientCommand
} from "../../../src/cli/ClientCommandNames.ts"
import { clientGroups } from "../../../src/cli/ClientRoot.ts"
import { resultShapes } from "../../../src/cli/ResultShapes.ts"
import { live } from "./support/CommandLine.ts"

describe("Client commands", () => {
  test("client commands are recognised by name before anything is loaded", () => {
    const defined = clientGroups
      .flatMap(({ commands }) => [...commands])
      .flatMap(({ alias, name }) => (alias === undefined ? [name] : [name, alias]))
    expect([...clientCommandNames, candidatesCommandName].toSorted()).toEqual(defined.toSorted())
    expect([["plan"], ["serve"], ["--help"], []].map(isClientCommand)).toEqual([true, false, false, false])
    // Subcommands of client commands are completed without loading the service, but completing a command's name needs all
    // commands.
    const completed = [["plan", ""], ["pl"], ["admin", ""]].map((words) => [candidatesCommandName, "--", ...words])
    expect(completed.map(isClientCommand)).toEqual([true, false, false])
  })

  test("a client command may follow global flags, and `help` accepts a command", () => {
    const cases: ReadonlyArray<readonly [given: string, meant: string]> = [
      ["--json plan network", "plan network --json"],
      ["-q --server=https://a.example plan x", "plan x -q --server=https://a.example"],
      ["--workspace acme api GET a -- --json", "api GET a --workspace acme -- --json"],
      ["help plan", "plan --help"],
      ["help run watch", "run watch --help"],
      ["help", "--help"],
      ["--version", "--version"],
      ["--json --help", "--json --help"],
      ["plan --json", "plan --json"]
    ]
    for (const [given, meant] of cases)
      expect([given, commandFirst(given.split(" ")).join(" ")]).toEqual([given, meant])
  })

  live("each client command documents its --json output, unless it prints an API value unchanged or nothing", () =>
    Effect.gen(function* () {
      const isGroup = (one: string, all: ReadonlyArray<string>) =>
        !Object.hasOwn(resultShapes, one) && all.some((other) => other.startsWith(`${one} `))
      const paths = (yield* commandHelps).flatMap(({ path }) =>
        clientCommandNames.has(path[0] ?? "") ? [path.join(" ")] : []
      )
      const commands = paths.filter((one, _, all) => !isGroup(one, all))
      expect(commands.filter((one) => !["api", "completion"].includes(one)).toSorted()).toEqual(
        Object.keys(resultShapes).toSorted()
      )
    })
  )

  live("docs/cli.md and docs/exit-codes.md match the references that svc generates", () =>
    Effect.gen(function* () {
      const page = readFileSync(new URL("../../../docs/cli.md", import.meta.url), "utf8")
      expect(page).toBe(yield* commandReference)
      // A flag that many commands share is described only once.
      expect(page.split("| Handle or id of the Workspace; default: SVC_WORKSPACE")).toHaveLength(2)
      const codes = readFileSync(new URL("../../../docs/exit-codes.md", import.meta.url), "utf8")
      expect(codes).toBe(exitCodeReference)
    })
  )
})
