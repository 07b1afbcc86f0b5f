import { describe, expect, test } from "bun:test"
import { runWords } from "../../src/dashboard/screens/run/Words.ts"
import { applyRun, approvedRun, queuedRun, reviewRun, safeRun } from "./support/records/Runs.ts"
import { browserSuite, darkJapanese, lightEnglish } from "./support/Suite.ts"

const suite = browserSuite()

describe("Reached limits", () => {
  test("a Run that reached a limit shows the limit and the remedy", async () => {
    const { page, api, go } = await suite.visit()
    api.world.runs = api.world.runs.map((run) =>
      run.id === safeRun
        ? {
            ...run,
            status: "failed" as const,
            error: { code: "memory_limit", message: "The Run used more memory than its limit of 4 GiB and was ended." }
          }
        : run
    )
    await go(`/w/acme/runs/${safeRun}`, ".diagnosis")
    await page.getByText("more memory than its limit of 4 GiB").waitFor()
    await page.getByText("Other runs were not affected.").waitFor()
  })
})

describe("Failed checks", () => {
  test("an apply whose check failed shows the check's response, the remedy and the apply's profile", async () => {
    const { page, api, go } = await suite.visit()
    api.world.runs = api.world.runs.map((run) =>
      run.id === applyRun
        ? {
            ...run,
            status: "failed" as const,
            profile: "untrusted",
            operatorConfig: {
              digest: "sha256:0",
              name: "Web shop",
              variables: ["region"],
              postApply: [
                { name: "health", target: "the endpoint", path: "/healthz", status: [200], timeoutSeconds: 60 }
              ]
            },
            postApply: [
              { name: "health", status: "failed" as const, attempts: 12, reason: "it answered with status 503" },
              { name: "later", status: "not_run" as const, attempts: 0 }
            ],
            error: { code: "lifecycle_failed", message: "The check health after this apply failed." }
          }
        : run
    )
    await go(`/w/acme/runs/${applyRun}`, ".diagnosis")
    await page.getByText("only the operator's check after the apply failed").waitFor()
    await page.getByText("it answered with status 503").waitFor()
    await page.getByText("health: the endpoint/healthz answers 200 within 60 s").waitFor()
    await page.getByText("untrusted", { exact: true }).waitFor()
    await page.getByText("sets region").waitFor()
  })
})

describe("Reviewed plans", () => {
  test("a plan lists the addresses to which the application may redirect people, in both languages", async () => {
    for (const [look, words] of [
      [lightEnglish, runWords.en],
      [darkJapanese, runWords.ja]
    ] as const) {
      const { page, api, go } = await suite.visit(look)
      const signIn = {
        redirectUri: "https://shop.acme.example/auth/callback",
        postLogoutRedirectUris: ["https://shop.acme.example", "https://shop.acme.example/goodbye"]
      }
      api.world.runs = api.world.runs.map((run) => (run.id === reviewRun ? { ...run, signIn } : run))
      await go(`/w/acme/runs/${reviewRun}`, ".decision")
      await page.getByText(words.signIn, { exact: true }).waitFor()
      await page.getByText(words.signOutReturns).waitFor()
      for (const uri of [signIn.redirectUri, ...signIn.postLogoutRedirectUris]) {
        await page.getByText(uri, { exact: true }).waitFor()
      }
    }
  })

  test("a plan is approved by its digest only after the capsule's name has been typed, and opens its apply", async () => {
    const { page, api, faults, go } = await suite.visit()
    await go(`/w/acme/runs/${reviewRun}`, ".decision")
    await page.getByRole("button", { name: "Approve and apply" }).click()
    const dialog = page.getByRole("dialog")
    const submit = dialog.getByRole("button", { name: "Approve and apply" })
    expect(await submit.isDisabled()).toBe(true)
    await dialog.getByLabel("Type storefront to confirm").fill("storefron")
    expect(await submit.isDisabled()).toBe(true)
    await dialog.getByLabel("Type storefront to confirm").fill("storefront")
    await submit.click()
    await page.getByRole("heading", { level: 1, name: "Apply · storefront" }).waitFor()
    const digest = api.world.runs.find(({ id }) => id === reviewRun)?.planDigest
    expect(api.changes.map(({ path, body }) => [path, body])).toEqual([
      [`/api/v1/runs/${reviewRun}/approve`, { planDigest: digest }],
      [`/api/v1/runs/${reviewRun}/apply`, {}]
    ])
    expect(faults).toEqual([])
  })

  test("a plan that destroys nothing can be approved without typing the capsule's name", async () => {
    const { page, go } = await suite.visit()
    await go(`/w/acme/runs/${safeRun}`, ".decision")
    await page.getByRole("button", { name: "Approve and apply" }).click()
    expect(await page.getByRole("dialog").getByRole("textbox", { name: /Type/ }).count()).toBe(0)
    expect(await page.getByRole("dialog").getByRole("button", { name: "Approve and apply" }).isEnabled()).toBe(true)
  })

  test("a plan that has changed is not applied, and the page shows the error with its request id", async () => {
    const { page, api, go } = await suite.visit()
    await go(`/w/acme/runs/${safeRun}`, ".decision")
    await page.getByRole("button", { name: "Approve and apply" }).click()
    api.world.runs = api.world.runs.map((run) => (run.id === safeRun ? { ...run, planDigest: "sha256:other" } : run))
    await page.getByRole("dialog").getByRole("button", { name: "Approve and apply" }).click()
    await page.getByRole("dialog").getByText("The plan digest is not this Run's.").waitFor()
    await page.getByRole("dialog").getByText("req_test").waitFor()
    expect(api.changes.filter(({ path }) => path.endsWith("/apply"))).toEqual([])
  })

  test("a plan warns if its module ran with weaker isolation than a sandbox with its own network", async () => {
    const { page, api, go } = await suite.visit()
    await go(`/w/acme/runs/${safeRun}`, ".decision")
    expect(await page.getByText("with less isolation than svc can provide").count()).toBe(0)
    api.world.runs = api.world.runs.map((run) =>
      run.id === safeRun ? { ...run, isolation: "landlock" as const, network: "host" as const } : run
    )
    await go(`/w/acme/runs/${safeRun}`, ".decision")
    await page.getByText("with less isolation than svc can provide").waitFor()
    await page.getByText("without a separate file system and separate processes").waitFor()
    await page.getByText("could reach the server's network").waitFor()
    await page.getByText("The server's own, with its loopback").waitFor()
  })

  test("a plan approved by someone else shows the approval without a reload", async () => {
    const { page, api, go } = await suite.visit()
    api.world.runs = api.world.runs.filter((run) => run.planRunId !== safeRun)
    await go(`/w/acme/runs/${safeRun}`, ".decision")
    api.world.runs = api.world.runs.map((run) =>
      run.id === safeRun
        ? {
            ...run,
            status: "succeeded" as const,
            approvedAt: new Date().toISOString(),
            approvedBy: "usr_0000000000000002"
          }
        : run
    )
    api.emitEvent(safeRun, { kind: "run.approved", data: {} })
    await page.getByRole("heading", { name: "Approved, not applied yet" }).waitFor()
  })

  test("an approved plan shows the approver's comment, and its approval can be withdrawn", async () => {
    const { page, api, go } = await suite.visit()
    api.world.runs = api.world.runs
      .filter((run) => run.planRunId !== safeRun)
      .map((run) =>
        run.id === safeRun
          ? {
              ...run,
              status: "succeeded" as const,
              approvedAt: new Date().toISOString(),
              approvedBy: "usr_0000000000000002",
              approvalComment: "Checked with the network team."
            }
          : run
      )
    await go(`/w/acme/runs/${safeRun}`, ".decision")
    await page.getByTestId("decision").getByText("Checked with the network team.").waitFor()
    await page.getByRole("button", { name: "Withdraw approval" }).click()
    await page.getByRole("dialog").getByLabel("Reason").fill("The window closed.")
    await page.getByRole("dialog").getByRole("button", { name: "Withdraw approval" }).click()
    await page.getByText("The approval was withdrawn before the plan was applied.").waitFor()
    await page.getByRole("button", { name: "Plan again" }).waitFor()
    expect(api.changes.map(({ path, body }) => [path, body])).toEqual([
      [`/api/v1/runs/${safeRun}/cancel`, { reason: "The window closed." }]
    ])
  })

  test("a void plan shows why it is void, and a plan for another revision can be planned again at that revision", async () => {
    const { page, api, go } = await suite.visit()
    const capsuleId = api.world.runs.find(({ id }) => id === safeRun)?.capsuleId
    await go(`/w/acme/runs/${safeRun}`, ".decision")
    api.world.runs = api.world.runs.map((run) =>
      run.id === safeRun ? { ...run, status: "superseded" as const, revisionPlanId: "rpl_0000000000000001" } : run
    )
    api.emitEvent(safeRun, { kind: "run.superseded", data: { reason: "The Capsule was released." } })
    await page.getByText("The Capsule was released.").waitFor()
    await page.getByRole("button", { name: "Plan release-2 again" }).click()
    await page.getByText("Waiting in the queue").waitFor()
    expect(api.changes.map(({ path, body }) => [path, body])).toEqual([
      [`/api/v1/capsules/${capsuleId}/revision-plans`, { ref: "release-2" }]
    ])
  })

  test("a plan is read-only for people who may not approve", async () => {
    const { page, go } = await suite.visit()
    await page.route("**/dashboard/bootstrap", async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, body: (await response.text()).replace('"role":"owner"', '"role":"member"') })
    })
    await go(`/w/acme/runs/${reviewRun}`, ".decision")
    await page.getByText("An admin of this workspace can approve this plan.").waitFor()
    expect(await page.getByRole("button", { name: "Approve and apply" }).count()).toBe(0)
  })

  test("a plan does not reveal hidden values", async () => {
    const { page, go } = await suite.visit()
    await go(`/w/acme/runs/${reviewRun}`, ".attributes")
    expect(await page.locator(".attributes > div", { hasText: "password" }).textContent()).toContain("hidden")
  })
})

describe("Plan changes", () => {
  const rows = (text: string) => ({ hasText: text })

  test("a changed policy shows the statement, its new effect, and the number of collapsed statements", async () => {
    const { page, go, faults } = await suite.visit()
    await go(`/w/acme/runs/${reviewRun}`, ".difference")
    const policy = page.locator(".change", rows("aws_s3_bucket_policy.exports"))
    await policy.getByText("1 of 20 statements changed").waitFor()
    expect(await policy.locator(".difference-highlight").innerText()).toBe("Effect Allow → Deny")
    expect(await policy.locator(".difference-path").innerText()).toBe("Statement[14] › LegacyExportRead › Effect")
    expect(await policy.locator(".difference-removed").innerText()).toContain('"Effect": "Allow"')
    expect(await policy.locator(".difference-added mark").innerText()).toBe("Deny")
    const fold = policy.locator(".difference-fold", rows("13 statements unchanged"))
    expect(await fold.locator(".difference-line").count()).toBe(0)
    await fold.locator("summary").focus()
    await page.keyboard.press("Enter")
    await fold.getByText('"Sid": "Service12"', { exact: false }).waitFor()
    expect(faults).toEqual([])
  })

  test("the page decodes a script that its provider stores as base64", async () => {
    const { page, go } = await suite.visit()
    await go(`/w/acme/runs/${reviewRun}`, ".difference")
    const template = page.locator(".change", rows("aws_launch_template.api"))
    await template.getByText("base64, decoded").waitFor()
    expect(await template.locator(".difference-added").innerText()).toContain(
      "docker run -d --name api acme/api:4.18.0"
    )
  })

  test("a plan's changes include adopted imports, the former addresses of moved resources, and causes of replacements", async () => {
    const { page, go } = await suite.visit()
    await go(`/w/acme/runs/${reviewRun}`, ".difference")
    expect(await page.locator(".change-group-import").innerText()).toContain("adopts acme-audit-prod")
    expect(await page.locator(".change-group-move").innerText()).toContain("moved from aws_security_group.api")
    const forced = page.locator(".attributes dt", rows("forces replacement"))
    expect(await forced.allInnerTexts()).toEqual(["engine_version\n± forces replacement"])
    expect(await page.locator(".noise > summary").innerText()).toContain("2 updates of labels only")
  })
})

describe("Queued runs", () => {
  test("a queued Run shows how many Runs are ahead of it, and links to the Run that blocks it", async () => {
    const { page, go } = await suite.visit()
    await go(`/w/acme/runs/${queuedRun}`, ".notice-info")
    await page.getByText("One run of this capsule comes first.").waitFor()
    await page.getByRole("link", { name: "open that run" }).click()
    await page.getByRole("heading", { level: 1, name: /^Apply/ }).waitFor()
  })
})

describe("Short addresses", () => {
  test("a short Run address opens the Run in its workspace", async () => {
    const { page, go } = await suite.visit()
    await go(`/runs/${approvedRun}`, ".timeline")
    expect(new URL(page.url()).pathname).toBe(`/w/acme/runs/${approvedRun}`)
  })
})
