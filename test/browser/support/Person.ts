import { Effect } from "effect"
import type { Page } from "playwright-core"

export const password = "correct horse battery staple"

/** What somebody does on a page, as Effects; `patient` is for what a Run has to do first. */
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

/** The first account of a fresh server. */
export const setUp = Effect.fnUntraced(function* (page: Page, setupLink: string) {
  const { press, step, type } = personAt(page, 30_000)
  yield* step(() => page.goto(setupLink))
  yield* type("Your name", "Mina")
  yield* type("E-mail address", "mina@acme.example")
  yield* type("Password", password)
  yield* press("Create account")
  yield* step(() => page.locator(".empty").getByRole("link", { name: "Install" }).waitFor())
})
