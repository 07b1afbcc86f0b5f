import { afterAll, describe, expect } from "bun:test"
import { Deferred, Effect } from "effect"
import type { PlanJob } from "../../../runner/execution/RunJob.ts"
import { suite } from "../../support/Effect.ts"
import { brokenApply, brokenPlan, canary } from "./support/BrokenTool.ts"
import { type Placed, applyJob, planJob, recorder, temporaryFolder, variable } from "./support/RunnerHarness.ts"
import { runnerWith, TestRunner } from "./support/TestRunner.ts"

const { live, dispose } = suite(runnerWith())
afterAll(dispose)

const token = "tok-5hWq9Zr/Lm2+Xv8KpTn4Ys7Bd1Fg6Hj3Qa0Ec=longer-than-a-line-of-any-dump-or-76-columns-of-base64"
const key = [
  "-----BEGIN PRIVATE KEY-----",
  ...(Buffer.from("private key material; ".repeat(9))
    .toString("base64")
    .match(/.{1,64}/g) ?? []),
  "-----END PRIVATE KEY-----"
].join("\n")

/** The values are not marked as sensitive for the tool, because the tool would then hide the output itself. */
const provisioned = (name: string, command: string) => `
resource "terraform_data" "${name}" {
  provisioner "local-exec" {
    command     = <<-EOT
${command}
    EOT
    environment = { TOKEN = nonsensitive(var.token), KEY = nonsensitive(var.key) }
  }
}
`
const variables = `
variable "token" {
  type      = string
  sensitive = true
}
variable "key" {
  type      = string
  sensitive = true
}
`
// Interleaves two commands: each prints half of the secret, then waits for the other command before it prints the rest.
const meet = (own: string, other: string) => `
printf '%.20s\\n' "$TOKEN"
: > ../${own}
while [ ! -e ../${other} ]; do sleep 0.01; done
printf '%s\\n' "$TOKEN" | cut -c 21-`

const main = [
  variables,
  provisioned(
    "halves",
    `printf '%.20s' "$TOKEN"; printf '\\n'; printf '%s\\n' "$TOKEN" | cut -c 21-; echo halves-done`
  ),
  provisioned("wrapped", `printf '%s and more of it' "$TOKEN" | base64 -w 76; echo wrapped-done`),
  provisioned(
    "dumped",
    `printf '%s' "$TOKEN" | xxd; printf '%s' "$TOKEN" | od -c; printf '%s' "$TOKEN" | od -x; echo dumped-done`
  ),
  provisioned(
    "line_by_line",
    `printf '%s\\n' "$KEY" | while read -r line; do printf '%s\\n' "$line"; done; echo lines-done`
  ),
  provisioned("one", `${meet("one", "two")}\necho one-done`),
  provisioned("two", `${meet("two", "one")}\necho two-done`)
].join("")

const half = token.slice(0, 20)

const expectNothingOf = (secret: string, shown: string) => {
  const text = JSON.stringify(shown).replaceAll("\\n", "")
  for (let at = 0; at + 6 <= secret.length; at++) {
    const piece = secret.slice(at, at + 6)
    // Skips the words in a key's first and last line, which are not secret.
    if (/^[A-Z -]+$/.test(piece)) continue
    expect({ piece, isShown: text.includes(piece) }).toEqual({ piece, isShown: false })
  }
}

const job = (folder: string, files: Readonly<Record<string, string>>): Placed<PlanJob> =>
  planJob(folder, files, { variables: { token: variable(token, true), key: variable(key, true) } })

describe("Split secrets", () => {
  live(
    "a secret split across provisioner messages is hidden in every form, and all other output is shown in order",
    () =>
      Effect.gen(function* () {
        const runner = yield* TestRunner
        const folder = yield* temporaryFolder
        const seen = recorder()
        const plan = job(folder, { "main.tf": main })
        const planned = yield* runner.plan(plan, seen.sink)
        const applied = yield* runner.apply(applyJob(folder, plan, planned), seen.sink)
        expect(applied.exit).toBe("succeeded")

        const of = (name: string) =>
          seen.logs
            .filter(({ text }) => text.startsWith(`terraform_data.${name}: (local-exec): `))
            .map(({ text }) => text.slice(`terraform_data.${name}: (local-exec): `.length))
            .filter((text) => !text.startsWith("Executing:"))
        const mark = "[redacted var.token]"
        expect(of("halves")).toEqual([mark, "halves-done"])
        expect(of("one")).toEqual([mark, "one-done"])
        expect(of("two")).toEqual([mark, "two-done"])
        expect(of("wrapped").at(0)).toStartWith(mark)
        expect(of("wrapped").at(-1)).toBe("wrapped-done")
        expect(of("dumped").at(-1)).toBe("dumped-done")
        expect(of("line_by_line")).toEqual(["[redacted var.key]", "lines-done"])

        const printed = seen.logs.filter(({ text }) => !text.includes("Executing:")).map(({ text }) => text)
        for (const secret of [token, key.replaceAll("\n", "")]) expectNothingOf(secret, printed.join("\n"))
        const encoded = Buffer.from(`${token} and more of it`).toString("base64")
        for (let at = 0; at + 12 <= (token.length * 4) / 3; at++) {
          expect(printed.join("").includes(encoded.slice(at, at + 12))).toBe(false)
        }
        const cells = [...Buffer.from(token)].map((byte) => byte.toString(16))
        const dump = of("dumped").join("").replaceAll(/\s/g, "")
        for (let at = 0; at + 6 <= cells.length; at++) expect(dump).not.toContain(cells.slice(at, at + 6).join(""))

        // Each resource must complete only after its last output.
        for (const name of ["halves", "wrapped", "dumped", "line_by_line", "one", "two"]) {
          const lines = seen.logs.map(({ text }) => text).filter((text) => text.startsWith(`terraform_data.${name}: `))
          expect(lines.at(-1)).toContain("Creation complete")
        }
      })
  )

  live("a secret split across provisioner messages is hidden in the log and in the error of a failing command", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const seen = recorder()
      const plan = job(folder, {
        "main.tf": variables + provisioned("half", `echo before; printf '%.20s\\n' "$TOKEN"; exit 3`)
      })
      const planned = yield* runner.plan(plan, seen.sink)
      const applied = yield* runner.apply(applyJob(folder, plan, planned), seen.sink)
      expect(applied.exit).not.toBe("succeeded")
      const shown = `${seen.everything()}${JSON.stringify(applied)}`
      expect(shown).toContain("(local-exec): before")
      expect(shown).toContain("terraform_data.half: (local-exec): [redacted var.token]")
      expectNothingOf(half, shown)
    })
  )
})

const message = (text: string, rest: object) => JSON.stringify({ "@level": "info", "@message": text, ...rest })
const printed = (resource: string, output: string) =>
  message(`${resource}: (local-exec): ${output}`, {
    type: "provision_progress",
    hook: { resource: { addr: resource }, provisioner: "local-exec", output }
  })
const printing = (lines: string) => `cat <<'EOF'\n${lines}\nEOF`
const first = canary.slice(0, 12)

describe("Partial secrets", () => {
  live(
    "a line that may contain the start of a secret delays only its resource's output, and is printed redacted after a cancellation",
    () =>
      Effect.gen(function* () {
        const runner = yield* TestRunner
        const folder = yield* temporaryFolder
        const cancel = yield* Deferred.make<void>()
        const seen = recorder()
        const sink = {
          ...seen.sink,
          log: (...line: Parameters<typeof seen.sink.log>) =>
            seen.sink
              .log(...line)
              .pipe(Effect.tap(() => (line[2].endsWith("other") ? Deferred.succeed(cancel, undefined) : Effect.void)))
        }
        const lines = [
          printed("t.a", `x ${first}`),
          message("t.a: Still creating...", {
            type: "apply_progress",
            hook: { resource: { addr: "t.a" }, action: "create", elapsed_seconds: 10 }
          }),
          printed("t.b", "other")
        ].join("\n")
        const script = {
          apply: `trap 'exit 1' INT; printf 'plain ${first}\\n' >&2; ${printing(lines)}\nwhile :; do sleep 0.02; done`
        }
        const applied = yield* runner.apply(brokenApply(folder, script, { cancel: Deferred.await(cancel) }), sink)
        expect(applied.exit).not.toBe("succeeded")
        const texts = seen.logs.map(({ text }) => text)
        const mark = "[redacted env.DEMO_TOKEN]"
        expect(texts.filter((text) => text.startsWith("t."))).toEqual([
          "t.b: (local-exec): other",
          `t.a: (local-exec): x ${mark}`,
          "t.a: Still creating..."
        ])
        expect(texts).toContain(`plain ${mark}`)
        expectNothingOf(first, seen.everything())
      })
  )

  live("a secret is recognised across the details of a diagnostic and the tool's plain-text lines", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const seen = recorder()
      const rest = canary.slice(12)
      const lines = [
        message(`Error: ${first}`, {
          type: "diagnostic",
          diagnostic: { severity: "error", summary: first, detail: `${rest} is what it was` }
        }),
        first,
        rest,
        "last words"
      ].join("\n")
      const failure = yield* Effect.flip(
        runner.plan(brokenPlan(folder, { plan: `${printing(lines)}\nexit 1` }), seen.sink)
      )
      const shown = seen.everything() + JSON.stringify(failure)
      expect(shown).toContain("is what it was")
      expect(shown).toContain("last words")
      expectNothingOf(canary, shown)
    })
  )
})
