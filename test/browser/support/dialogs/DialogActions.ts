import type { Page } from "playwright-core"
import { vocabulary } from "../../../../src/dashboard/words/Vocabulary.ts"

export type Language = "en" | "ja"

export interface OpenedDialog {
  /**
   * The file in `src/dashboard` that renders the dialog. If several components of that file render dialogs, the component
   * follows: `screens/run/ChangeReview.tsx#ApproveChange`.
   */
  readonly source: string
  readonly path: string
  readonly ready: string
  readonly open: (page: Page, language: Language) => Promise<void>
}

const special = /[.*+?^${}()|[\]\\]/g

/** Matches a button's text, even if the accessible name ends with the row's subject: `Remove`, `Remove: Mina`. */
export const buttonNamed = (text: string): RegExp => new RegExp(`^${text.replace(special, "\\$&")}(?: ?: .*)?$`)

export const button = (name: (language: Language) => string) => (page: Page, language: Language) =>
  page
    .getByRole("button", { name: buttonNamed(name(language)) })
    .first()
    .click()

export const menuItem =
  (trigger: string, name: (language: Language) => string) =>
  async (page: Page, language: Language): Promise<void> => {
    await page.locator(trigger).click()
    await page.getByRole("menuitem", { name: name(language), exact: true }).click()
  }

export const inPanel =
  (title: (language: Language) => string, name: (language: Language) => string) => (page: Page, language: Language) =>
    page
      .locator(".panel", { has: page.getByRole("heading", { name: title(language), exact: true }) })
      .getByRole("button", { name: buttonNamed(name(language)) })
      .first()
      .click()

export const account = { path: "/account", ready: ".row-static" }
export const remove = (language: Language) => vocabulary[language].remove
