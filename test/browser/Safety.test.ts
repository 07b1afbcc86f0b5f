import { describe, expect, test } from "bun:test"
import { contentSecurityPolicy } from "../../src/dashboard/Assets.ts"
import { compiledBinary } from "./support/ServerProcess.ts"
import { newWorld } from "./support/routes/World.ts"
import { storefrontId } from "./support/records/Capsules.ts"
import { planChanges } from "./support/records/PlanChanges.ts"
import { applyRun, failedRun, reviewRun } from "./support/records/Runs.ts"
import { browserSuite } from "./support/Suite.ts"

const suite = browserSuite()

const fire = "globalThis.__canary=(globalThis.__canary??0)+1"
const payloads = [
  "\u202egnp.exe\u200b",
  `<img src=x onerror="${fire}">`,
  `"><script>${fire}</script>`,
  `<svg onload="${fire}"></svg>`,
  `javascript:${fire}`,
  "{{7*7}}${7*7}",
  `</script><script>${fire}</script>\u2028${fire}`
].join(" ")

const poisoned = () => {
  const world = newWorld()
  world.capsules = world.capsules.map((capsule) => ({
    ...capsule,
    name: payloads,
    environment: payloads,
    modulePath: payloads,
    publicEndpoint: `javascript:${fire}`
  }))
  world.sources = world.sources.map((source) => ({
    ...source,
    name: payloads,
    url: `https://x.example/${payloads}`,
    defaultRef: payloads,
    defaultPath: payloads
  }))
  world.connections = world.connections.map((connection) => ({
    ...connection,
    displayName: payloads,
    provider: payloads,
    envNames: [payloads]
  }))
  world.outputs = world.outputs.map((output) => ({ ...output, name: payloads, value: `javascript:${fire}` }))
  world.resources = world.resources.map((resource) => ({ ...resource, address: payloads, id: payloads }))
  world.runs = world.runs.map((run) => ({
    ...run,
    createdBy: payloads,
    resolvedCommit: payloads,
    ...(run.resourceChanges === undefined
      ? {}
      : {
          resourceChanges: planChanges.map((change) => ({
            ...change,
            address: payloads,
            type: payloads,
            changedAttributes: [{ name: payloads, before: payloads, after: payloads }]
          }))
        }),
    ...(run.error === undefined ? {} : { error: { code: payloads, message: payloads } }),
    ...(run.diagnostics === undefined
      ? {}
      : {
          diagnostics: [
            { severity: "error" as const, summary: payloads, detail: payloads, address: payloads, path: payloads }
          ]
        })
  }))
  const words = { en: payloads, ja: payloads }
  world.presentation = {
    inputs: [{ name: "domain", label: words, helper: words, placeholder: payloads.slice(0, 256) }],
    features: [{ id: "x", optional: true, label: words, inputs: ["domain"] }]
  }
  return world
}

describe("Untrusted text", () => {
  test.each([
    "/w/acme",
    "/w/acme/capsules",
    `/w/acme/capsules/${storefrontId}`,
    `/w/acme/capsules/${storefrontId}/configuration`,
    `/w/acme/capsules/${storefrontId}/resources`,
    "/w/acme/runs",
    `/w/acme/runs/${reviewRun}`,
    `/w/acme/runs/${failedRun}`,
    `/w/acme/runs/${applyRun}`,
    "/w/acme/sources",
    "/w/acme/sources/src_0000000000000001",
    "/w/acme/connections",
    "/w/acme/graph",
    `/new?git=${encodeURIComponent("https://x.example/y")}&name=${encodeURIComponent(payloads.slice(0, 70))}`
  ])("untrusted text runs nothing and hides nothing on %s", async (path) => {
    const { page, api, faults, go } = await suite.visit(undefined, poisoned())
    await go(path, "h1")
    api.emitLog(applyRun, [payloads, `\u001b]8;;javascript:${fire}\u001b\\link\u001b]8;;\u001b\\`])
    await page.locator(".skeleton").first().waitFor({ state: "detached" })
    if (path.endsWith(applyRun)) await page.locator(".log-text", { hasText: "{{7*7}}" }).first().waitFor()
    expect(await page.evaluate(() => Reflect.get(globalThis, "__canary"))).toBeUndefined()
    const shown = await page.evaluate(() => `${document.title} ${document.body.textContent}`)
    expect(shown).not.toMatch(/[\p{Bidi_Control}\u200b\u2028]/u)
    expect(await page.locator('a[href^="javascript:"], main img, main iframe, main script').count()).toBe(0)
    expect(faults).toEqual([])
  })

  test("untrusted text becomes a link only when it is an https address", async () => {
    const { page, go } = await suite.visit()
    await go(`/w/acme/capsules/${storefrontId}`, ".outputs dd")
    const links = await page
      .locator(".outputs .output-link, .endpoint a")
      .evaluateAll((all) => all.map((link) => link.getAttribute("href")))
    expect(links).toEqual(["https://shop.acme.example/", "https://shop.acme.example/"])
    expect(await page.locator(".outputs a").first().getAttribute("rel")).toContain("noopener")
    await page.getByText("javascript:alert(1)").waitFor()
  })
})

describe("secrets", () => {
  test("the browser never stores secrets typed into the install form", async () => {
    const { page, go } = await suite.visit()
    await go("/new", "input[type=url]")
    await page.getByLabel("Git address").fill("https://git.acme.example/infra/platform.git")
    await page.getByRole("button", { name: "Read the repository" }).click()
    await page.getByRole("radio", { name: /modules\/service/ }).check()
    await page.getByLabel("Session key").fill("canary-secret-value")
    await page.getByLabel("Domain").fill("shop.example.com")
    const kept = await page.evaluate(() =>
      JSON.stringify([{ ...sessionStorage }, { ...localStorage }, location.href, history.state])
    )
    expect(kept).toContain("shop.example.com")
    expect(kept).not.toContain("canary-secret-value")
  })

  test("the page removes the setup link's secrets from the address bar before it does anything else", async () => {
    const { page, go } = await suite.visit()
    await go("/setup#right-secret", "input[type=password]")
    await page.waitForFunction(() => location.hash === "")
    expect(page.url()).not.toContain("right-secret")
    await page.reload()
    await page.locator("input[type=password]").waitFor()
    expect(page.url()).not.toContain("right-secret")
  })
})

describe("every document", () => {
  test("every document has the policy that blocks content from other sites", async () => {
    const { page, api } = await suite.visit()
    for (const path of ["/sign-in", "/setup", "/new", "/w/acme", "/account"]) {
      const answer = await page.request.get(`${api.origin}${path}`)
      expect(answer.headers()["content-security-policy"]).toBe(contentSecurityPolicy)
      expect(answer.headers()["x-content-type-options"]).toBe("nosniff")
      // Only a real server sends this header, so the test checks the header only if it runs against a compiled binary.
      if (compiledBinary() !== undefined) expect(answer.headers()["x-request-id"]).toMatch(/^req_/)
    }
  })

  test("this suite detects a violation of the content policy", async () => {
    const { page, faults, go } = await suite.visit()
    await go("/sign-in", "input[type=password]")
    await page.evaluate(
      () =>
        new Promise<void>((resolve) => {
          document.addEventListener("securitypolicyviolation", () => resolve())
          document.body.append(Object.assign(document.createElement("script"), { text: "1" }))
        })
    )
    expect(faults.some((fault) => fault.includes("script-src"))).toBe(true)
  })
})
