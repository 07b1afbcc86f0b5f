import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { it } from "../support/Effect.ts"
import { addPasskey, withAuthenticator } from "./support/Authenticator.ts"
import { startBrowser } from "./support/Browser.ts"
import { personAt, setUp, signInByPassword, signOut } from "./support/Person.ts"
import { realServer } from "./support/RealServer.ts"
import { lightEnglish } from "./support/Suite.ts"

/** An address without a server. This test does not need Git. */
const noGit = "http://127.0.0.1:9"

/** Starts the real server and a browser with an authenticator. Returns the page and the user's actions. */
const visitor = Effect.gen(function* () {
  const { network, setupLink } = yield* realServer(noGit)
  const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
    Effect.promise(() => started.close())
  )
  const { page, faults } = yield* Effect.promise(() => browser.open(lightEnglish))
  const devtools = yield* withAuthenticator(page)
  return { ...personAt(page, 15_000), page, faults, devtools, network, setupLink }
})

describe("Setup links", () => {
  it.live(
    "a setup link creates an account with a passkey, and stays valid if the prompt is dismissed",
    () =>
      Effect.gen(function* () {
        const { devtools, faults, page, press, see, setupLink, step, type } = yield* visitor
        const home = step(() => page.locator(".empty").getByRole("link", { name: "Install" }).waitFor())
        yield* step(() => page.goto(setupLink))
        // If the email address is missing, the page contacts neither the server nor the authenticator.
        yield* press("Create account with a passkey")
        expect(yield* Effect.promise(() => page.locator("input[type=email]:invalid").count())).toBe(1)
        yield* type("Your name", "Mina")
        yield* type("E-mail address", "mina@acme.example")
        yield* see("svc admin reset-password")
        yield* step(() => devtools.verifies(false))
        yield* press("Create account with a passkey")
        yield* see("The link is still good.")
        yield* step(() => devtools.verifies(true))
        yield* press("Create account with a passkey")
        yield* home
        expect(yield* Effect.promise(() => devtools.credentials())).toBe(1)
        yield* signOut(page)
        yield* press("Sign in with a passkey")
        yield* home
        yield* step(() => page.goto(setupLink))
        yield* see("The first account exists already")
        expect(faults).toEqual([])
      }),
    120_000
  )
})

describe("Real passkeys", () => {
  it.live(
    "a passkey can be added, signs its owner in without a password, and stops working once removed",
    () =>
      Effect.gen(function* () {
        const { faults, network, page, press, pressInDialog, see, setupLink, step } = yield* visitor
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
