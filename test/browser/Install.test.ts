import { describe, expect, test } from "bun:test"
import { installConfig } from "./support/records/InstallConfigs.ts"
import { newWorld } from "./support/routes/World.ts"
import { compiledBinary } from "./support/ServerProcess.ts"
import { barriers, browserSuite } from "./support/Suite.ts"

const suite = browserSuite()
const link = `/install?git=${encodeURIComponent("https://git.acme.example/infra/platform.git")}&ref=main&path=modules%2Fservice&name=Shop`

describe("Install links", () => {
  test("an install takes an input from another capsule without prompting for it", async () => {
    const { page, api, faults, go } = await suite.visit()
    await go(link, "input[type=url]")
    await page.getByRole("button", { name: "Read the repository" }).click()
    await page.getByLabel("Domain", { exact: true }).waitFor()
    await page.getByText("Take inputs from other capsules").click()
    await page.getByRole("button", { name: "Add an input" }).click()
    await page.getByLabel("Input", { exact: true }).selectOption("domain")
    await page.getByLabel("Capsule", { exact: true }).selectOption({ label: "storefront · production" })
    await page.getByLabel("Output", { exact: true }).fill("subnet_ids")
    expect(await page.getByLabel("Domain", { exact: true }).count()).toBe(0)
    await page.getByLabel("Session key").fill("s3cret")
    await page.getByLabel("Connection for aws").selectOption({ label: "AWS production" })
    await page.getByLabel("I have read these commands; run them").check()
    await page.getByRole("button", { name: "Make the plan" }).click()
    await page.getByRole("heading", { level: 1, name: /^Plan/ }).waitFor()
    expect(api.changes.find(({ path }) => path.endsWith("/install-plans"))?.body).toMatchObject({
      dependencies: [
        {
          producerCapsuleId: "cap_0000000000000001",
          mode: "variable_injection",
          outputs: [{ from: "subnet_ids", to: "domain", required: true }]
        }
      ]
    })
    expect(faults).toEqual([])
  })

  test("an install adopts an uploaded state, and warns that the old backend is not locked", async () => {
    const { page, api, faults, go } = await suite.visit()
    await go(link, "input[type=url]")
    await page.getByRole("button", { name: "Read the repository" }).click()
    await page.getByLabel("Domain").fill("shop.example.com")
    await page.getByText("Take over an existing state").click()
    const upload = page.getByRole("button", { name: "Upload the state" })
    expect(await upload.isDisabled()).toBe(true)
    await page.getByLabel("State file").setInputFiles({
      name: "terraform.tfstate",
      mimeType: "application/json",
      buffer: Buffer.from('{"version":4}')
    })
    await upload.click()
    await page.getByText("3 resources, serial 7").first().waitFor()
    await page.getByText("The old backend is not locked").waitFor()
    await page.getByLabel("Resources to give up").fill("aws_instance.gone\n\n  aws_instance.old[0] ")
    await page.getByLabel("Session key").fill("s3cret")
    await page.getByLabel("Connection for aws").selectOption({ label: "AWS production" })
    await page.getByLabel("I have read these commands; run them").check()
    await page.getByRole("button", { name: "Make the plan" }).click()
    await page.getByRole("heading", { level: 1, name: /^Plan/ }).waitFor()
    expect(api.changes.some(({ path }) => path.endsWith("/state-uploads"))).toBe(true)
    expect(api.changes.find(({ path }) => path.endsWith("/install-plans"))?.body).toMatchObject({
      adopt: {
        uploadId: "sup_0000000000000001",
        sha256: "5".repeat(64),
        undeclared: ["aws_instance.gone", "aws_instance.old[0]"]
      }
    })
    expect(faults).toEqual([])
  })

  test("an install link creates nothing before the person confirms, survives a reload, and sends exactly what was reviewed", async () => {
    const { page, api, faults, go } = await suite.visit()
    await go(link, "input[type=url]")
    expect(new URL(page.url()).pathname).toBe("/new")
    expect(await page.getByLabel("Git address").inputValue()).toBe("https://git.acme.example/infra/platform.git")
    expect(api.changes).toEqual([])

    await page.getByRole("button", { name: "Read the repository" }).click()
    await page.getByLabel("Domain").fill("shop.example.com")
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Shop")
    await page.getByLabel("Instances").fill("two")
    await page.getByLabel("Session key").fill("s3cret")
    await page.reload()
    expect(await page.getByLabel("Domain").inputValue()).toBe("shop.example.com")
    expect(await page.getByLabel("Session key").inputValue()).toBe("")

    await page.getByLabel("I have read these commands; run them").check()
    await page.getByRole("button", { name: "Make the plan" }).click()
    await page.getByText("This must be a number.").waitFor()
    await page.getByText("This needs a value.").waitFor()
    expect(api.changes.filter(({ path }) => path.endsWith("/install-plans"))).toEqual([])

    await page.getByLabel("Instances").fill("2")
    await page.getByLabel("Session key").fill("s3cret")
    await page.getByLabel("Connection for aws").selectOption({ label: "AWS production" })
    await page.getByRole("button", { name: "Make the plan" }).click()
    await page.getByRole("heading", { level: 1, name: /^Plan/ }).waitFor()
    const sent = api.changes.find(({ path }) => path.endsWith("/install-plans"))?.body
    expect(sent).toMatchObject({
      source: { url: "https://git.acme.example/infra/platform.git", ref: "main", path: "." },
      capsule: { name: "Shop", environment: "production" },
      options: {
        modulePath: "modules/service",
        providerBindings: [
          {
            provider: "registry.opentofu.org/hashicorp/aws",
            moduleLocalName: "aws",
            connectionId: "conn_0000000000000001"
          }
        ]
      },
      preflight: {
        sourceId: "src_0000000000000001",
        sourceSnapshotId: "snap_0000000000000001",
        compatibilityReportId: "rep_0000000000000001",
        installConfigId: "icfg_0000000000000001"
      },
      initialConfiguration: { sourceBuild: { outputs: ["web/dist"] } },
      variables: { domain: "shop.example.com", replicas: 2, session_key: "s3cret" }
    })
    expect(faults).toEqual([])
  })

  test("the install form starts with the operator's defaults", async () => {
    const { page, api, go } = await suite.visit()
    const operator = { name: "Web shop", profile: "untrusted", variables: ["region"], postApply: [] }
    const place = { origin: "https://git.acme.example/", path: "infra/platform.git", module: "modules/web" }
    api.world.readyMade = [{ ...installConfig, origin: "operator", operator: { ...operator, place } }]
    await go("/new", "input[type=url]")
    await page.getByText("modules/web · untrusted").waitFor()
    await page.getByRole("button", { name: "Web shop" }).click()
    expect(await page.getByLabel("Git address").inputValue()).toBe("https://git.acme.example/infra/platform.git")
    expect(api.changes).toEqual([])
  })

  test("an install lists the manifest entries that it ignores if the manifest does not fit the module", async () => {
    const world = newWorld()
    world.report = {
      ...world.report,
      manifest: {
        status: "rejected",
        diagnostics: [
          {
            path: "/install/modules/modules~1service/inputs/0/name",
            code: "variable_not_found",
            message: "The module has no variable of this name."
          }
        ],
        dropped: ["input domain", "requirement http.endpoint"]
      }
    }
    const { page, go } = await suite.visit(undefined, world)
    await go(link, "input[type=url]")
    await page.getByRole("button", { name: "Read the repository" }).click()
    await page.getByText("The repository manifest is not used for this module").waitFor()
    await page.getByText("The module has no variable of this name.").waitFor()
    await page.getByText("The install continues without: input domain, requirement http.endpoint").waitFor()
    expect(await barriers(page)).toEqual([])
  })

  test("the page rejects an install link that contains an unknown parameter", async () => {
    const { page, api, go } = await suite.visit()
    await go(`${link.replace("/install?", "/new?")}&var.domain=evil`, ".notice-bad")
    await page.getByText("It contains a field that this server does not support.").waitFor()
    expect(await page.getByLabel("Git address").count()).toBe(0)
    expect(api.changes).toEqual([])
    await page.getByRole("button", { name: "Fill in by hand" }).click()
    expect(await page.getByLabel("Git address").inputValue()).toBe("")
  })

  // The server rejects such a link before a page receives it.
  test.skipIf(compiledBinary() === undefined)(
    "the server also rejects a link with an unknown parameter, and the message is readable without JavaScript",
    async () => {
      const { page, api, go } = await suite.visit()
      await go(`${link}&var.domain=evil`, "h1")
      await page.getByText("var.domain").first().waitFor()
      expect(await page.locator("script, input").count()).toBe(0)
      expect(await barriers(page)).toEqual([])
      expect(api.changes).toEqual([])
    }
  )

  test("a connection can be created in the install form, which then selects that connection", async () => {
    const { page, go } = await suite.visit()
    await go(link, "input[type=url]")
    await page.getByRole("button", { name: "Read the repository" }).click()
    await page.getByRole("button", { name: "Create a connection" }).click()
    const dialog = page.getByRole("dialog")
    expect(await dialog.getByLabel("Purpose").inputValue()).toBe("aws-access-key")
    await dialog.getByLabel("Name").fill("AWS staging")
    await dialog.getByLabel("Access key ID").fill("a")
    await dialog.getByLabel("Secret access key").fill("b")
    await dialog.getByRole("button", { name: "Save" }).click()
    await dialog.waitFor({ state: "detached" })
    expect(await page.getByLabel("Connection for aws").locator("option:checked").textContent()).toBe("AWS staging")
  })
})

describe("signing in", () => {
  test("signing in preserves the link with its query, and reports a wrong password", async () => {
    const world = newWorld()
    world.signedIn = false
    const { page, go } = await suite.visit(undefined, world)
    await go(link, "input[type=password]")
    expect(new URL(page.url()).pathname).toBe("/sign-in")
    await page.getByLabel("E-mail address").fill("mina@acme.example")
    await page.getByLabel("Password").fill("wrong")
    await page.getByRole("button", { name: "Sign in", exact: true }).click()
    await page.getByText("The e-mail address or the password is wrong.").waitFor()
    await page.getByLabel("Password").fill("correct horse battery")
    await page.getByRole("button", { name: "Sign in", exact: true }).click()
    await page.getByLabel("Git address").waitFor()
    expect(await page.getByLabel("Git address").inputValue()).toBe("https://git.acme.example/infra/platform.git")
  })

  test("signing in never redirects to another site", async () => {
    const { page, api, go } = await suite.visit()
    for (const address of ["https://evil.example/", "/.//evil.example/"]) {
      await go(`/sign-in?return=${encodeURIComponent(address)}`, "input[type=password]")
      await page.getByLabel("E-mail address").fill("mina@acme.example")
      await page.getByLabel("Password").fill("correct horse battery")
      await page.getByRole("button", { name: "Sign in", exact: true }).click()
      await page.locator(".attention-row").first().waitFor()
      expect(new URL(page.url()).origin).toBe(api.origin)
    }
  })

  test("an unusable setup link explains the reason and the next step, even after a reload", async () => {
    for (const [secret, ...texts] of [
      ["#used-secret", "creating the first account", "The first account exists already", "svc admin reset-password"],
      ["#used-reset-secret", "getting back into an account", "This link was used", "svc admin reset-password"],
      ["#old-secret", "creating the first account", "This link has expired", "svc admin setup-link"],
      ["#old-reset-secret", "getting back into an account", "This link has expired", "svc admin reset-password"],
      ["#unheard-of", "This server does not recognise the link", "svc admin setup-link", "svc admin reset-password"],
      ["", "This link is incomplete", "svc admin setup-link", "svc admin reset-password"]
    ] as const) {
      const { page, go } = await suite.visit()
      await go(`/setup${secret}`, ".notice-warn")
      await page.reload()
      for (const said of texts) await page.getByText(said).first().waitFor()
      expect(await page.locator("form").count()).toBe(0)
      await page.close()
    }
  })

  test("the setup page mentions the first account only if there is no account, and can retry after a failure", async () => {
    const { page, go } = await suite.visit()
    await page.route("**/auth/setup/link", (route) =>
      route.fulfill({ status: 503, json: { error: { code: "unavailable", message: "The server is starting." } } })
    )
    await go("/setup#reset-secret", ".notice-bad")
    await page.getByText("The server is starting.").waitFor()
    await page.getByRole("heading", { level: 1, name: "Your one-time link" }).waitFor()
    expect(await page.locator("form").count()).toBe(0)
    await page.unroute("**/auth/setup/link")
    await page.getByRole("button", { name: "Try again" }).click()
    await page.getByText("lets you into mina@acme.example").waitFor()
  })

  test("a second setup link works in the same tab, and its secret disappears from the address bar too", async () => {
    const { page, api, go } = await suite.visit()
    await go("/setup#used-secret", ".notice-warn")
    await page.evaluate(() => {
      location.hash = "reset-secret"
    })
    await page.getByRole("heading", { level: 1, name: "Get back into your account" }).waitFor()
    await page.waitForFunction(() => location.hash === "")
    await page.getByLabel("New password").fill("correct horse battery")
    await page.getByRole("button", { name: "Set the password" }).click()
    await page.locator(".attention-row").first().waitFor()
    expect(api.changes.at(-1)).toMatchObject({
      path: "/auth/setup",
      body: { secret: "reset-secret", password: "correct horse battery" }
    })
  })

  test("pages shown before sign-in are readable without JavaScript", async () => {
    const { page, api } = await suite.visit()
    const html = await (await page.request.get(`${api.origin}/sign-in`)).text()
    expect(html).toContain("Password")
    expect(html).toContain('action="/sign-in" method="post"')
  })

  test("signing out leads to the sign-in page", async () => {
    const { page, api, go } = await suite.visit()
    await go("/w/acme", ".attention-row")
    await page.getByRole("button", { name: "Account menu" }).click()
    await page.getByRole("menuitem", { name: "Sign out" }).click()
    await page.locator("input[type=password]").waitFor()
    expect(api.world.signedIn).toBe(false)
  })
})

describe("Empty workspaces", () => {
  test("an empty workspace shows the first step", async () => {
    const world = newWorld()
    world.empty = true
    const { page, faults, go } = await suite.visit(undefined, world)
    await go("/w/acme", ".first-steps")
    await page.locator(".empty").getByRole("link", { name: "Install" }).click()
    await page.getByLabel("Git address").waitFor()
    for (const path of ["capsules", "runs", "sources", "connections", "activity", "graph"])
      await go(`/w/acme/${path}`, ".empty")
    expect(faults).toEqual([])
  })
})
