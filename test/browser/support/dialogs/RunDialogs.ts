import type { Page, Route } from "playwright-core"
import { agentRunWords } from "../../../../src/dashboard/screens/run/AgentWords.ts"
import { changeReviewWords } from "../../../../src/dashboard/screens/run/ChangeReviewWords.ts"
import { decisionWords } from "../../../../src/dashboard/screens/run/DecisionWords.ts"
import { discussionWords } from "../../../../src/dashboard/screens/run/DiscussionWords.ts"
import { updateWords } from "../../../../src/dashboard/screens/update/Words.ts"
import { applyingAgent } from "../records/Agents.ts"
import { changeDigest } from "../records/ChangeApprovals.ts"
import { waitingUpdate } from "../records/RunGroups.ts"
import { applyRun, reviewRun } from "../records/Runs.ts"
import { button, type OpenedDialog } from "./DialogActions.ts"

/** Makes the agent of the running apply silent. */
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

/** When a page closes, the browser cancels the page's open requests. */
const json = (page: Page, path: string, changed: (answer: Record<string, object>) => unknown) =>
  page.route(path, async (route: Route) => {
    const response = await route.fetch().catch(() => undefined)
    if (response === undefined) return
    const answer = await response.json().catch(() => undefined)
    if (answer !== undefined) await route.fulfill({ response, json: changed(answer) }).catch(() => undefined)
  })

/** Makes the plan under review speculative, so that the person may approve its change. */
const speculative = async (page: Page): Promise<void> => {
  const path = `**/api/v1/runs/${reviewRun}`
  await json(page, path, ({ run }) => ({ run: { ...run, status: "succeeded", speculative: true, changeDigest } }))
  await json(page, `${path}/approvals`, ({ approvals }) => ({ approvals: { ...approvals, own: { status: "counts" } } }))
  await page.reload()
  // The next dialog of this Run needs the unchanged plan.
  page.once("framenavigated", () => {
    void page.unroute(path)
    void page.unroute(`${path}/approvals`)
  })
}

const review = { path: `/w/acme/runs/${reviewRun}`, ready: ".decision" }

/** Run and update dialogs. */
export const runDialogs: ReadonlyArray<OpenedDialog> = [
  { source: "screens/run/ApproveDialog.tsx", ...review, open: (page) => page.locator(".button-danger").click() },
  { source: "screens/run/CancelDialog.tsx", ...review, open: button((to) => decisionWords[to].discard) },
  {
    source: "screens/run/CancelDialog.tsx",
    path: `/w/acme/runs/${applyRun}`,
    ready: ".resource",
    open: button((to) => decisionWords[to].cancel)
  },
  {
    source: "screens/run/ChangeReview.tsx#ApproveChange",
    ...review,
    open: async (page, language) => {
      await speculative(page)
      await button((to) => changeReviewWords[to].approve)(page, language)
    }
  },
  {
    source: "screens/run/ChangeReview.tsx#ChangeApprovals",
    ...review,
    open: async (page, language) => {
      await speculative(page)
      await button((to) => changeReviewWords[to].withdraw)(page, language)
    }
  },
  { source: "screens/run/Discussion.tsx", ...review, open: button((to) => discussionWords[to].remove) },
  {
    source: "screens/update/UpdateScreen.tsx",
    path: `/w/acme/updates/${waitingUpdate.id}`,
    ready: ".row-static",
    open: button((to) => updateWords[to].cancel)
  },
  {
    source: "screens/run/AgentStanding.tsx",
    path: `/w/acme/runs/${applyRun}`,
    ready: ".timeline",
    open: async (page, language) => {
      await lostAgent(page)
      await button((to) => agentRunWords[to].release)(page, language)
    }
  }
]
