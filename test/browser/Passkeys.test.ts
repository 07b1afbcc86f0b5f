import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { it } from "../support/Effect.ts"
import { addPasskey, withAuthenticator } from "./support/Authenticator.ts"
import { startBrowser } from "./support/Browser.ts"
import { personAt, setUp, signInByPassword, signOut } from "./support/Person.ts"
import { realServer } from "./support/RealServer.ts"
import { lightEnglish } from "./support/Suite.ts"

describe("passkeys, with the real server and an authenticator of the browser", () => {
  it.live(
    "one is added, signs in without a password, and no longer does once removed",
    () =>
      Effect.gen(function* () {
        const { network, setupLink } = yield* realServer("http://127.0.0.1:9")
        const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
          Effect.promise(() => started.close())
        )
        const { page, faults } = yield* Effect.promise(() => browser.open(lightEnglish))
        const { press, pressInDialog, see, step } = personAt(page, 15_000)
        yield* withAuthenticator(page)
        yield* setUp(page, setupLink)
        yield* addPasskey(page, network.origin, "this machine")

        yield* signOut(page)
        yield* press("Sign in with a passkey")
        yield* step(() => page.locator(".empty").getByRole("link", { name: "Install" }).waitFor())

        yield* step(() => page.goto(`${network.origin}/account`))
        yield* see(/ · used/)
        const row = page.locator(".row", { hasText: "this machine" })
        yield* step(() => row.getByRole("button", { name: "Remove" }).click())
        yield* pressInDialog("Remove")
        yield* step(() => row.waitFor({ state: "detached" }))
        expect(faults).toEqual([])
        yield* signOut(page)
        yield* press("Sign in with a passkey")
        yield* step(() => page.locator(".notice-bad").waitFor())
        expect(new URL(page.url()).pathname).toBe("/sign-in")
        yield* signInByPassword(page)
        yield* step(() => page.locator(".empty").getByRole("link", { name: "Install" }).waitFor())
      }),
    120_000
  )
})
