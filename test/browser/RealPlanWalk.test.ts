import { NodeServices } from "@effect/platform-node"
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { whyWords } from "../../src/dashboard/screens/run/WhyWords.ts"
import { decisionWords } from "../../src/dashboard/screens/run/DecisionWords.ts"
import { planWords } from "../../src/dashboard/screens/run/PlanWords.ts"
import { commitWords } from "../../src/dashboard/ui/CommitWords.ts"
import { it } from "../support/Effect.ts"
import { eventually } from "../support/Eventually.ts"
import { startBrowser } from "./support/Browser.ts"
import { notesRepository } from "./support/NotesRepository.ts"
import { personAt, setUp } from "./support/Person.ts"
import { realServer } from "./support/RealServer.ts"
import { darkJapanese, lightEnglish } from "./support/Suite.ts"

const policy = (effect: "Allow" | "Deny") => `
resource "terraform_data" "exports" {
  input = jsonencode({
    Version = "2012-10-17"
    Statement = [for name in concat([for index in range(19) : "Service\${index}"], ["LegacyExportRead"]) : {
      Sid       = name
      Effect    = name == "LegacyExportRead" ? "${effect}" : "Allow"
      Principal = { AWS = "arn:aws:iam::481302776120:role/\${name}" }
      Action    = ["s3:GetObject", "s3:GetObjectVersion"]
      Resource  = "arn:aws:s3:::acme-exports/\${name}/*"
    }]
  })
}
`

const adoption = `
import {
  to = terraform_data.audit
  id = "acme-audit-prod"
}
resource "terraform_data" "audit" {}
`

const message = "Cut legacy export access"
const comment = "Checked with the team of the exports"

/** Performs the steps that lead to the plan, through the API and as the first-time user. */
const request = (page: Page, method: string, path: string, body: unknown = {}) =>
  Effect.promise(() =>
    page.evaluate(
      async ({ body, method, path }) => {
        const answer = await fetch(path, {
          method,
          headers: { "content-type": "application/json", "idempotency-key": crypto.randomUUID() },
          ...(method === "GET" ? {} : { body: JSON.stringify(body) })
        })
        if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
        return await answer.json()
      },
      { body, method, path }
    )
  )

interface Ended {
  readonly run: { readonly status: string }
}

/** Waits until the Run is neither queued nor running. */
const ended = (page: Page, id: string) =>
  Effect.map(
    eventually(
      request(page, "GET", `/api/v1/runs/${id}`),
      ({ run }: Ended) => run.status !== "queued" && run.status !== "running"
    ),
    ({ run }) => run
  )

describe("First use of a real server", () => {
  it.live(
    "a first-time user finds the changed statement, its cause, commit and approver on the Run's page",
    () =>
      Effect.gen(function* () {
        const repository = yield* notesRepository(policy("Allow"))
        const server = yield* realServer(repository.origin, ["--runner-isolation=off"])
        const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
          Effect.promise(() => started.close())
        )
        const { page, faults } = yield* Effect.promise(() => browser.open(lightEnglish))
        yield* setUp(page, server.setupLink)
        const { selectedWorkspaceId: workspace } = yield* request(page, "GET", "/api/v1/dashboard/bootstrap")
        const created = yield* request(page, "POST", `/api/v1/workspaces/${workspace}/install-plans`, {
          source: { name: "exports", url: repository.url, ref: "HEAD" },
          capsule: { name: "exports", environment: "production" },
          options: { modulePath: "." }
        })
        let plan = created.installPlan
        while (plan.nextAction === "reconcile") {
          plan = (yield* request(page, "POST", `/api/v1/install-plans/${plan.id}/reconcile`)).installPlan
        }
        yield* ended(page, plan.planRunId)
        yield* request(page, "POST", `/api/v1/runs/${plan.planRunId}/approve`)
        const { run: apply } = yield* request(page, "POST", `/api/v1/runs/${plan.planRunId}/apply`)
        expect((yield* ended(page, apply.id)).status).toBe("succeeded")

        yield* repository.commit(`${policy("Deny")}${adoption}`, message)
        const { run: sync } = yield* request(page, "POST", `/api/v1/sources/${plan.sourceId}/sync`)
        yield* ended(page, sync.id)
        const { run: planned } = yield* request(page, "POST", `/api/v1/capsules/${plan.capsuleId}/plan`)
        expect((yield* ended(page, planned.id)).status).toBe("waiting_approval")
        yield* request(page, "POST", `/api/v1/runs/${planned.id}/approve`, { comment })

        for (const look of [lightEnglish, darkJapanese]) {
          const { language } = look
          const state = yield* Effect.promise(() => page.context().storageState())
          const visit = yield* Effect.promise(() => browser.open(look))
          yield* Effect.promise(() => visit.page.context().addCookies(state.cookies))
          const { see, step } = personAt(visit.page, 60_000)
          yield* step(() => visit.page.goto(`${server.network.origin}/runs/${planned.id}`))
          // The test presses no key from here on, because everything must already be visible.
          yield* see("Statement[20] › LegacyExportRead › Effect")
          yield* see(planWords[language].imports("acme-audit-prod"))
          const decision = visit.page.getByTestId("decision")
          yield* step(() => decision.getByText(message).waitFor())
          yield* step(() => decision.getByText(commitWords[language].by("svc")).waitFor())
          yield* step(() => decision.getByText(`${decisionWords[language].approvedBy} Mina`).waitFor())
          yield* step(() => decision.getByText(comment).waitFor())
          const why = visit.page.locator(".change", { hasText: "terraform_data.exports" }).getByTestId("why")
          yield* step(() => why.waitFor())
          const because = whyWords[language].because("\u0000").split("\u0000")[0] ?? ""
          expect(yield* Effect.promise(() => why.innerText())).toStartWith(because)
          expect(visit.faults).toEqual([])
        }
        expect(faults).toEqual([])
      }).pipe(Effect.provide(NodeServices.layer)),
    300_000
  )
})
