import { describe, expect, test } from "bun:test"
import { lapsed } from "./support/records/Approvals.ts"
import { reviewRun } from "./support/records/Runs.ts"
import { newWorld } from "./support/routes/World.ts"
import { browserSuite, darkJapanese } from "./support/Suite.ts"

const suite = browserSuite()
const review = `/w/acme/runs/${reviewRun}`

describe("approval rules", () => {
  test("the review lists given and missing approvals, and offers an approval only if it would count", async () => {
    const world = newWorld()
    world.approvals = lapsed
    const { faults, go, page } = await suite.visit(undefined, world)
    await go(review, "[data-testid=approvals]")
    const standing = page.getByTestId("approvals")
    await standing.getByText("2 more approvals are needed: admins and owners, team sre.").waitFor()
    await standing.getByText("It does not count: the role does not allow it.").waitFor()
    await standing.getByText("fine by me").waitFor()
    await standing.getByText("Your approval would not count: started this plan.").waitFor()
    await standing.getByText(/^Authors of this plan, whose approval does not count: .* \(started it\)\.$/).waitFor()
    expect(await page.getByTestId("decision").getByRole("button").first().isDisabled()).toBe(true)
    expect(faults).toEqual([])
  })

  test("the review shows approvals in Japanese", async () => {
    const world = newWorld()
    world.approvals = lapsed
    const { faults, go, page } = await suite.visit(darkJapanese, world)
    await go(review, "[data-testid=approvals]")
    await page
      .getByTestId("approvals")
      .getByText("チーム sre の管理者またはオーナーの承認が、あと 2 件必要です。")
      .waitFor()
    expect(faults).toEqual([])
  })

  test("the first of two approvals does not apply the plan, and the page explains this", async () => {
    const world = newWorld()
    world.approvals = (run) => ({ ...lapsed(run), approvals: [], state: "waiting", own: { status: "counts" } })
    const { go, page } = await suite.visit(undefined, world)
    const asked: Array<string> = []
    page.on("request", (request) => {
      if (request.method() !== "GET") asked.push(new URL(request.url()).pathname)
    })
    await go(review, "[data-testid=approvals]")
    await page.getByTestId("decision").getByRole("button").first().click()
    const dialog = page.getByRole("dialog")
    const typed = dialog.getByLabel(/^Type .* to confirm/)
    if ((await typed.count()) > 0) await typed.fill("storefront")
    await dialog.locator("button[type=submit]").click()
    await page.getByText("Approved. The plan waits for further approvals and was not applied.").waitFor()
    expect(asked.filter((path) => path.startsWith("/api/"))).toEqual([`/api/v1/runs/${reviewRun}/approve`])
  })

  test("a rule and a team can be added with only the keyboard", async () => {
    const { faults, go, page } = await suite.visit()
    const sent: Array<string> = []
    page.on("request", (request) => {
      if (request.method() === "POST") sent.push(request.postData() ?? "")
    })
    await go("/w/acme/settings/approvals", ".row-static")
    await page.getByRole("button", { name: "Add rule" }).focus()
    await page.keyboard.press("Enter")
    await page
      .getByRole("dialog")
      .getByLabel(/^Environment/)
      .focus()
    await page.keyboard.type("production")
    await page.keyboard.press("Enter")
    await page.getByRole("dialog").waitFor({ state: "detached" })
    await page.getByRole("button", { name: "Create team" }).focus()
    await page.keyboard.press("Enter")
    await page.getByRole("dialog").getByLabel(/^Name/).focus()
    await page.keyboard.type("dba")
    const dialog = page.getByRole("dialog")
    const addGrant = dialog.getByRole("button", { name: "Add a role" })
    await addGrant.focus()
    await page.keyboard.press("Enter")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Enter")
    const first = dialog.getByRole("group", { name: "Role 1" })
    await first.getByLabel("Role that it adds").focus()
    await page.keyboard.press("ArrowDown")
    await first.getByLabel(/^In the environment/).focus()
    await page.keyboard.type("production")
    await dialog.getByRole("button", { name: "Remove role 2" }).focus()
    await page.keyboard.press("Enter")
    await dialog.getByRole("group", { name: "Role 3" }).waitFor({ state: "detached" })
    await dialog.getByLabel(/^Name/).focus()
    await page.keyboard.press("Enter")
    await page.getByRole("dialog").waitFor({ state: "detached" })
    expect(sent.filter((body) => body.startsWith("{")).map((body) => JSON.parse(body))).toEqual([
      {
        environment: "production",
        projectId: null,
        approvers: 1,
        role: "admin",
        teamId: null,
        planAuthorCounts: false,
        commitAuthorCounts: true,
        automationCounts: false,
        carryOver: "off"
      },
      {
        name: "dba",
        members: [],
        grants: [{ role: "admin", environment: "production" }, { role: "member" }]
      }
    ])
    expect(faults).toEqual([])
  })
})
