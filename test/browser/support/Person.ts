import { Effect } from "effect"
import type { Page } from "playwright-core"

export const password = "correct horse battery staple"

/** Returns a person's actions on a page, as Effects; use `patient` for actions that wait for a Run. */
export const personAt = (page: Page, patient: number) => {
  const step = (act: () => Promise<unknown>) => Effect.promise(act)
  const see = (text: string | RegExp) => step(() => page.getByText(text).first().waitFor({ timeout: patient }))
  return {
    step,
    see,
    heading: (name: string | RegExp) =>
      step(() => page.getByRole("heading", { level: 1, name }).waitFor({ timeout: patient })),
    press: (name: string) =>
      step(() => page.getByRole("button", { name, exact: true }).first().click({ timeout: patient })),
    pressInDialog: (name: string) =>
      step(() => page.getByRole("dialog").getByRole("button", { name, exact: true }).click()),
    type: (label: string, text: string) =>
      step(() =>
        page
          .getByLabel(new RegExp(`^${label}(?:optional)?$`))
          .first()
          .fill(text)
      ),
    succeeded: step(() => page.locator(".page-name .status-good").waitFor({ timeout: patient })),
    reviewing: step(() => page.getByRole("heading", { name: "Review this plan" }).waitFor({ timeout: patient }))
  }
}

/** Creates the first account on a fresh server. */
export const setUp = Effect.fnUntraced(function* (page: Page, setupLink: string) {
  const { press, step, type } = personAt(page, 30_000)
  yield* step(() => page.goto(setupLink))
  yield* type("Your name", "Mina")
  yield* type("E-mail address", "mina@acme.example")
  yield* type("Password", password)
  yield* press("Create account")
  yield* step(() => page.locator(".empty").getByRole("link", { name: "Install" }).waitFor())
})

export const signOut = Effect.fnUntraced(function* (page: Page) {
  const { step } = personAt(page, 15_000)
  yield* step(() => page.getByRole("button", { name: "Account menu" }).click())
  yield* step(() => page.getByRole("menuitem", { name: "Sign out" }).click())
  yield* step(() => page.waitForURL("**/sign-in"))
})

/** Starts on the sign-in page, and uses the password from {@link setUp}. */
export const signInByPassword = Effect.fnUntraced(function* (page: Page) {
  const { step } = personAt(page, 15_000)
  yield* step(() => page.getByLabel("E-mail address").fill("mina@acme.example"))
  yield* step(() => page.getByLabel("Password").fill(password))
  yield* step(() => page.getByRole("button", { name: "Sign in", exact: true }).click())
})

/** During an install, creates the connection that a notes module needs. */
export const connectNotes = Effect.fnUntraced(function* (page: Page, token: string) {
  const { press, pressInDialog, step } = personAt(page, 30_000)
  const dialog = page.getByRole("dialog")
  yield* press("Create a connection")
  yield* step(() => dialog.getByLabel("Name", { exact: true }).first().fill("Notes"))
  yield* step(() => dialog.getByRole("group").getByLabel("Name").fill("DEMO_TOKEN"))
  yield* step(() => dialog.getByRole("group").getByLabel("Value").fill(token))
  yield* pressInDialog("Save")
  yield* step(() => dialog.waitFor({ state: "detached" }))
})
