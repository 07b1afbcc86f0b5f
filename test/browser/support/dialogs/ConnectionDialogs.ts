import { connectionWords } from "../../../../src/dashboard/screens/connections/Words.ts"
import { sourceWords } from "../../../../src/dashboard/screens/sources/Words.ts"
import { button, type OpenedDialog } from "./DialogActions.ts"

/** Connection and Source dialogs. */
export const connectionDialogs: ReadonlyArray<OpenedDialog> = [
  {
    source: "screens/connections/NewConnection.tsx",
    path: "/w/acme/connections",
    ready: ".row-connection",
    open: button((to) => connectionWords[to].create)
  },
  {
    source: "screens/connections/EditConnection.tsx",
    path: "/w/acme/connections",
    ready: ".row-connection",
    open: button((to) => connectionWords[to].edit)
  },
  {
    source: "screens/connections/ConnectionsScreen.tsx#ConfirmOrigins",
    path: "/w/acme/connections",
    ready: ".row-connection",
    open: button((to) => connectionWords[to].confirm)
  },
  {
    source: "screens/connections/ConnectionsScreen.tsx#Row",
    path: "/w/acme/connections",
    ready: ".row-connection",
    open: button((to) => connectionWords[to].revoke)
  },
  {
    source: "screens/source/SourceScreen.tsx#RemoveSource",
    path: "/w/acme/sources/src_0000000000000003",
    ready: ".panel-danger",
    open: button((to) => sourceWords[to].remove)
  },
  {
    source: "screens/sources/SourcesScreen.tsx",
    path: "/w/acme/sources",
    ready: ".row-run",
    open: button((to) => sourceWords[to].create)
  },
  {
    source: "screens/source/SourceScreen.tsx#Edit",
    path: "/w/acme/sources/src_0000000000000001",
    ready: ".row-static",
    open: button((to) => sourceWords[to].edit)
  },
  {
    source: "screens/source/Webhook.tsx",
    path: "/w/acme/sources/src_0000000000000001",
    ready: ".row-static",
    open: button((to) => sourceWords[to].renewStart)
  },
  {
    source: "ui/SecretOnce.tsx",
    path: "/w/acme/sources/src_0000000000000001",
    ready: ".row-static",
    open: async (page, to) => {
      await page.getByRole("button", { name: sourceWords[to].renewStart, exact: true }).click()
      await page.getByRole("dialog").getByRole("button", { name: sourceWords[to].renew, exact: true }).click()
      await page.locator(".secret-once").first().waitFor()
    }
  }
]
