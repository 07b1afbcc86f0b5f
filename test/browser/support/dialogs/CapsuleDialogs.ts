import type { Route } from "playwright-core"
import { exportWords } from "../../../../src/dashboard/screens/capsule/ExportWords.ts"
import { importConfirmationWords } from "../../../../src/dashboard/screens/capsule/ImportConfirmationWords.ts"
import { reAdoptionWords } from "../../../../src/dashboard/screens/capsule/ReAdoptionWords.ts"
import { releaseWords } from "../../../../src/dashboard/screens/capsule/ReleaseWords.ts"
import { capsuleWords } from "../../../../src/dashboard/screens/capsule/Words.ts"
import { orphanedStateWords } from "../../../../src/dashboard/screens/left-over/OrphanedStateWords.ts"
import { storefrontId, unconfirmedImport } from "../records/Capsules.ts"
import { failedRun } from "../records/Runs.ts"
import { button, remove, type OpenedDialog } from "./DialogActions.ts"

/** Responds as if the Capsule had been imported from another installation and not confirmed yet. */
const imported = async (route: Route) => {
  const answer: { readonly capsule: object } = await (await route.fetch()).json()
  await route.fulfill({ json: { capsule: { ...answer.capsule, ...unconfirmedImport } } })
}

const capsule = `/w/acme/capsules/${storefrontId}`
const dependencies = { path: `${capsule}/dependencies`, ready: ".row-static" }

/** Capsule dialogs. */
export const capsuleDialogs: ReadonlyArray<OpenedDialog> = [
  {
    source: "screens/capsule/Dependencies.tsx#NewDependency",
    ...dependencies,
    open: button((to) => capsuleWords[to].depAdd)
  },
  { source: "screens/capsule/Dependencies.tsx#Remove", ...dependencies, open: button(remove) },
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
    source: "screens/capsule/Export.tsx#ExportDialog",
    path: `${capsule}/danger`,
    ready: ".panel-danger",
    open: button((to) => exportWords[to].export)
  },
  {
    source: "screens/capsule/ImportConfirmation.tsx#ConfirmDialog",
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
    ready: ".inputs",
    open: button((to) => reAdoptionWords[to].start)
  },
  {
    source: "screens/capsule/Rollback.tsx",
    path: `${capsule}/state`,
    ready: ".row",
    open: button((to) => capsuleWords[to].rollback)
  },
  {
    source: "screens/left-over/OrphanedStateList.tsx",
    path: "/w/acme/capsules/cap_0000000000000003",
    ready: ".notice-warn",
    open: button((to) => orphanedStateWords[to].adopt)
  },
  {
    source: "screens/left-over/OrphanedStateList.tsx",
    path: `/w/acme/runs/${failedRun}`,
    ready: ".diagnosis",
    open: button((to) => orphanedStateWords[to].discard)
  }
]
