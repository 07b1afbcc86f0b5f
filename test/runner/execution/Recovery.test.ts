import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { provesUnstarted } from "../../../runner/execution/Recovery.ts"
import { it } from "../../support/Effect.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

const opened = { "journal.ndjson": "" }

const cases: ReadonlyArray<readonly [title: string, files: Readonly<Record<string, string>>, proven: boolean]> = [
  ["a journal that was opened, and nothing else", opened, true],
  ["no journal: something removed it, or the start was never asked for", {}, false],
  ["an entry of the tool", { "journal.ndjson": '{"moment":"started"' }, false],
  ["the record of a start", { ...opened, "apply.json": "" }, false],
  ["a state", { ...opened, "checkpoint.tfstate": "{}" }, false]
]

describe("Start evidence", () => {
  for (const [title, files, proven] of cases) {
    it.live(title, () =>
      Effect.gen(function* () {
        const folder = join(yield* temporaryFolder, "run")
        expect(yield* provesUnstarted(folder)).toBe(false)
        mkdirSync(folder, { recursive: true })
        for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
        expect(yield* provesUnstarted(folder)).toBe(proven)
      })
    )
  }
})
