import { Database } from "bun:sqlite"
import { Effect } from "effect"
import { databaseName } from "../../../src/database/DataFolder.ts"
import { startBrowser, type TestBrowser } from "./Browser.ts"
import { type Language, personIn, step } from "./KeyboardPerson.ts"
import { realServer } from "./RealServer.ts"

/** No server listens at this address, because the test needs no Git server. */
const noGit = "http://127.0.0.1:9"

/** Ignores expected refusals, and the invitation page's failed request for the signed-in person. */
const unexpected = (faults: ReadonlyArray<string>) => faults.filter((text) => !/status of 4(?:01|03|04|09)/.test(text))

/** Starts a fresh server with several people, each with a separate browser context, language and theme. */
export const peopleAtOnce = Effect.fnUntraced(function* (flags: ReadonlyArray<string> = []) {
  const server = yield* realServer(noGit, flags)
  const browser: TestBrowser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
    Effect.promise(() => started.close())
  )
  const seen: Array<ReadonlyArray<string>> = []
  const openPage = (language: Language) =>
    step(async () => {
      const { faults, page } = await browser.open({ language, theme: language === "en" ? "light" : "dark" })
      seen.push(faults)
      return page
    })
  return {
    ...server,
    openPage,
    open: (language: Language) =>
      Effect.map(openPage(language), (page) => personIn(page, language, server.network.origin)),
    /** Moves everybody's last confirmation more than five minutes into the past, so that it is no longer valid. */
    confirmedLongAgo: Effect.acquireUseRelease(
      Effect.sync(() => new Database(`${server.folder}/data/${databaseName}`)),
      (database) =>
        Effect.sync(() => {
          database.run("PRAGMA busy_timeout = 10000")
          database.run("UPDATE account_sessions SET confirmed_at = '2026-01-01T00:00:00.000Z'")
        }),
      (database) => Effect.sync(() => database.close())
    ),
    faults: () => seen.map(unexpected)
  }
})
