import { describe, expect, test } from "bun:test"
import { agentRunWords } from "../../src/dashboard/screens/run/AgentWords.ts"
import { queueWords } from "../../src/dashboard/screens/run/QueueWords.ts"
import { diagnosisWords } from "../../src/dashboard/screens/run/DiagnosisWords.ts"
import { agentWords } from "../../src/dashboard/screens/workspace/AgentWords.ts"
import { applyingAgent } from "./support/records/Agents.ts"
import { ago } from "./support/records/Seeds.ts"
import { applyRun, queuedRun } from "./support/records/Runs.ts"
import { newWorld, type World } from "./support/routes/World.ts"
import { barriers, browserSuite, darkJapanese, lightEnglish, phone } from "./support/Suite.ts"

const suite = browserSuite()
const looks = [lightEnglish, darkJapanese, { ...darkJapanese, ...phone, language: "ja" as const }]

const withRun = (id: string, more: Partial<World["runs"][number]>): World => {
  const world = newWorld()
  world.runs = world.runs.map((run) => (run.id === id ? { ...run, ...more } : run))
  return world
}

describe("Workspace agents", () => {
  for (const look of looks) {
    test(`the agents page shows each agent's state, tools and work, by pool (${look.language}, ${look.width ?? 1440} px)`, async () => {
      const words = agentWords[look.language]
      const { page, faults, go } = await suite.visit(look)
      await go("/w/acme/settings/agents", ".agent-row")
      const row = (name: string) => page.getByTestId(`agent-${name}`)
      const first = row("build-1")
      await first.getByText("zone=eu-west-1a").waitFor()
      await first.getByText(words.placesOf(1, 2)).waitFor()
      await first.getByText("OpenTofu 1.12.3").waitFor()
      await first.getByText("0.1.0 · linux_amd64").waitFor()
      await first.getByText(words.statuses.connected).waitFor()
      await row("build-2").getByText(words.statuses.draining).waitFor()
      expect(await row("build-2").innerText()).toContain(words.diskLow)
      await row("build-3").getByText(words.statuses.silent).waitFor()
      // The second pool has no agents.
      await page.getByText(words.agentsNone).waitFor()
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
      expect(await barriers(page)).toEqual([])
      expect(faults).toEqual([])
    })
  }

  test("if the server executes all Runs itself, the agents page shows that there are no agents", async () => {
    const world = newWorld()
    world.pools = []
    const { page, faults, go } = await suite.visit(lightEnglish, world)
    await go("/w/acme/settings/agents", ".empty")
    await page.getByText(agentWords.en.noneTitle).waitFor()
    expect(await barriers(page)).toEqual([])
    expect(faults).toEqual([])
  })
})

describe("Pool runs", () => {
  for (const look of looks) {
    test(`a waiting Run shows the reason why no agent can execute it, and links to the agents (${look.language}, ${look.width ?? 1440} px)`, async () => {
      const words = queueWords[look.language]
      const world = withRun(queuedRun, {
        pool: "eu-west",
        queue: {
          position: 1,
          pool: "agents",
          reason: "no_agent",
          message: "No agent.",
          missing: [{ property: "tool", needed: "OpenTofu 1.9.0" }, { property: "disk" }]
        }
      })
      const { page, faults, go } = await suite.visit(look, world)
      await go(`/w/acme/runs/${queuedRun}`, ".notice-info")
      await page.getByText(words.missing.tool("OpenTofu 1.9.0")).waitFor()
      await page.getByText(words.missing.disk()).waitFor()
      await page.getByRole("link", { name: words.openAgents }).press("Enter")
      await page.locator(".agent-row").first().waitFor()
      expect(faults).toEqual([])
    })

    test(`a run being applied shows when its state was last saved (${look.language}, ${look.width ?? 1440} px)`, async () => {
      const words = agentRunWords[look.language]
      const { page, faults, go } = await suite.visit(look, withRun(applyRun, applyingAgent()))
      await go(`/w/acme/runs/${applyRun}`, ".timeline")
      await page.getByText(words.atRisk(6)).waitFor()
      await page.getByText(new RegExp(words.serial(4))).waitFor()
      await page.locator(".split-side").getByText("build-1").waitFor()
      expect(await page.getByText(words.unreachable("build-1")).count()).toBe(0)
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
      expect(await barriers(page)).toEqual([])
      expect(faults).toEqual([])
    })

    test(`a person can release a run with a silent agent by keyboard after confirming the release (${look.language}, ${look.width ?? 1440} px)`, async () => {
      const words = agentRunWords[look.language]
      const agent = applyingAgent({ givenUpAt: new Date(Date.now() + 2_400_000).toISOString() })
      const world = withRun(applyRun, { ...agent, agentUnreachableSince: ago(3) })
      const { page, api, faults, go } = await suite.visit(look, world)
      await go(`/w/acme/runs/${applyRun}`, ".notice-warn")
      await page.getByText(words.unreachable("build-1")).waitFor()
      await page.getByText(words.applyGoesOn).waitFor()
      expect(await barriers(page)).toEqual([])
      await page.getByRole("button", { name: words.release }).press("Enter")
      const dialog = page.getByRole("dialog")
      await dialog.getByText(words.risk).waitFor()
      expect(await barriers(page)).toEqual([])
      const confirm = dialog.getByRole("button", { name: words.releaseAction, exact: true })
      const name = dialog.locator("input[type=text], input:not([type])").last()
      await name.fill("storefront")
      expect(await confirm.isDisabled()).toBe(true)
      await dialog.getByLabel(words.isDead).press("Space")
      await dialog.locator("textarea").fill("The machine was deleted.")
      await name.press("Enter")
      await dialog.waitFor({ state: "detached" })
      expect(api.changes.map(({ body, method, path }) => [method, path, body])).toEqual([
        ["POST", `/api/v1/runs/${applyRun}/release`, { fence: 3, toolIsDead: true, reason: "The machine was deleted." }]
      ])
      // Because the agent is lost, the page lists objects that may exist, and results that may still arrive.
      await page.getByText(diagnosisWords[look.language].advice.agent).waitFor()
      expect(faults).toEqual([])
    })
  }

  test("the page of a run whose agent was lost shows that the outcome is unknown", async () => {
    const world = withRun(applyRun, {
      pool: "eu-west",
      status: "failed",
      finishedAt: ago(0),
      error: { code: "agent_lost", message: "The agent was not heard of." },
      possiblyCreated: ["aws_lb_listener_rule.green"]
    })
    world.capsules = world.capsules.map((capsule) => ({ ...capsule, runtimeSafety: "unknown" as const }))
    const { page, go } = await suite.visit(lightEnglish, world)
    await go(`/w/acme/runs/${applyRun}`, ".diagnosis")
    await page.getByText(diagnosisWords.en.possiblyLost).waitFor()
    await page.getByText(diagnosisWords.en.unsafeTitle).waitFor()
    await page.locator(".resource").first().waitFor()
    expect(await page.locator(".resource-waiting").count()).toBe(0)
  })

  test("a run is not released if another agent claims the run while the dialog is open", async () => {
    const world = withRun(applyRun, { ...applyingAgent(), agentUnreachableSince: ago(3) })
    const { page, go } = await suite.visit(lightEnglish, world)
    await go(`/w/acme/runs/${applyRun}`, ".notice-warn")
    await page.getByRole("button", { name: agentRunWords.en.release }).click()
    const dialog = page.getByRole("dialog")
    world.runs = world.runs.map((run) => (run.id === applyRun ? { ...run, ...applyingAgent({ fence: 4 }) } : run))
    await dialog.getByLabel(agentRunWords.en.isDead).check()
    await dialog.locator("input[type=text], input:not([type])").last().fill("storefront")
    await dialog.getByRole("button", { name: agentRunWords.en.releaseAction, exact: true }).click()
    await dialog.getByText("The Run was claimed anew meanwhile").waitFor()
  })

  test("the page of a plan with a silent agent shows that the plan will be abandoned automatically and cannot be released", async () => {
    const { state: _none, ...agent } = applyingAgent().agent ?? { id: "", name: "", fence: 0, leaseSeconds: 0 }
    const world = withRun(applyRun, { type: "plan", pool: "eu-west", agent, agentUnreachableSince: ago(0.7) })
    const { page, go } = await suite.visit(lightEnglish, world)
    await go(`/w/acme/runs/${applyRun}`, ".notice-warn")
    await page.getByText(agentRunWords.en.planGivenUp).waitFor()
    expect(await page.getByRole("button", { name: agentRunWords.en.release }).count()).toBe(0)
  })

  test("only an admin can release a run", async () => {
    const world = withRun(applyRun, { ...applyingAgent(), agentUnreachableSince: ago(3) })
    const { page, go } = await suite.visit(lightEnglish, world)
    await page.route("**/api/v1/dashboard/bootstrap*", async (route) => {
      const answer = await route.fetch()
      const text = (await answer.text()).replaceAll('"role":"owner"', '"role":"member"')
      await route.fulfill({ response: answer, body: text })
    })
    await go(`/w/acme/runs/${applyRun}`, ".notice-warn")
    await page.getByText(agentRunWords.en.adminOnly).waitFor()
    expect(await page.getByRole("button", { name: agentRunWords.en.release }).count()).toBe(0)
  })
})
