import { describe, expect, test } from "bun:test"
import { gitHubAppWords } from "../../src/dashboard/screens/connections/GitHubAppWords.ts"
import { connectionWords } from "../../src/dashboard/screens/connections/Words.ts"
import { barriers, browserSuite, darkJapanese, lightEnglish } from "./support/Suite.ts"

const suite = browserSuite()
const screen = "/w/acme/connections"

const older = "conn_0000000000000004"

describe("Git connections", () => {
  test("Git connections show where their values may be sent", async () => {
    const { page, faults, go } = await suite.visit()
    await go(screen, ".row-connection")
    await page.getByText("https://git.acme.example", { exact: true }).waitFor()
    await page.getByText("Sent to no Git server until its origins are confirmed.").waitFor()
    expect(await page.getByRole("button", { name: "Confirm origins" }).count()).toBe(1)
    expect(faults).toEqual([])
  })

  test("Git connections are created with their origins", async () => {
    const { page, api, faults, go } = await suite.visit()
    await go(screen, ".row-connection")
    await page.getByRole("button", { name: "New connection" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Purpose").selectOption("git-https-token")
    await dialog.getByLabel("Name", { exact: true }).fill("Team")
    await dialog.getByLabel("Token").fill("hunter2")
    await dialog.getByLabel("May be sent to").fill("https://git.example.com/team/\nhttps://git.example.org")
    await dialog.getByRole("button", { name: "Save" }).click()
    await dialog.waitFor({ state: "detached" })
    expect(api.changes).toMatchObject([
      {
        path: "/api/v1/connections",
        body: { kind: "git_https", origins: ["https://git.example.com/team/", "https://git.example.org"] }
      }
    ])
    expect(faults).toEqual([])
  })

  test("a Git connection can be created where a repository is entered, with the server prefilled", async () => {
    const { page, api, faults, go } = await suite.visit()
    await go("/w/acme/sources", "main")
    await page.getByRole("button", { name: "Add a source" }).first().click()
    const form = page.getByRole("dialog").first()
    await form.getByRole("textbox").first().fill("https://git.example.com/team/app.git")
    await form.getByRole("button", { name: "New connection" }).click()
    const dialog = page.getByRole("dialog").last()
    expect(await dialog.getByLabel("May be sent to").inputValue()).toBe("https://git.example.com")
    await dialog.getByLabel("Name", { exact: true }).fill("App")
    await dialog.getByLabel("Token").fill("hunter2")
    await dialog.getByRole("button", { name: "Save" }).click()
    await dialog.getByLabel("May be sent to").waitFor({ state: "detached" })
    // Creating the connection does not create the Source.
    expect(api.changes.map(({ path }) => path)).toEqual(["/api/v1/connections"])
    expect(faults).toEqual([])
  })

  for (const look of [lightEnglish, darkJapanese])
    test(`the origins of Git connections from an earlier release are confirmed individually (${look.language})`, async () => {
      const { page, api, faults, go } = await suite.visit(look)
      await go(screen, ".row-connection")
      const confirm = look.language === "en" ? "Confirm origins" : "送信先を確認"
      await page.getByRole("button", { name: confirm }).click()
      const dialog = page.getByRole("dialog")
      await dialog.getByText("https://git.stranger.example/handy.git").waitFor()
      const allowed = dialog.getByRole("checkbox")
      expect(await allowed.evaluateAll((boxes) => boxes.filter((box) => box.matches(":checked")).length)).toBe(0)
      expect(await dialog.getByRole("button", { name: confirm }).isDisabled()).toBe(true)
      await allowed.first().check()
      await dialog.getByRole("textbox").fill("https://git.acme.example/infrastructure.git")
      expect(await barriers(page)).toEqual([])
      await dialog.getByRole("button", { name: confirm }).click()
      await dialog.waitFor({ state: "detached" })
      expect(api.changes).toEqual([
        {
          method: "POST",
          path: `/api/v1/connections/${older}/origins/confirm`,
          body: { origins: ["https://git.acme.example/infrastructure.git"] }
        }
      ])
      expect(faults).toEqual([])
    })
})

describe("Forge connections", () => {
  for (const look of [lightEnglish, darkJapanese])
    test(`a connection can be created by keyboard from a GitHub App and its address (${look.language})`, async () => {
      const { page, api, faults, go } = await suite.visit(look)
      const { [look.language]: words } = connectionWords
      await go(screen, ".row-connection")
      await page.getByRole("button", { name: words.create }).press("Enter")
      const dialog = page.getByRole("dialog")
      await dialog.getByLabel(words.recipe).selectOption("forge-github")
      // The form suggests GitHub's own address. An Enterprise Server has another address.
      expect(await dialog.getByLabel(words.origins).inputValue()).toBe("https://github.com")
      await dialog.getByLabel(words.origins).fill("https://github.acme.example")
      await dialog.getByLabel(words.displayName, { exact: true }).fill("Comments")
      await dialog.getByRole("textbox", { name: /App id|App ID/ }).fill("123456")
      await dialog.getByRole("textbox", { name: /Installation id|インストール ID/ }).fill("7890123")
      await dialog.getByRole("textbox", { name: /PEM/ }).fill("-----BEGIN RSA PRIVATE KEY-----")
      expect(await barriers(page)).toEqual([])
      await dialog.locator('button[type="submit"]').press("Enter")
      await dialog.waitFor({ state: "detached" })
      expect(api.changes).toMatchObject([
        {
          path: "/api/v1/connections",
          body: {
            kind: "forge",
            provider: "github",
            authMode: "app",
            displayName: "Comments",
            origins: ["https://github.acme.example"],
            values: { app_id: "123456", installation_id: "7890123" },
            files: [{ name: "private-key.pem", content: "-----BEGIN RSA PRIVATE KEY-----" }]
          }
        }
      ])
      expect(faults).toEqual([])
    })
})

describe("Forge connections without a typed key", () => {
  for (const look of [lightEnglish, darkJapanese])
    test(`svc can create a GitHub App for a person who uses only the keyboard (${look.language})`, async () => {
      const { page, api, faults, go } = await suite.visit(look)
      const { [look.language]: words } = connectionWords
      const { [look.language]: own } = gitHubAppWords
      await go(screen, ".row-connection")
      await page.getByRole("button", { name: words.create }).press("Enter")
      const dialog = page.getByRole("dialog")
      await dialog.getByLabel(words.recipe).selectOption("forge-github")
      await dialog.getByLabel(words.origins).fill("https://github.acme.example")
      await dialog.getByLabel(words.displayName, { exact: true }).fill("Comments")
      await dialog.getByRole("textbox", { name: new RegExp(own.organization) }).fill("acme")
      expect(await barriers(page)).toEqual([])
      await dialog.getByRole("button", { name: own.create }).press("Enter")
      await page.getByText(/is connected\.|に接続しました。/).waitFor()
      expect(api.changes).toMatchObject([
        {
          path: "/api/v1/connections/github-app/start",
          body: { origin: "https://github.acme.example", organization: "acme", displayName: "Comments" }
        }
      ])
      expect(faults).toEqual([])
    })
})

describe("Pool connections", () => {
  for (const look of [lightEnglish, darkJapanese])
    test(`a pool connection can be created by keyboard without a value (${look.language})`, async () => {
      const { page, api, faults, go } = await suite.visit(look)
      const isEnglish = look.language === "en"
      await go(screen, ".row-connection")
      await page.getByRole("button", { name: isEnglish ? "New connection" : "新しい接続" }).press("Enter")
      const dialog = page.getByRole("dialog")
      const place = dialog.getByLabel(isEnglish ? "Where its values are" : "値の保管場所")
      await place.selectOption("eu-west/aws-production")
      // The page has no field where a secret could be typed.
      expect(await dialog.locator('input[type="password"]').count()).toBe(0)
      expect(await barriers(page)).toEqual([])
      const fields = dialog.getByRole("textbox")
      await fields.nth(0).fill("hashicorp/aws")
      await fields.nth(1).fill("Production")
      await dialog.locator('button[type="submit"]').press("Enter")
      await dialog.waitFor({ state: "detached" })
      expect(api.changes).toMatchObject([
        {
          path: "/api/v1/connections",
          body: { provider: "hashicorp/aws", providedBy: { pool: "eu-west", name: "aws-production" } }
        }
      ])
      expect(JSON.stringify(api.changes)).not.toContain("values")
      expect(faults).toEqual([])
    })
})

describe("a connection", () => {
  for (const look of [lightEnglish, darkJapanese])
    test(`a connection can be opened to members and given new values by keyboard (${look.language})`, async () => {
      const english = look.language === "en"
      const { page, api, faults, go } = await suite.visit(look)
      await go(screen, ".row-connection")
      const edit = page.getByRole("button", { name: english ? "Edit" : "編集" }).first()
      await edit.focus()
      await page.keyboard.press("Enter")
      const dialog = page.getByRole("dialog")
      const roles = dialog.getByLabel(english ? "Roles" : "ロール")
      await roles.focus()
      await roles.selectOption("member")
      await dialog.getByLabel(english ? /^Refs/ : /^ref/).fill("main\nrelease")
      await dialog.getByLabel("AWS_ACCESS_KEY_ID").fill("AKIAEXAMPLE")
      await dialog.getByLabel("AWS_SECRET_ACCESS_KEY").fill("hunter2")
      expect(await barriers(page)).toEqual([])
      await dialog.getByLabel("AWS_SECRET_ACCESS_KEY").press("Enter")
      await dialog.waitFor({ state: "detached" })
      expect(api.changes).toMatchObject([
        {
          method: "PATCH",
          body: {
            use: { roles: ["owner", "admin", "member"], refs: ["main", "release"] },
            values: { AWS_ACCESS_KEY_ID: "AKIAEXAMPLE", AWS_SECRET_ACCESS_KEY: "hunter2" }
          }
        }
      ])
      expect(faults).toEqual([])
    })

  test("a connection is removed after confirmation", async () => {
    const { page, api, faults, go } = await suite.visit()
    await go(screen, ".row-connection")
    const before = await page.locator(".row-connection").count()
    await page.getByRole("button", { name: "Remove" }).first().click()
    await page.getByRole("alertdialog").or(page.getByRole("dialog")).getByRole("button", { name: "Remove" }).click()
    await page
      .locator(".row-connection")
      .nth(before - 1)
      .waitFor({ state: "detached" })
    expect(api.changes.map(({ method }) => method)).toEqual(["DELETE"])
    expect(faults).toEqual([])
  })
})

describe("Operator helpers", () => {
  for (const look of [lightEnglish, darkJapanese])
    test(`an operator's helper redirects a person to its server and back to the new connection (${look.language})`, async () => {
      const english = look.language === "en"
      const { page, api, faults, go } = await suite.visit(look)
      await go(screen, ".row-connection")
      await page
        .getByText(english ? /id\.acme\.example for: projects\.write/ : /id\.acme\.example で許可を求めます/)
        .waitFor()
      // The created connection has a problem, which the page shows with its remedy.
      await page.getByText(/refused to renew the access token: invalid_grant/).waitFor()
      const again = page.getByRole("button", { name: english ? "Reconnect" : "再接続" })
      expect(await again.count()).toBe(1)
      expect(await barriers(page)).toEqual([])
      const connect = page.getByRole("button", { name: english ? "Connect with Acme Cloud" : "Acme Cloud で接続" })
      await connect.focus()
      await page.keyboard.press("Enter")
      await page.getByText(english ? "AWS production is connected." : "AWS production に接続しました。").waitFor()
      expect(page.url()).not.toContain("connected=")
      expect(api.changes).toMatchObject([
        {
          method: "POST",
          path: "/api/v1/connections/oauth/acme-cloud/start",
          body: { workspaceId: expect.any(String) }
        }
      ])
      expect(faults).toEqual([])
    })
})
