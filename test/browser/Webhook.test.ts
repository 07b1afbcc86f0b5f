import { describe, expect, test } from "bun:test"
import { browserSuite } from "./support/Suite.ts"

const suite = browserSuite()
const source = "/w/acme/sources/src_0000000000000001"

describe("Webhook secrets", () => {
  test("a source's webhook secret is renewed after confirmation and shown only once", async () => {
    const { page, api, faults, go } = await suite.visit()
    await go(source, ".row-static")
    await page.getByText("Made with the source").waitFor()
    await page.getByRole("button", { name: "Renew secret" }).click()
    const question = page.getByRole("dialog", { name: "Renew the webhook secret?" })
    await question.getByText("remains valid until the Git server uses the new secret").waitFor()
    await question.getByRole("button", { name: "Cancel" }).click()
    await question.waitFor({ state: "detached" })
    expect(api.changes).toEqual([])

    await page.getByRole("button", { name: "Renew secret" }).click()
    await question.getByRole("button", { name: "Renew", exact: true }).click()
    const answer = page.getByRole("dialog", { name: "The new webhook secret" })
    await answer.getByText("renewed-secret-2", { exact: true }).waitFor()
    await answer.getByText("whsec_renewed+secret+2").waitFor()
    expect(api.changes.map(({ path, body }) => [path, body])).toEqual([
      ["/api/v1/sources/src_0000000000000001/hook-secret", { hookSecretVersion: 1 }]
    ])
    await answer.getByRole("button", { name: "Done" }).click()
    await answer.waitFor({ state: "detached" })
    await page.getByText("Renewed", { exact: false }).first().waitFor()
    expect(await page.content()).not.toContain("renewed-secret-2")
    const kept = await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }, history.state]))
    expect(kept).not.toContain("renewed-secret-2")
    expect(faults).toEqual([])
  })

  test("renewing a source's webhook secret does not overwrite a newer secret", async () => {
    const { page, api, go } = await suite.visit()
    await go(source, ".row-static")
    await page.getByRole("button", { name: "Renew secret" }).click()
    api.world.sources = api.world.sources.map((each) => ({ ...each, hookSecretVersion: 2 }))
    const question = page.getByRole("dialog", { name: "Renew the webhook secret?" })
    await question.getByRole("button", { name: "Renew", exact: true }).click()
    await question.getByText("Somebody has renewed the secret since").waitFor()
  })

  test("a source's webhook page shows the steps for the selected Git server", async () => {
    const { page, faults, go } = await suite.visit()
    await go(source, ".row-static")
    const forge = page.getByLabel("Git server")
    await forge.selectOption({ label: "GitHub" })
    await page.getByText("Paste the address as Payload URL", { exact: false }).waitFor()
    await forge.selectOption({ label: "Azure DevOps" })
    await page.getByText("password of basic authentication", { exact: false }).waitFor()
    await page.getByText("docs/webhooks/azure-devops.md").waitFor()
    expect(await page.getByText("Payload URL", { exact: false }).count()).toBe(0)
    expect(faults).toEqual([])
  })

  test("a source's webhook secret is hidden from viewers", async () => {
    const { page, go } = await suite.visit()
    await page.route("**/dashboard/bootstrap", async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, body: (await response.text()).replace('"role":"owner"', '"role":"viewer"') })
    })
    await go(source, ".row-static")
    expect(await page.getByRole("button", { name: "Renew secret" }).count()).toBe(0)
  })
})

describe("a source", () => {
  test("a source cannot be removed while capsules use it", async () => {
    const { page, go } = await suite.visit()
    await go(source, ".panel-danger")
    await page.getByText("Capsules use this source.").waitFor()
    expect(await page.getByRole("button", { name: "Remove source" }).count()).toBe(0)
  })

  test("a source is removed after confirmation once nothing uses it", async () => {
    const { page, api, faults, go } = await suite.visit()
    await go("/w/acme/sources/src_0000000000000003", ".panel-danger")
    await page.getByRole("button", { name: "Remove source" }).click()
    await page
      .getByRole("dialog", { name: "Remove old website?" })
      .getByRole("button", { name: "Remove source" })
      .click()
    await page.getByRole("heading", { level: 1, name: "Sources" }).waitFor()
    await page.getByText("old website").waitFor({ state: "detached" })
    expect(api.changes.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "DELETE /api/v1/sources/src_0000000000000003"
    ])
    expect(faults).toEqual([])
  })
})
