import type { Page } from "playwright-core"
import { automationWords } from "../../../../src/dashboard/screens/workspace/AutomationWords.ts"
import { backupWords } from "../../../../src/dashboard/screens/workspace/BackupWords.ts"
import { approvalWords } from "../../../../src/dashboard/screens/workspace/ApprovalWords.ts"
import { noticeWords } from "../../../../src/dashboard/screens/workspace/NoticeWords.ts"
import { vocabulary } from "../../../../src/dashboard/words/Vocabulary.ts"
import { memberWords } from "../../../../src/dashboard/screens/workspace/MemberWords.ts"
import { workspaceWords } from "../../../../src/dashboard/screens/workspace/Words.ts"
import { button, buttonNamed, inPanel, remove, type Language, type OpenedDialog } from "./DialogActions.ts"

/** Opens the form inside an automation's token dialog. */
const newAutomationToken = async (page: Page, to: Language): Promise<void> => {
  await page
    .getByRole("button", { name: buttonNamed(automationWords[to].tokens) })
    .first()
    .click()
  await page.getByRole("button", { name: automationWords[to].newToken, exact: true }).click()
}

const madeAutomationToken = async (page: Page, to: Language): Promise<void> => {
  await newAutomationToken(page, to)
  await page.getByLabel(automationWords[to].tokenName).fill("ci")
  await page.getByRole("button", { name: automationWords[to].make, exact: true }).click()
  await page.locator(".secret-once").waitFor()
}

/** Opens the dialog that follows the invitation form. */
const madeLink = async (page: Page, to: Language): Promise<void> => {
  await page.getByRole("button", { name: memberWords[to].invite, exact: true }).click()
  await page.getByRole("button", { name: memberWords[to].makeLink, exact: true }).click()
  await page.locator(".secret-once").waitFor()
}

const settings = { path: "/w/acme/settings", ready: ".row-static" }

const approvals = { path: "/w/acme/settings/approvals", ready: ".row-static" }
const notices = { path: "/w/acme/settings/notices", ready: ".row-static" }

/** Opens a menu entry of the first notice endpoint. */
export const ofEndpoint = (name: (to: Language) => string) => async (page: Page, to: Language) => {
  await page
    .getByRole("button", { name: new RegExp(`^${vocabulary[to].more}: `) })
    .first()
    .click()
  await page.getByRole("menuitem", { name: name(to), exact: true }).click()
}

const shares = { path: "/w/acme/settings/shares", ready: ".row-static" }

/** Dialogs in the Workspace settings. */
export const workspaceDialogs: ReadonlyArray<OpenedDialog> = [
  {
    source: "screens/workspace/Backups.tsx",
    path: "/w/acme/settings/backups",
    ready: ".row-static",
    open: button((to) => backupWords[to].restore)
  },
  { source: "screens/workspace/InviteDialog.tsx", ...settings, open: button((to) => memberWords[to].invite) },
  { source: "screens/workspace/InviteDialog.tsx", ...settings, open: madeLink },
  {
    source: "screens/workspace/Approvals.tsx#RuleDialog",
    ...approvals,
    open: button((to) => approvalWords[to].newRule)
  },
  {
    source: "screens/workspace/Approvals.tsx#RuleDialog",
    ...approvals,
    open: inPanel(
      (to) => approvalWords[to].rules,
      (to) => approvalWords[to].edit
    )
  },
  { source: "screens/workspace/TeamDialog.tsx", ...approvals, open: button((to) => approvalWords[to].newTeam) },
  {
    source: "screens/workspace/TeamDialog.tsx",
    ...approvals,
    open: inPanel(
      (to) => approvalWords[to].teams,
      (to) => approvalWords[to].edit
    )
  },
  {
    source: "screens/workspace/Approvals.tsx#Rule",
    ...approvals,
    open: inPanel((to) => approvalWords[to].rules, remove)
  },
  {
    source: "screens/workspace/Approvals.tsx#TeamRow",
    ...approvals,
    open: inPanel((to) => approvalWords[to].teams, remove)
  },
  {
    source: "screens/workspace/Invitations.tsx",
    ...settings,
    open: inPanel(
      (to) => memberWords[to].invitations,
      (to) => memberWords[to].withdraw
    )
  },
  {
    source: "screens/workspace/Notices.tsx#NoticeEndpointDialog",
    ...notices,
    open: button((to) => noticeWords[to].add)
  },
  {
    source: "screens/workspace/Notices.tsx#NoticeEndpointDialog",
    ...notices,
    open: ofEndpoint((to) => noticeWords[to].edit)
  },
  { source: "screens/workspace/Notices.tsx#NoticeLog", ...notices, open: button((to) => noticeWords[to].log) },
  { source: "screens/workspace/Notices.tsx#NewSecret", ...notices, open: ofEndpoint((to) => noticeWords[to].rotate) },
  { source: "screens/workspace/Notices.tsx#Endpoint", ...notices, open: ofEndpoint(remove) },
  { source: "screens/workspace/Members.tsx#Row", ...settings, open: button(remove) },
  {
    source: "screens/workspace/Members.tsx#AutomationDialog",
    ...settings,
    open: button((to) => automationWords[to].add)
  },
  {
    source: "screens/workspace/AutomationTokens.tsx#AutomationTokens",
    ...settings,
    open: button((to) => automationWords[to].tokens)
  },
  {
    source: "screens/workspace/Members.tsx#ChangeRole",
    ...settings,
    open: (page, to) =>
      page
        .getByRole("button", { name: workspaceWords[to].changeRole("") })
        .first()
        .click()
  },
  {
    source: "screens/workspace/Members.tsx#RenameAutomation",
    ...settings,
    open: button((to) => automationWords[to].rename)
  },
  { source: "screens/workspace/AutomationTokens.tsx#NewAutomationToken", ...settings, open: newAutomationToken },
  { source: "screens/workspace/AutomationTokens.tsx#NewAutomationToken", ...settings, open: madeAutomationToken },
  { source: "screens/workspace/Members.tsx#Row", ...settings, open: button((to) => memberWords[to].leave) },
  { source: "screens/workspace/Members.tsx#Row", ...settings, open: button((to) => memberWords[to].handOver) },
  { source: "screens/workspace/Shares.tsx#NewShare", ...shares, open: button((to) => workspaceWords[to].shareAdd) },
  { source: "screens/workspace/Shares.tsx#Revoke", ...shares, open: button((to) => workspaceWords[to].shareRevoke) }
]
