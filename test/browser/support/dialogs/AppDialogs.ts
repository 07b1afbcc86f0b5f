import type { Page, Route } from "playwright-core"
import type { AttentionItem } from "../../../../src/dashboard/api/Types.ts"
import { bulkWords } from "../../../../src/dashboard/app/BulkWords.ts"
import { appWords } from "../../../../src/dashboard/app/Words.ts"
import { confirmIdentityWords } from "../../../../src/dashboard/app/ConfirmIdentityWords.ts"
import { signInWords } from "../../../../src/dashboard/screens/account/SignInWords.ts"
import { attentionWords } from "../../../../src/dashboard/screens/home/AttentionWords.ts"
import { waitingUpdate } from "../records/RunGroups.ts"
import { account, menuItem, type OpenedDialog } from "./DialogActions.ts"

const home = { path: "/w/acme", ready: ".attention-row" }

const asked = "**/auth/confirmation"

/** Responds as if the person had not confirmed their identity recently. */
const unconfirmed = (route: Route) =>
  route.fulfill({
    json: { confirmed: false, password: true, code: true, passkeys: true, provider: { name: "Acme ID" } }
  })

/** Responds as if a Workspace update were open. */
const updating = async (route: Route) => {
  const answer: { readonly needs: ReadonlyArray<unknown> } = await (await route.fetch()).json()
  const open = {
    key: waitingUpdate.id,
    group: "update",
    kind: "update_open",
    also: [],
    capsules: [],
    since: waitingUpdate.createdAt,
    runGroupId: waitingUpdate.id
  }
  await route.fulfill({ json: { ...answer, needs: [open, ...answer.needs] } })
}

/** Limits the waiting plan to creations, so that it can be decided together with other plans. */
const harmlessPlan = async (page: Page): Promise<void> => {
  await page.route("**/api/v1/dashboard/needs*", async (route: Route) => {
    const response = await route.fetch()
    const answer: { readonly needs: ReadonlyArray<AttentionItem> } = await response.json()
    const planSummary = { add: 2, change: 0, destroy: 0, replace: 0, import: 0, forget: 0 }
    const needs = answer.needs.map((need) =>
      need.run === undefined ? need : { ...need, run: { ...need.run, planSummary, planDigest: "sha256:1" } }
    )
    await route.fulfill({ response, json: { ...answer, needs } })
  })
  await page.reload()
}

/** Dialogs in the application frame and on its first screen. */
export const appDialogs: ReadonlyArray<OpenedDialog> = [
  {
    source: "app/Palette.tsx",
    ...home,
    open: async (page) => {
      await page.keyboard.press("Control+k")
      await page.getByRole("option").first().waitFor()
    }
  },
  { source: "app/ShortcutHelp.tsx", ...home, open: (page) => page.keyboard.press("?") },
  {
    source: "app/ConfirmIdentity.tsx",
    ...account,
    open: async (page, to) => {
      await page.route(asked, unconfirmed)
      await page.getByRole("link", { name: signInWords[to].link }).click()
      await page.getByRole("dialog", { name: confirmIdentityWords[to].title }).locator("input").first().waitFor()
      await page.unroute(asked, unconfirmed)
    }
  },
  {
    source: "screens/home/AttentionEntry.tsx",
    ...home,
    open: async (page, to) => {
      const needs = "**/dashboard/needs*"
      await page.route(needs, updating)
      await page.reload()
      await page.locator(".attention-row").first().waitFor()
      await page.getByRole("button", { name: attentionWords[to].planAll(14), exact: true }).click()
      await page.unroute(needs, updating)
    }
  },
  {
    source: "app/BulkBar.tsx",
    ...home,
    open: async (page, to) => {
      await harmlessPlan(page)
      await page.getByLabel(bulkWords[to].choose("storefront · production"), { exact: true }).check()
      await page.getByRole("button", { name: bulkWords[to].approve, exact: true }).click()
    }
  },
  { source: "app/NewWorkspace.tsx", ...home, open: menuItem(".side-workspace", (to) => appWords[to].newWorkspace) }
]
