import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { it } from "../support/Effect.ts"
import { startBrowser } from "./support/Browser.ts"
import { personAt, setUp } from "./support/Person.ts"
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
        const { press, pressInDialog, see, step, type } = personAt(page, 15_000)
        const devtools = yield* Effect.promise(() => page.context().newCDPSession(page))
        yield* step(() => devtools.send("WebAuthn.enable"))
        yield* step(() =>
          devtools.send("WebAuthn.addVirtualAuthenticator", {
            options: {
              protocol: "ctap2",
              transport: "internal",
              hasResidentKey: true,
              hasUserVerification: true,
              isUserVerified: true,
              automaticPresenceSimulation: true
            }
          })
        )
        yield* setUp(page, setupLink)

        yield* step(() => page.goto(`${network.origin}/account`))
        yield* press("Add a passkey")
        yield* type("Name", "this machine")
        yield* pressInDialog("Add a passkey")
        yield* see("this machine")

        const signOut = Effect.gen(function* () {
          yield* step(() => page.getByRole("button", { name: "Account menu" }).click())
          yield* step(() => page.getByRole("menuitem", { name: "Sign out" }).click())
          yield* step(() => page.waitForURL("**/sign-in"))
        })
        yield* signOut
        yield* press("Sign in with a passkey")
        yield* step(() => page.locator(".empty").getByRole("link", { name: "Install" }).waitFor())

        yield* step(() => page.goto(`${network.origin}/account`))
        yield* see(/ · used/)
        yield* step(() =>
          page.locator(".row", { hasText: "this machine" }).getByRole("button", { name: "Remove" }).click()
        )
        yield* pressInDialog("Remove")
        yield* step(() => page.getByText("this machine").waitFor({ state: "detached" }))
        expect(faults).toEqual([])
        yield* signOut
        yield* press("Sign in with a passkey")
        yield* step(() => page.locator(".notice-bad").waitFor())
        expect(new URL(page.url()).pathname).toBe("/sign-in")
      }),
    120_000
  )
})
