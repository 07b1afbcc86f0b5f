import { describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { commandReference } from "../../../scripts/CommandReference.ts"
import { clientCommandNames, isClientCommand } from "../../../src/cli/ClientCommandNames.ts"
import { clientGroups } from "../../../src/cli/ClientRoot.ts"
import { live } from "./support/CommandLine.ts"

describe("commands that are clients of a server", () => {
  test("are known by name before anything is loaded", () => {
    const defined = clientGroups
      .flatMap(({ commands }) => [...commands])
      .flatMap(({ alias, name }) => (alias === undefined ? [name] : [name, alias]))
    expect([...clientCommandNames].toSorted()).toEqual(defined.toSorted())
    expect([["plan"], ["serve"], ["--help"], []].map(isClientCommand)).toEqual([true, false, false, false])
  })

  live("docs/cli.md is what the commands say; `npm run docs:cli` writes it", () =>
    Effect.gen(function* () {
      const page = readFileSync(new URL("../../../docs/cli.md", import.meta.url), "utf8")
      expect(page).toBe(yield* commandReference)
    })
  )
})
