import { NodeServices } from "@effect/platform-node"
import { describe, expect } from "bun:test"
import { mkdir, readdir, rm } from "node:fs/promises"
import { Effect } from "effect"
import { writtenAtOf } from "../../src/backup/BackupFolder.ts"
import { appWords } from "../../src/dashboard/app/Words.ts"
import { backupWords } from "../../src/dashboard/screens/workspace/BackupWords.ts"
import { workspaceWords } from "../../src/dashboard/screens/workspace/Words.ts"
import { it } from "../support/Effect.ts"
import { eventually } from "../support/Eventually.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { personIn, step } from "./support/KeyboardPerson.ts"
import { peopleAtOnce } from "./support/PeopleAtOnce.ts"
import { barriers } from "./support/Suite.ts"

const phoneWidth = 390

describe.each([
  ["en", "ja"],
  ["ja", "en"]
] as const)("Scheduled backups, for an operator in %s and a member in %s", (first, second) => {
  it.live(
    "only operators see the time of the newest verified backup, and its risks",
    () =>
      Effect.gen(function* () {
        const folder = `${yield* temporaryFolder}/backups`
        yield* step(() => mkdir(folder))
        const { faults, network, openPage, setupLink } = yield* peopleAtOnce([`--backup-directory=${folder}`])
        const [page, other] = yield* Effect.all([openPage(first), openPage(second)])
        const mina = personIn(page, first, network.origin)
        const ken = personIn(other, second, network.origin)
        const handle = yield* mina.setUp(setupLink)
        yield* ken.join(yield* mina.invite(handle))
        yield* eventually(
          step(() => readdir(folder)),
          (names) => names.some((name) => writtenAtOf(name) !== undefined)
        )

        const { [first]: words } = backupWords
        const { [first]: app } = appWords
        const backups = (who: typeof page) => step(() => who.goto(`${network.origin}/w/${handle}/settings/backups`))
        const wellMade = Effect.gen(function* () {
          expect(yield* step(() => barriers(page))).toEqual([])
          const size = page.viewportSize() ?? { width: 0, height: 0 }
          yield* step(() => page.setViewportSize({ ...size, width: phoneWidth }))
          expect(yield* step(() => page.evaluate(() => document.documentElement.scrollWidth))).toBe(phoneWidth)
          yield* step(() => page.setViewportSize(size))
        })
        yield* backups(page)
        yield* step(() => page.getByText(words.serverNewest).waitFor())
        yield* step(() => page.getByText(app.keyBesideData.title).waitFor())
        expect(yield* step(() => page.getByText(app.backupFailed.title).count())).toBe(0)
        yield* wellMade

        // The disk for backups is missing.
        yield* step(() => rm(folder, { recursive: true }))
        yield* backups(page)
        yield* step(() => page.getByText(app.backupFailed.title).waitFor())
        yield* step(() => page.getByText(words.serverNone).waitFor())
        yield* wellMade

        const { [second]: theirWords } = backupWords
        const { [second]: theirApp } = appWords
        yield* backups(other)
        yield* step(() => other.getByText(workspaceWords[second].backupsAbout).waitFor())
        for (const text of [theirWords.server, theirApp.backupFailed.title, theirApp.keyBesideData.title])
          expect(yield* step(() => other.getByText(text).count())).toBe(0)
        expect(faults()).toEqual([[], []])
      }).pipe(Effect.provide(NodeServices.layer)),
    240_000
  )
})
