import { describe, expect, test } from "bun:test"
import { browserSuite, darkJapanese } from "./support/Suite.ts"

const suite = browserSuite()

describe("notices", () => {
  test("an admin adds a notice endpoint, sees its secret once, and reads its log", async () => {
    const { faults, go, page } = await suite.visit()
    const sent: Array<string> = []
    page.on("request", (request) => {
      if (request.method() === "POST") sent.push(request.postData() ?? "")
    })
    await go("/w/acme/settings/notices", ".row-static")
    await page.getByText("disabled after five days of failed deliveries").waitFor()
    await page.getByRole("button", { name: "Add endpoint" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Name", { exact: true }).fill("ops")
    await dialog.getByLabel(/^Address/).fill("https://hooks.example.com/svc")
    await dialog.getByLabel("A plan was applied").check()
    await dialog.getByLabel(/^Only these environments/).fill("production, staging")
    await dialog.getByRole("button", { name: "Add endpoint" }).click()
    await page.getByText("whsec_shown-once").waitFor()
    expect(JSON.parse(sent[0] ?? "")).toMatchObject({
      name: "ops",
      address: "https://hooks.example.com/svc",
      format: "json",
      kinds: expect.arrayContaining(["run.waiting_approval", "run.applied"]),
      filter: { environments: ["production", "staging"] }
    })
    await page.getByRole("button", { name: "I have saved it" }).click()
    await page.getByRole("button", { name: "Log" }).first().click()
    await page.getByRole("dialog").getByText("refused (503)").waitFor()
    expect(faults).toEqual([])
  })

  test("a person chooses the notices to receive by email, in Japanese", async () => {
    const { faults, go, page } = await suite.visit(darkJapanese)
    const sent: Array<string> = []
    page.on("request", (request) => {
      if (request.method() === "PUT") sent.push(request.postData() ?? "")
    })
    await go("/account", ".feature")
    const applied = page.getByLabel("プランが適用されました", { exact: true })
    expect(await applied.isChecked()).toBe(false)
    await applied.click()
    await page.getByText("保存しました", { exact: true }).waitFor()
    expect(sent.map((body) => JSON.parse(body))).toEqual([{ kinds: ["run.waiting_approval", "run.applied"] }])
    expect(faults).toEqual([])
  })
})
