import type { Page, Route } from "playwright-core"
import { appWords } from "../../../src/dashboard/app/Words.ts"
import { confirmIdentityWords } from "../../../src/dashboard/app/ConfirmIdentityWords.ts"
import { accountWords } from "../../../src/dashboard/screens/account/Words.ts"
import { factorWords } from "../../../src/dashboard/screens/account/FactorWords.ts"
import { profileWords } from "../../../src/dashboard/screens/account/ProfileWords.ts"
import { signInWords } from "../../../src/dashboard/screens/account/SignInWords.ts"
import { exportWords } from "../../../src/dashboard/screens/capsule/ExportWords.ts"
import { importConfirmationWords } from "../../../src/dashboard/screens/capsule/ImportConfirmationWords.ts"
import { reAdoptionWords } from "../../../src/dashboard/screens/capsule/ReAdoptionWords.ts"
import { releaseWords } from "../../../src/dashboard/screens/capsule/ReleaseWords.ts"
import { capsuleWords } from "../../../src/dashboard/screens/capsule/Words.ts"
import { connectionWords } from "../../../src/dashboard/screens/connections/Words.ts"
import { leftOverWords } from "../../../src/dashboard/screens/left-over/LeftOverWords.ts"
import { agentRunWords } from "../../../src/dashboard/screens/run/AgentWords.ts"
import { decisionWords } from "../../../src/dashboard/screens/run/DecisionWords.ts"
import { updateWords } from "../../../src/dashboard/screens/update/Words.ts"
import { sourceWords } from "../../../src/dashboard/screens/sources/Words.ts"
import { automationWords } from "../../../src/dashboard/screens/workspace/AutomationWords.ts"
import { backupWords } from "../../../src/dashboard/screens/workspace/BackupWords.ts"
import { needWords } from "../../../src/dashboard/screens/home/NeedWords.ts"
import { approvalWords } from "../../../src/dashboard/screens/workspace/ApprovalWords.ts"
import { memberWords } from "../../../src/dashboard/screens/workspace/MemberWords.ts"
import { workspaceWords } from "../../../src/dashboard/screens/workspace/Words.ts"
import { vocabulary } from "../../../src/dashboard/words/Vocabulary.ts"
import { applyingAgent } from "./records/Agents.ts"
import { storefrontId, unconfirmedImport } from "./records/Capsules.ts"
import { waitingUpdate } from "./records/RunGroups.ts"
import { applyRun, failedRun, reviewRun } from "./records/Runs.ts"

type Language = "en" | "ja"

/** The running apply as one whose agent is silent. */
const lostAgent = async (page: Page): Promise<void> => {
  await page.route(`**/api/v1/runs/${applyRun}`, async (route: Route) => {
    const answer = await route.fetch()
    const { run }: { readonly run: object } = await answer.json()
    await route.fulfill({
      response: answer,
      json: { run: { ...run, ...applyingAgent(), agentUnreachableSince: new Date().toISOString() } }
    })
  })
  await page.reload()
}

export interface OpenedDialog {
  /** The file, below `src/dashboard`, that draws it. */
  readonly source: string
  readonly path: string
  readonly ready: string
  readonly open: (page: Page, language: Language) => Promise<void>
}

const button = (name: (language: Language) => string) => (page: Page, language: Language) =>
  page
    .getByRole("button", { name: name(language), exact: true })
    .first()
    .click()

const menuItem =
  (trigger: string, name: (language: Language) => string) =>
  async (page: Page, language: Language): Promise<void> => {
    await page.locator(trigger).click()
    await page.getByRole("menuitem", { name: name(language), exact: true }).click()
  }

const inPanel =
  (title: (language: Language) => string, name: (language: Language) => string) => (page: Page, language: Language) =>
    page
      .locator(".panel", { has: page.getByRole("heading", { name: title(language), exact: true }) })
      .getByRole("button", { name: name(language), exact: true })
      .first()
      .click()

/** In the dialog of an automation's tokens. */
const newAutomationToken = async (page: Page, to: Language): Promise<void> => {
  await page.getByRole("button", { name: automationWords[to].tokens, exact: true }).first().click()
  await page.getByRole("button", { name: automationWords[to].newToken, exact: true }).click()
}

const madeAutomationToken = async (page: Page, to: Language): Promise<void> => {
  await newAutomationToken(page, to)
  await page.getByLabel(automationWords[to].tokenName).fill("ci")
  await page.getByRole("button", { name: automationWords[to].make, exact: true }).click()
  await page.locator(".secret-once").waitFor()
}

/** In the dialog that follows the form of an invitation. */
const madeLink = async (page: Page, to: Language): Promise<void> => {
  await page.getByRole("button", { name: memberWords[to].invite, exact: true }).click()
  await page.getByRole("button", { name: memberWords[to].makeLink, exact: true }).click()
  await page.locator(".secret-once").waitFor()
}

const asked = "**/auth/confirmation"

/** The person has not confirmed their identity recently. */
const unconfirmed = (route: Route) =>
  route.fulfill({
    json: { confirmed: false, password: true, code: true, passkeys: true, provider: { name: "Acme ID" } }
  })

/** The Capsule came from another installation, and nobody has confirmed it yet. */
const imported = async (route: Route) => {
  const answer: { readonly capsule: object } = await (await route.fetch()).json()
  await route.fulfill({ json: { capsule: { ...answer.capsule, ...unconfirmedImport } } })
}

/** An update of the Workspace is open. */
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

const capsule = `/w/acme/capsules/${storefrontId}`
const account = { path: "/account", ready: ".row-static" }
const settings = { path: "/w/acme/settings", ready: ".row-static" }
const approvals = { path: "/w/acme/settings/approvals", ready: ".row-static" }
const shares = { path: "/w/acme/settings/shares", ready: ".row-static" }
const dependencies = { path: `${capsule}/dependencies`, ready: ".row-static" }
const review = { path: `/w/acme/runs/${reviewRun}`, ready: ".decision" }
const home = { path: "/w/acme", ready: ".attention-row" }
const remove = (language: Language) => vocabulary[language].remove

/** Every dialog, with the action that opens it. A file that draws a dialog missing here fails a test. */
export const dialogs: ReadonlyArray<OpenedDialog> = [
  { source: "app/Palette.tsx", ...home, open: (page) => page.keyboard.press("Control+k") },
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
    source: "screens/home/PlanTogether.tsx",
    ...home,
    open: async (page, to) => {
      const needs = "**/dashboard/needs*"
      await page.route(needs, updating)
      await page.reload()
      await page.locator(".attention-row").first().waitFor()
      await page.getByRole("button", { name: needWords[to].planAll(14), exact: true }).click()
      await page.unroute(needs, updating)
    }
  },
  { source: "app/NewWorkspace.tsx", ...home, open: menuItem(".side-workspace", (to) => appWords[to].newWorkspace) },
  {
    source: "screens/workspace/BackupActions.tsx",
    path: "/w/acme/settings/backups",
    ready: ".row-static",
    open: button((to) => backupWords[to].restore)
  },
  { source: "screens/run/ApproveDialog.tsx", ...review, open: (page) => page.locator(".button-danger").click() },
  { source: "screens/run/CancelDialog.tsx", ...review, open: button((to) => decisionWords[to].discard) },
  {
    source: "screens/run/CancelDialog.tsx",
    path: `/w/acme/runs/${applyRun}`,
    ready: ".resource",
    open: button((to) => decisionWords[to].cancel)
  },
  { source: "screens/capsule/NewDependency.tsx", ...dependencies, open: button((to) => capsuleWords[to].depAdd) },
  { source: "screens/capsule/Dependencies.tsx", ...dependencies, open: button(remove) },
  {
    source: "screens/capsule/PlanRevision.tsx",
    path: capsule,
    ready: ".outputs dd",
    open: async (page, to) => {
      await page.getByRole("button", { name: capsuleWords[to].moreActions }).click()
      await page.getByRole("menuitem", { name: capsuleWords[to].planRef, exact: true }).click()
    }
  },
  {
    source: "screens/capsule/Danger.tsx",
    path: `${capsule}/danger`,
    ready: ".panel-danger",
    open: button((to) => capsuleWords[to].destroy)
  },
  {
    source: "screens/capsule/Export.tsx",
    path: `${capsule}/danger`,
    ready: ".panel-danger",
    open: button((to) => exportWords[to].export)
  },
  {
    source: "screens/capsule/ImportConfirmation.tsx",
    path: capsule,
    ready: ".tabs",
    open: async (page, to) => {
      await page.route(`**/api/v1/capsules/${storefrontId}`, imported)
      await page.reload()
      await page.getByRole("button", { name: importConfirmationWords[to].confirm, exact: true }).click()
      await page.unroute(`**/api/v1/capsules/${storefrontId}`, imported)
    }
  },
  {
    source: "screens/capsule/Release.tsx",
    path: `${capsule}/danger`,
    ready: ".panel-danger",
    open: button((to) => releaseWords[to].release)
  },
  {
    source: "screens/capsule/ReAdopt.tsx",
    path: `${capsule}/configuration`,
    ready: ".field",
    open: button((to) => reAdoptionWords[to].start)
  },
  {
    source: "screens/capsule/Rollback.tsx",
    path: `${capsule}/state`,
    ready: ".row",
    open: button((to) => capsuleWords[to].rollback)
  },
  {
    source: "screens/left-over/LeftOverDialogs.tsx",
    path: "/w/acme/capsules/cap_0000000000000003",
    ready: ".notice-warn",
    open: button((to) => leftOverWords[to].adopt)
  },
  {
    source: "screens/left-over/LeftOverDialogs.tsx",
    path: `/w/acme/runs/${failedRun}`,
    ready: ".diagnosis",
    open: button((to) => leftOverWords[to].discard)
  },
  {
    source: "screens/update/UpdateScreen.tsx",
    path: `/w/acme/updates/${waitingUpdate.id}`,
    ready: ".row-static",
    open: button((to) => updateWords[to].cancel)
  },
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
    source: "screens/connections/ConfirmOrigins.tsx",
    path: "/w/acme/connections",
    ready: ".row-connection",
    open: button((to) => connectionWords[to].confirm)
  },
  {
    source: "screens/connections/ConnectionsScreen.tsx",
    path: "/w/acme/connections",
    ready: ".row-connection",
    open: button((to) => connectionWords[to].revoke)
  },
  {
    source: "screens/source/RemoveSource.tsx",
    path: "/w/acme/sources/src_0000000000000003",
    ready: ".panel-danger",
    open: button((to) => sourceWords[to].remove)
  },
  {
    source: "screens/sources/NewSource.tsx",
    path: "/w/acme/sources",
    ready: ".row-run",
    open: button((to) => sourceWords[to].create)
  },
  {
    source: "screens/source/SourceScreen.tsx",
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
      await page.locator(".secret-once").waitFor()
    }
  },
  {
    source: "screens/account/Passkeys.tsx",
    ...account,
    open: inPanel(
      (to) => accountWords[to].passkeys,
      (to) => accountWords[to].addPasskey
    )
  },
  { source: "screens/account/Passkeys.tsx", ...account, open: inPanel((to) => accountWords[to].passkeys, remove) },
  { source: "screens/account/NewToken.tsx", ...account, open: button((to) => accountWords[to].newToken) },
  { source: "screens/account/Tokens.tsx", ...account, open: button((to) => accountWords[to].revoke) },
  { source: "screens/account/SecondFactor.tsx", ...account, open: button((to) => factorWords[to].setUp) },
  { source: "screens/account/Profile.tsx", ...account, open: button((to) => profileWords[to].changeName) },
  { source: "screens/account/Profile.tsx", ...account, open: button((to) => profileWords[to].changeAddress) },
  { source: "screens/account/Sessions.tsx", ...account, open: button((to) => profileWords[to].others) },
  { source: "screens/account/ChangePassword.tsx", ...account, open: button((to) => accountWords[to].changePassword) },
  { source: "screens/account/Sessions.tsx", ...account, open: button((to) => signInWords[to].everywhere) },
  { source: "screens/account/Applications.tsx", ...account, open: button((to) => signInWords[to].withdraw) },
  { source: "screens/account/Identities.tsx", ...account, open: button((to) => signInWords[to].unlink) },
  { source: "screens/workspace/InviteDialog.tsx", ...settings, open: button((to) => memberWords[to].invite) },
  { source: "screens/workspace/InviteDialog.tsx", ...settings, open: madeLink },
  { source: "screens/workspace/RuleDialog.tsx", ...approvals, open: button((to) => approvalWords[to].newRule) },
  {
    source: "screens/workspace/RuleDialog.tsx",
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
    source: "screens/workspace/Approvals.tsx",
    ...approvals,
    open: inPanel((to) => approvalWords[to].rules, remove)
  },
  {
    source: "screens/workspace/Approvals.tsx",
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
  { source: "screens/workspace/Members.tsx", ...settings, open: button(remove) },
  {
    source: "screens/workspace/AutomationDialog.tsx",
    ...settings,
    open: button((to) => automationWords[to].add)
  },
  {
    source: "screens/workspace/AutomationTokens.tsx",
    ...settings,
    open: button((to) => automationWords[to].tokens)
  },
  {
    source: "screens/workspace/RenameAutomation.tsx",
    ...settings,
    open: button((to) => automationWords[to].rename)
  },
  { source: "screens/workspace/NewAutomationToken.tsx", ...settings, open: newAutomationToken },
  { source: "screens/workspace/NewAutomationToken.tsx", ...settings, open: madeAutomationToken },
  { source: "screens/workspace/Members.tsx", ...settings, open: button((to) => memberWords[to].leave) },
  { source: "screens/workspace/Members.tsx", ...settings, open: button((to) => memberWords[to].handOver) },
  {
    source: "screens/run/ReleaseFromAgent.tsx",
    path: `/w/acme/runs/${applyRun}`,
    ready: ".timeline",
    open: async (page, language) => {
      await lostAgent(page)
      await button((to) => agentRunWords[to].release)(page, language)
    }
  },
  { source: "screens/workspace/NewShare.tsx", ...shares, open: button((to) => workspaceWords[to].shareAdd) },
  { source: "screens/workspace/Shares.tsx", ...shares, open: button((to) => workspaceWords[to].shareRevoke) }
]

/** Files that draw a dialog of the phone layout, which has its own test, or that are the dialog. */
export const otherDialogs: ReadonlyArray<string> = [
  "app/RemovalDialog.tsx",
  "app/Shell.tsx",
  "ui/ConfirmDialog.tsx",
  "ui/Dialog.tsx",
  "ui/FormDialog.tsx"
]
