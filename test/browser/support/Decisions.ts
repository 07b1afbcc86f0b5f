import type { Locator, Page } from "playwright-core"
import * as endpoints from "../../../src/dashboard/api/Endpoints.ts"
import { accountWords } from "../../../src/dashboard/screens/account/Words.ts"
import { factorWords } from "../../../src/dashboard/screens/account/FactorWords.ts"
import { profileWords } from "../../../src/dashboard/screens/account/ProfileWords.ts"
import { importConfirmationWords } from "../../../src/dashboard/screens/capsule/ImportConfirmationWords.ts"
import { capsuleWords } from "../../../src/dashboard/screens/capsule/Words.ts"
import { confirmWords } from "../../../src/dashboard/screens/confirm/Words.ts"
import { gitHubAppWords } from "../../../src/dashboard/screens/connections/GitHubAppWords.ts"
import { connectionWords } from "../../../src/dashboard/screens/connections/Words.ts"
import { installWords } from "../../../src/dashboard/screens/install/Words.ts"
import { takeOverWords } from "../../../src/dashboard/screens/install/TakeOverWords.ts"
import { attentionWords } from "../../../src/dashboard/screens/home/AttentionWords.ts"
import { discussionWords } from "../../../src/dashboard/screens/run/DiscussionWords.ts"
import { sourceWords } from "../../../src/dashboard/screens/sources/Words.ts"
import { automationWords } from "../../../src/dashboard/screens/workspace/AutomationWords.ts"
import { noticeWords } from "../../../src/dashboard/screens/workspace/NoticeWords.ts"
import { workspaceWords } from "../../../src/dashboard/screens/workspace/Words.ts"
import { noticeKindWords } from "../../../src/dashboard/words/NoticeKindWords.ts"
import { vocabulary } from "../../../src/dashboard/words/Vocabulary.ts"
import { driftFoundWords } from "../../../src/dashboard/screens/drift/DriftFoundWords.ts"
import { dialogs } from "./Dialogs.ts"
import { buttonNamed, type Language } from "./dialogs/DialogActions.ts"
import { storefrontId, unconfirmedImport } from "./records/Capsules.ts"
import { reviewRun } from "./records/Runs.ts"
import type { World } from "./routes/World.ts"

/** A decision in the dashboard, with the steps up to the click that sends it. */
export interface DecisionRow {
  /** `METHOD /path/:parameter`, as the dashboard sends it. */
  readonly line: string
  readonly path: string
  readonly ready: string
  /** Changes the server's records before the visit. */
  readonly prepare?: (world: World) => void
  /** Navigates to the button that sends the decision, and returns it. */
  readonly reach: (page: Page, language: Language) => Promise<Locator>
}

const typed = [/^Type (.+) to confirm/, /^確認のため「(.+)」と入力してください/]

const answerFor = (label: string, type: string | null): string => {
  for (const form of typed) {
    const name = form.exec(label)?.[1]
    if (name !== undefined) return name
  }
  if (type === "email") return "ada@example.com"
  if (type === "url") return "https://git.example.com/infra.git"
  if (type === "number") return "1"
  if (type === "date") return "2099-01-01"
  return "long-enough-answer"
}

/** Fills in every field of an open dialog. */
const fill = async (dialog: Locator): Promise<void> => {
  const choices = dialog.locator("select:visible")
  // A choice may show or hide other fields.
  for (let index = 0; index < (await choices.count()); index += 1) {
    const choice = choices.nth(index)
    if ((await choice.inputValue()) === "" && (await choice.locator("option").count()) > 1)
      await choice.selectOption({ index: 1 })
  }
  await dialog.page().waitForLoadState("networkidle")
  // Typing into a field may hide its list of choices.
  const unwritten = ["checkbox", "radio", "file"].map((type) => `:not([type=${type}])`).join("")
  for (const field of await dialog.locator(`input:visible${unwritten}, textarea:visible`).all()) {
    const type = await field.getAttribute("type")
    if ((await field.inputValue()) !== "") continue
    const label = await field.evaluate((element) =>
      element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement
        ? (element.labels?.[0]?.textContent ?? "")
        : ""
    )
    await field.fill(answerFor(label.trim(), type))
  }
}

/** Fills in an open dialog, and finds the button that sends the decision. */
const inDialog = async (page: Page): Promise<Locator> => {
  const dialog = page.getByRole("dialog").last()
  await dialog.locator(".form-actions button").first().waitFor()
  await fill(dialog)
  const decide = dialog.locator(".form-actions button").first()
  if (await decide.isDisabled()) {
    for (const box of await dialog.locator('input[type="checkbox"]:visible').all()) {
      if (await decide.isEnabled()) break
      await box.check()
    }
  }
  return decide
}

/** Finds a dialog in the list of all dialogs by its source; `nth` selects one of the dialogs with that source. */
const dialogOf = (line: string, source: string, nth = 0): DecisionRow => {
  const found = dialogs.filter((each) => each.source === source)[nth]
  if (found === undefined) throw new Error(`No dialog of ${source} is the number ${nth}.`)
  return {
    line,
    path: found.path,
    ready: found.ready,
    reach: async (page, language) => {
      await found.open(page, language)
      return inDialog(page)
    }
  }
}

const onPage = (
  line: string,
  path: string,
  ready: string,
  name: (language: Language) => string,
  before: (page: Page, language: Language) => Promise<unknown> = async () => undefined
): DecisionRow => ({
  line,
  path,
  ready,
  reach: async (page, language) => {
    await before(page, language)
    return page.getByRole("button", { name: buttonNamed(name(language)) }).first()
  }
})

const inNewDialog = (
  line: string,
  path: string,
  ready: string,
  name: (language: Language) => string,
  before: (page: Page, language: Language) => Promise<unknown> = async () => undefined
): DecisionRow => ({
  line,
  path,
  ready,
  reach: async (page, language) => {
    await before(page, language)
    await page
      .getByRole("button", { name: buttonNamed(name(language)) })
      .first()
      .click()
    return inDialog(page)
  }
})

/** Opens a menu entry of the first row in a list. */
const onMenu = (line: string, path: string, ready: string, name: (language: Language) => string): DecisionRow => ({
  line,
  path,
  ready,
  reach: async (page, language) => {
    await page
      .getByRole("button", { name: new RegExp(`^${vocabulary[language].more}: `) })
      .first()
      .click()
    return page.getByRole("menuitem", { name: name(language), exact: true })
  }
})

const capsule = `/w/acme/capsules/${storefrontId}`
const settings = "/w/acme/settings"
const install = `/install?git=${encodeURIComponent("https://git.acme.example/infra/platform.git")}&ref=main&path=modules%2Fservice&name=Shop`

export const decisions: ReadonlyArray<DecisionRow> = [
  dialogOf(endpoints.runsApprove, "screens/run/ApproveDialog.tsx"),
  dialogOf(endpoints.runsCancel, "screens/run/CancelDialog.tsx"),
  {
    line: endpoints.commentsWrite,
    path: `/w/acme/runs/${reviewRun}`,
    ready: ".comment-form",
    reach: async (page, to) => {
      await page.getByLabel(discussionWords[to].label, { exact: true }).fill("Looks right.")
      return page.getByRole("button", { name: discussionWords[to].send, exact: true })
    }
  },
  {
    ...onPage(endpoints.approvalsAsk, "/w/acme", ".attention-row", (to) => attentionWords[to].ask),
    prepare: (world) => {
      world.needs = world.needs.map((need) =>
        need.kind === "waiting_approval" ? { ...need, waitsForOthers: true } : need
      )
    }
  },
  dialogOf(endpoints.changeApprovalsApprove, "screens/run/ChangeReview.tsx#ApproveChange"),
  dialogOf(endpoints.changeApprovalsWithdraw, "screens/run/ChangeReview.tsx#ChangeApprovals"),
  dialogOf(endpoints.pullRequestsPlan, "screens/pull-request/PlanCommit.tsx"),
  dialogOf(endpoints.commentsRemove, "screens/run/Discussion.tsx"),
  dialogOf(endpoints.runsCancelGroup, "screens/update/UpdateScreen.tsx"),
  dialogOf(endpoints.agentPoolsRelease, "screens/run/AgentStanding.tsx"),
  dialogOf(endpoints.runsRollbackPlan, "screens/capsule/Rollback.tsx"),
  dialogOf(endpoints.leftOverStatesAdopt, "screens/left-over/OrphanedStateList.tsx"),
  dialogOf(endpoints.leftOverStatesDiscard, "screens/left-over/OrphanedStateList.tsx", 1),
  onPage(endpoints.capsulesPlan, "/w/acme/capsules/cap_0000000000000006", ".tabs", (to) => capsuleWords[to].plan),
  dialogOf(endpoints.revisionPlansCreate, "screens/capsule/PlanRevision.tsx"),
  onPage(endpoints.capsulesUpdate, `${capsule}/danger`, ".panel-danger", (to) => capsuleWords[to].disable),
  dialogOf(endpoints.capsulesRemove, "screens/capsule/Danger.tsx"),
  dialogOf(endpoints.exportsCreate, "screens/capsule/Export.tsx#ExportDialog"),
  {
    ...inNewDialog(endpoints.backupImportsConfirm, capsule, ".tabs", (to) => importConfirmationWords[to].confirm),
    prepare: (world) => {
      world.capsules = world.capsules.map((each) =>
        each.id === storefrontId ? { ...each, ...unconfirmedImport } : each
      )
    }
  },
  dialogOf(endpoints.capsulesRelease, "screens/capsule/Release.tsx"),
  dialogOf(endpoints.capsulesReAdopt, "screens/capsule/ReAdopt.tsx"),
  dialogOf(endpoints.capsulesCreateDependency, "screens/capsule/Dependencies.tsx#NewDependency"),
  dialogOf(endpoints.capsulesRemoveDependency, "screens/capsule/Dependencies.tsx#Remove"),
  dialogOf(endpoints.workspacesPlanUpdate, "screens/home/AttentionEntry.tsx"),
  onPage(endpoints.workspacesDriftCheck, `${settings}/settings`, ".facts", (to) => workspaceWords[to].driftAll),
  onPage(endpoints.workspacesUpdate, `${settings}/settings`, ".facts", (to) => workspaceWords[to].archiveDo),
  onPage(
    endpoints.workspacesSetAutomation,
    `${settings}/settings`,
    ".facts",
    (to) => workspaceWords[to].automationPause
  ),
  dialogOf(endpoints.workspacesCreate, "app/NewWorkspace.tsx"),
  dialogOf(endpoints.invitationsCreate, "screens/workspace/InviteDialog.tsx"),
  dialogOf(endpoints.invitationsRevoke, "screens/workspace/Invitations.tsx"),
  dialogOf(endpoints.workspacesAddMember, "screens/workspace/Members.tsx#AutomationDialog"),
  dialogOf(endpoints.workspacesUpdateMember, "screens/workspace/Members.tsx#RenameAutomation"),
  dialogOf(endpoints.workspacesRemoveMember, "screens/workspace/Members.tsx#Row"),
  dialogOf(endpoints.workspacesHandOver, "screens/workspace/Members.tsx#Row", 2),
  dialogOf(endpoints.membersCreateToken, "screens/workspace/AutomationTokens.tsx#NewAutomationToken"),
  onPage(
    endpoints.membersRevokeToken,
    settings,
    ".row-static",
    (to) => automationWords[to].revoke,
    (page, to) =>
      page
        .getByRole("button", { name: buttonNamed(automationWords[to].tokens) })
        .first()
        .click()
  ),
  dialogOf(endpoints.approvalsCreateRule, "screens/workspace/Approvals.tsx#RuleDialog"),
  dialogOf(endpoints.approvalsUpdateRule, "screens/workspace/Approvals.tsx#RuleDialog", 1),
  dialogOf(endpoints.approvalsRemoveRule, "screens/workspace/Approvals.tsx#Rule"),
  dialogOf(endpoints.noticesCreateEndpoint, "screens/workspace/Notices.tsx#NoticeEndpointDialog"),
  dialogOf(endpoints.noticesUpdateEndpoint, "screens/workspace/Notices.tsx#NoticeEndpointDialog", 1),
  dialogOf(endpoints.noticesRotateSecret, "screens/workspace/Notices.tsx#NewSecret"),
  dialogOf(endpoints.noticesRemoveEndpoint, "screens/workspace/Notices.tsx#Endpoint"),
  onMenu(endpoints.noticesTestEndpoint, `${settings}/notices`, ".row-static", (to) => noticeWords[to].test),
  onPage(
    endpoints.noticesReplayDelivery,
    `${settings}/notices`,
    ".row-static",
    (to) => noticeWords[to].replay,
    (page, to) =>
      page
        .getByRole("button", { name: buttonNamed(noticeWords[to].log) })
        .first()
        .click()
  ),
  {
    line: endpoints.noticesChooseMails,
    path: "/account",
    ready: ".feature",
    reach: async (page, to) => page.getByLabel(noticeKindWords[to]["run.failed"], { exact: true })
  },
  dialogOf(endpoints.teamsCreate, "screens/workspace/TeamDialog.tsx"),
  dialogOf(endpoints.teamsUpdate, "screens/workspace/TeamDialog.tsx", 1),
  dialogOf(endpoints.teamsRemove, "screens/workspace/Approvals.tsx#TeamRow"),
  dialogOf(endpoints.connectionsRevokeOutputShare, "screens/workspace/Shares.tsx#Revoke"),
  onPage(
    endpoints.connectionsApproveOutputShare,
    `${settings}/shares`,
    ".row-static",
    (to) => workspaceWords[to].shareApprove
  ),
  onPage(endpoints.workspacesCreateBackup, `${settings}/backups`, ".row-static", (to) => workspaceWords[to].backUp),
  dialogOf(endpoints.backupsRestorePlan, "screens/workspace/Backups.tsx"),
  dialogOf(endpoints.connectionsUpdate, "screens/connections/EditConnection.tsx"),
  dialogOf(endpoints.connectionsConfirmOrigins, "screens/connections/ConnectionsScreen.tsx#ConfirmOrigins"),
  dialogOf(endpoints.connectionsRevoke, "screens/connections/ConnectionsScreen.tsx#Row"),
  onPage(endpoints.connectionsTest, "/w/acme/connections", ".row-connection", (to) => connectionWords[to].test),
  inNewDialog(endpoints.connectionsRemove, "/w/acme/connections", ".row-connection", (to) => vocabulary[to].remove),
  dialogOf(endpoints.connectionsCreate, "screens/connections/NewConnection.tsx"),
  dialogOf(endpoints.connectionsCreateOutputShare, "screens/workspace/Shares.tsx#NewShare"),
  {
    line: endpoints.connectionsStartOAuth,
    path: "/w/acme/connections",
    ready: ".row-connection",
    reach: async (page) => page.locator(".row-static .button-primary").first()
  },
  {
    line: endpoints.connectionsStartGitHubApp,
    path: "/w/acme/connections",
    ready: ".row-connection",
    reach: async (page, to) => {
      await page.getByRole("button", { name: connectionWords[to].create }).click()
      const dialog = page.getByRole("dialog")
      await dialog.getByLabel(connectionWords[to].recipe).selectOption("forge-github")
      await dialog.getByLabel(connectionWords[to].origins).fill("https://github.acme.example")
      return dialog.getByRole("button", { name: gitHubAppWords[to].create })
    }
  },
  onPage(
    endpoints.capsulesReconcilePlan,
    "/w/acme/capsules/cap_0000000000000004",
    ".tabs",
    (to) => driftFoundWords[to].putBack
  ),
  {
    line: endpoints.capsulesConfigurationPlan,
    path: `${capsule}/configuration`,
    ready: ".inputs",
    reach: async (page, to) => {
      await page.getByRole("button", { name: capsuleWords[to].configTitle, exact: true }).click()
      await page.locator(".field input:visible").first().fill("changed.example.com")
      return page.getByRole("button", { name: capsuleWords[to].configPlan, exact: true })
    }
  },
  {
    line: endpoints.stateUploadsCreate,
    path: install,
    ready: "input[type=url]",
    reach: async (page, to) => {
      await page.getByRole("button", { name: installWords[to].read, exact: true }).click()
      await page.getByText(takeOverWords[to].title).click()
      await page.getByLabel(takeOverWords[to].file).setInputFiles({
        name: "terraform.tfstate",
        mimeType: "application/json",
        buffer: Buffer.from('{"version":4}')
      })
      return page.getByRole("button", { name: takeOverWords[to].upload, exact: true })
    }
  },
  {
    line: endpoints.installPlansCreate,
    path: install,
    ready: "input[type=url]",
    reach: async (page, to) => {
      await page.getByRole("button", { name: installWords[to].read, exact: true }).click()
      await page.getByLabel(installWords[to].connectionFor("aws")).selectOption({ label: "AWS production" })
      await page.getByLabel(installWords[to].buildAllow).check()
      await page.getByLabel(to === "en" ? "Domain" : "ドメイン").fill("shop.example.com")
      await page.getByLabel(to === "en" ? "Session key" : "セッションキー").fill("s3cret")
      return page.getByRole("button", { name: installWords[to].makePlan, exact: true })
    }
  },
  dialogOf(endpoints.sourcesCreate, "screens/sources/SourcesScreen.tsx"),
  dialogOf(endpoints.sourcesUpdate, "screens/source/SourceScreen.tsx#Edit"),
  dialogOf(endpoints.sourcesRemove, "screens/source/SourceScreen.tsx#RemoveSource"),
  dialogOf(endpoints.sourcesRenewHookSecret, "screens/source/Webhook.tsx"),
  onPage(endpoints.sourcesSync, "/w/acme/sources/src_0000000000000001", ".row-static", (to) => sourceWords[to].sync),
  dialogOf(endpoints.accountTokensCreate, "screens/account/Tokens.tsx#NewToken"),
  dialogOf(endpoints.accountTokensRevoke, "screens/account/Tokens.tsx#Row"),
  dialogOf("DELETE /auth/passkeys/:id", "screens/account/Passkeys.tsx#Row"),
  dialogOf("POST /auth/profile", "screens/account/Profile.tsx#Rename"),
  dialogOf("POST /auth/address/link", "screens/account/Profile.tsx#ChangeAddress"),
  dialogOf("POST /auth/sessions/revoke-others", "screens/account/Sessions.tsx#Others"),
  dialogOf("POST /auth/sign-out-everywhere", "screens/account/Sessions.tsx#Everywhere"),
  dialogOf("POST /auth/password", "screens/account/AccountScreen.tsx#PasswordDialog"),
  dialogOf("POST /auth/grants/:id/revoke", "screens/account/AccountScreen.tsx#GrantRow"),
  dialogOf("DELETE /auth/upstream/identities/:id", "screens/account/AccountScreen.tsx#IdentityRow"),
  onPage("POST /auth/sessions/:id/revoke", "/account", ".row-static", (to) => accountWords[to].endSession),
  onPage("POST /auth/second-factor", "/account", ".row-static", (to) => factorWords[to].setUp),
  onPage("POST /auth/notices/seen", "/account", ".row-static", (to) => profileWords[to].noticesSeen),
  onPage(
    "POST /auth/address",
    "/account/address#svce_secret",
    ".form-actions .button-primary",
    (to) => profileWords[to].addressAction
  ),
  onPage(
    "POST /auth/confirmation/decide",
    "/confirm?code=BCDF-GHJK",
    ".form-actions .button-primary",
    (to) => confirmWords[to].approve
  )
]

const byPasskey = "Needs an authenticator, whose answers Passkeys.test.ts simulates."
const entrance = "Sent by the pages for people who are not signed in."
const follows = "Follows the first step of a decision that has a row, with the same signal."
const reads = "Reads, although it is a POST."

/** Dashboard requests that have no row above, each with the reason. */
export const otherLines: Readonly<Record<string, string>> = {
  [endpoints.runsApply]: follows,
  [endpoints.installPlansReconcile]: follows,
  [endpoints.revisionPlansReconcile]: follows,
  [endpoints.sourcesCompatibilityCheck]: "Sent once a module is known, without a click.",
  [endpoints.sourcesStableSemver]: reads,
  [endpoints.sourcesRevisions]: reads,
  [endpoints.capsulesLook]: "Reads before `capsulesPlan`, which has a row, with the same signal.",
  [endpoints.invitationsInspect]: reads,
  "POST /auth/address/inspect": reads,
  "POST /auth/confirmation/waiting": reads,
  [endpoints.invitationsAccept]: entrance,
  [endpoints.invitationsDecline]: entrance,
  [endpoints.backupImportsUpload]: "Sends a file as the upload of a state does, which has a row.",
  [endpoints.capsulesDestroyPlan]: "Sent by the button of `capsulesPlan`, which has a row, when the plan destroys.",
  [endpoints.capsulesDriftCheck]: "Sent by the code of `capsulesPlan`, which has a row, from a menu.",
  "POST /install/return": "Needs a hand-off, which HandOff.test.ts starts.",
  "POST /auth/confirmation/passkey": byPasskey,
  "POST /auth/confirmation/passkey-options": byPasskey,
  "POST /auth/confirmation/password":
    "Asked for by a decision that waits, and withdrawn with it (Confirmation.test.ts).",
  "POST /auth/passkeys": byPasskey,
  "POST /auth/passkeys/registration-options": byPasskey,
  "POST /auth/second-factor/activate": "Follows the second factor's first step, in a dialog of its own.",
  "POST /auth/second-factor/recovery-codes": "Needs an active second factor, which Account.test.ts sets up.",
  "DELETE /auth/second-factor": "Needs an active second factor, which Account.test.ts sets up.",
  "POST /auth/sign-out": "A menu entry that reports a failure and does nothing else (Offline.test.ts)."
}
