import { describe, expect } from "bun:test"
import { chmod, mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { backupName } from "../../src/backup/BackupFolder.ts"
import { appWords } from "../../src/dashboard/app/Words.ts"
import { it } from "../support/Effect.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { type Look, startBrowser } from "./support/Browser.ts"
import { setUp } from "./support/Person.ts"
import { realServer } from "./support/RealServer.ts"
import { barriers, darkJapanese, lightEnglish, phone } from "./support/Suite.ts"

/** No server listens at this address, because the test does not read from any Git server. */
const noGit = "http://127.0.0.1:9"
const slowMachine = 600_000

const looks: ReadonlyArray<Look> = [
  lightEnglish,
  { ...lightEnglish, theme: "dark" },
  darkJapanese,
  phone,
  { ...phone, language: "ja", theme: "dark" }
]

/** Starts a real server with these flags, and signs in its operator in one browser context per theme and language. */
const operatorAt = Effect.fnUntraced(function* (flags: ReadonlyArray<string>) {
  const { network, setupLink } = yield* realServer(noGit, flags)
  const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
    Effect.promise(() => started.close())
  )
  const { page: first } = yield* Effect.promise(() => browser.open(lightEnglish))
  yield* setUp(first, setupLink)
  const signedIn = yield* Effect.promise(() => first.context().cookies())
  return (look: Look) =>
    Effect.promise(async () => {
      const { faults, page } = await browser.open(look)
      await page.context().addCookies(signedIn)
      await page.goto(`${network.origin}/`)
      await page.waitForURL("**/w/*")
      await page.locator("#content h1").first().waitFor()
      return { faults, page }
    })
})

describe("Backup warnings", () => {
  it.live(
    "operators are warned if scheduled backups fail, or if the key is stored only with the data",
    () =>
      Effect.gen(function* () {
        // The backup disk is not mounted: the folder does not exist, so no backup can be restored.
        const gone = join(yield* temporaryFolder, "not-mounted")
        const visit = yield* operatorAt([`--backup-directory=${gone}`])
        for (const look of looks) {
          const { faults, page } = yield* visit(look)
          const { backupFailed, keyBesideData } = appWords[look.language]
          for (const { text, title } of [backupFailed, keyBesideData]) {
            const notice = page.locator(".notice", { hasText: title })
            yield* Effect.promise(() => notice.waitFor())
            expect(yield* Effect.promise(() => notice.textContent())).toContain(text)
          }
          expect([look, yield* Effect.promise(() => barriers(page))]).toEqual([look, []])
          const overflow = yield* Effect.promise(() =>
            page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
          )
          expect([look, overflow]).toEqual([look, 0])
          expect(faults).toEqual([])
          yield* Effect.promise(() => page.context().close())
        }
      }).pipe(Effect.scoped),
    slowMachine
  )

  it.live(
    "backup warnings disappear while the newest backup is recent and the key is stored elsewhere",
    () =>
      Effect.gen(function* () {
        const root = yield* temporaryFolder
        const key = join(root, "master.key")
        const backups = join(root, "backups")
        yield* Effect.promise(async () => {
          await writeFile(key, `${Buffer.alloc(32, 7).toString("hex")}\n`)
          await chmod(key, 0o600)
          await mkdir(backups)
        })
        // A current backup exists, so no backup is due and the schedule does not write to the folder.
        yield* Effect.promise(() => writeFile(join(backups, backupName(Date.now())), ""))
        const visit = yield* operatorAt([
          `--backup-directory=${backups}`,
          "--backup-interval=1000",
          `--master-key-file=${key}`
        ])
        const { page } = yield* visit(lightEnglish)
        const { backupFailed, keyBesideData } = appWords.en
        const count = (title: string) => Effect.promise(() => page.locator(".notice", { hasText: title }).count())
        expect([yield* count(backupFailed.title), yield* count(keyBesideData.title)]).toEqual([0, 0])
      }).pipe(Effect.scoped),
    slowMachine
  )
})
