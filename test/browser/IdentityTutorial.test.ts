import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { platform } from "../../src/composition/Platform.ts"
import { startBrowser } from "./support/Browser.ts"
import { lightEnglish } from "./support/Suite.ts"
import { it } from "../support/Effect.ts"
import { canFollow, email, followedTutorial, password } from "../examples/support/IdentityTutorial.ts"

describe.skipIf(!canFollow && process.env["SVC_TEST_REQUIRE_ALL"] !== "1")("Identity tutorial", () => {
  it.live(
    "the tutorial's commands create an application that a person can sign in to and out of",
    () =>
      Effect.gen(function* () {
        const { app, printed, theirs } = yield* followedTutorial
        // Values that the test replaces. The tutorial's commands must not require the reader to fill in any other value.
        for (const name of ["REPOSITORY", "EMAIL", "PASSWORD", "SVC", "APP", "FOLDER"])
          expect(theirs).toContain(`${name}=`)
        expect(printed).toContain(`redirect_uri = ${app}/callback`)

        const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
          Effect.promise(() => started.close())
        )
        const { faults, page } = yield* Effect.promise(() => browser.open({ ...lightEnglish, anyCertificate: true }))
        const step = (act: () => Promise<unknown>) => Effect.promise(act)
        yield* step(() => page.goto(app))
        yield* step(() => page.getByRole("link", { name: "Sign in" }).click())
        yield* step(() => page.getByLabel("E-mail address").fill(email))
        yield* step(() => page.getByLabel("Password").fill(password))
        yield* step(() => page.getByRole("button", { name: "Sign in", exact: true }).click())
        yield* step(() => page.getByRole("heading", { name: "Sign in to notes" }).waitFor())
        yield* step(() => page.getByRole("button", { name: "Allow" }).click())
        yield* step(() => page.waitForURL(`${app}/`))
        // The account has no display name, so `name` is the local part of the address.
        yield* step(() => page.getByRole("heading", { name: "Hello, mina" }).waitFor())
        yield* step(() => page.getByRole("link", { name: "Sign out" }).click())
        yield* step(() => page.waitForURL(`${app}/`))
        yield* step(() => page.getByRole("heading", { name: "You are signed out" }).waitFor())
        yield* step(() => page.getByRole("link", { name: "Sign in" }).waitFor())
        expect(faults).toEqual([])
      }).pipe(Effect.provide(platform)),
    180_000
  )
})
