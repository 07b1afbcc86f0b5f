import { Effect } from "effect"
import type { Page } from "playwright-core"
import { personAt } from "./Person.ts"

/** Gives the browser an authenticator that always consents, as if its owner kept a finger on the sensor. */
export const withAuthenticator = Effect.fnUntraced(function* (page: Page) {
  const { step } = personAt(page, 15_000)
  const devtools = yield* Effect.promise(() => page.context().newCDPSession(page))
  yield* step(() => devtools.send("WebAuthn.enable"))
  const { authenticatorId } = yield* Effect.promise(() =>
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
  return {
    /** Sets whether the authenticator verifies its user. Without verification it neither creates nor uses passkeys. */
    verifies: (isUserVerified: boolean) =>
      devtools.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified }),
    /** The number of passkeys in the authenticator. */
    credentials: async () => {
      const { credentials } = await devtools.send("WebAuthn.getCredentials", { authenticatorId })
      return credentials.length
    }
  }
})

/** Adds a passkey with this name to the signed-in account. */
export const addPasskey = Effect.fnUntraced(function* (page: Page, origin: string, name: string) {
  const { press, pressInDialog, see, step, type } = personAt(page, 15_000)
  yield* step(() => page.goto(`${origin}/account`))
  yield* press("Add a passkey")
  yield* type("Name", name)
  yield* pressInDialog("Add a passkey")
  yield* step(() => page.getByRole("dialog").waitFor({ state: "detached" }))
  yield* see(name)
})
