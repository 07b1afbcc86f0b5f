import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Fiber } from "effect"
import { live } from "../src/cli/support/CommandLine.ts"
import { acme } from "./support/Verbs.ts"
import { isIncomplete } from "./support/NetworkShell.ts"

setDefaultTimeout(180_000)

const network = `
variable "region" {
  type = string
}
variable "size" {
  type    = number
  default = 1
}
variable "zones" {
  type    = list(string)
  default = []
}
variable "password" {
  type      = string
  sensitive = true
  default   = "of the module"
}
resource "terraform_data" "network" {
  input = "\${var.region} \${var.size} \${join(",", var.zones)}"
}
check "short" {
  assert {
    condition     = length(var.region) < 20
    error_message = "Long."
  }
}
output "network" {
  value = terraform_data.network.output
}
output "secret_length" {
  value = nonsensitive(length(var.password))
}
`

describe.skipIf(isIncomplete)("svc capsule set", () => {
  live("svc capsule set takes inputs from arguments, files and standard input, and never prints a secret", () =>
    Effect.gen(function* () {
      const { file, json, server, told } = yield* acme({ "network/main.tf": network })
      const values = yield* file("values.tfvars", 'region = "north"\n')
      const install = [
        "install",
        server.repositoryUrl,
        "--module",
        "network",
        "--name",
        "network",
        "--var-file",
        values
      ]
      const installed = yield* json(install)
      expect([installed.code, installed.error]).toEqual([3, expect.not.stringContaining("error")])
      const decided = Effect.fnUntraced(function* (run: { readonly id: string; readonly planDigest: string }) {
        expect((yield* told(["approve", run.id, "--digest", run.planDigest])).code).toBe(0)
        expect((yield* told(["apply", run.id])).code).toBe(0)
        return (yield* json(["capsule", "outputs", "network"])).value.outputs.map(
          ({ name, value }: { readonly name: string; readonly value: unknown }) => [name, value]
        )
      })
      expect(yield* decided(installed.value.run)).toEqual([
        ["network", "north 1 "],
        ["secret_length", 13]
      ])

      // svc reads values from the command line and from files as the tool does.
      const more = yield* file("more.tfvars", 'size = "3" # as a text\nzones = [\n  "a",\n]\n')
      const set = ["capsule", "set", "network"]
      const changed = yield* json([
        ...set,
        "--var-file",
        more,
        "--var",
        "region=south=east",
        "--var",
        'zones=["b", "c"]'
      ])
      expect([changed.code, changed.error]).toEqual([3, expect.not.stringContaining("error")])
      expect(yield* decided(changed.value.run)).toEqual([
        ["network", "south=east 3 b,c"],
        ["secret_length", 13]
      ])
      const secret = "canary-secret-value"
      const hidden = yield* told([...set, "--var", "password=-"], `${secret}\n`)
      expect([hidden.code, `${hidden.out}${hidden.error}`.includes(secret)]).toEqual([3, false])
      const waiting = (yield* json(["run", "get", "network"])).value.run
      expect(yield* decided(waiting)).toEqual([
        ["network", "south=east 3 b,c"],
        ["secret_length", secret.length]
      ])
      const unset = yield* json([...set, "--unset", "password", "--unset", "zones"])
      expect(yield* decided(unset.value.run)).toEqual([
        ["network", "south=east 3 "],
        ["secret_length", 13]
      ])
      const { variables } = (yield* json(["capsule", "variables", "network"])).value
      expect(
        variables.map((one: { readonly name: string; readonly set: boolean }) => [one.name, one.set]).toSorted()
      ).toEqual([
        ["password", false],
        ["region", true],
        ["size", true],
        ["zones", false]
      ])

      // svc rejects the value before it sends a request. The error contains the flag but not its value.
      const broken = yield* file("broken.tfvars", `password = "${secret}" + 1\n`)
      for (const [args, message] of [
        [[], "Nothing would change"],
        [["--var", `password=${secret}`], "other users of the machine can read arguments"],
        [["--var", "password"], "there is no terminal to ask at"],
        [["--var", "regin=x"], "Did you mean region?"],
        [["--unset", "other"], "declares no variable other"],
        [["--var", "zones=b"], "texts in it have quotes"],
        [["--var-file", broken], "line 1: password: its value is computed"],
        [["--var-file", "/nowhere"], "There is no file /nowhere"],
        [["--var", "region=-", "--var", "password=-"], "Only one value or file"]
      ] as const) {
        const refused = yield* told([...set, ...args])
        expect([args, refused.code, refused.error]).toEqual([args, 2, expect.stringContaining(message)])
        expect(refused.error).not.toContain(secret)
      }
      // The server rejects a value of the wrong type.
      const unfit = yield* told([...set, "--var", "size=many"])
      expect([unfit.code, unfit.error]).toEqual([1, expect.stringContaining("size")])
      // Repeating the request with its idempotency key and guard returns the same plan. The guard alone is refused once the
      // configuration has changed.
      const { authorityGuard } = (yield* json(["capsule", "get", "network"])).value.capsule.installConfigReAdoption
      const guarded = ["--var", "region=west", "--no-wait", "--guard", authorityGuard]
      const key = [...guarded, "--idempotency-key", "once"]
      const first = yield* json([...set, ...key])
      const again = yield* json([...set, ...key])
      expect([first.code, again.value?.run.id]).toEqual([0, first.value.run.id])
      expect((yield* json([...set, ...guarded])).code).toBe(6)
      expect((yield* told(["run", "watch", first.value.run.id])).code).toBe(3)
    })
  )

  live("svc capsule set plans another ref, waits for another person, and exits with the tool's codes", () =>
    Effect.gen(function* () {
      const { file, json, server, told } = yield* acme({ "network/main.tf": network })
      const values = yield* file("values.json", '{ "region": "north", "password": "canary-of-the-plan" }')
      const install = [
        "install",
        server.repositoryUrl,
        "--module",
        "network",
        "--name",
        "network",
        "--var-file",
        values
      ]
      const { run: first } = (yield* json(install)).value

      // The plan in JSON contains only data that reviewers see.
      const document = yield* told(["run", "get", "network", "--plan-json"])
      expect(document.code).toBe(0)
      expect(document.out).not.toContain("canary")
      expect(JSON.parse(document.out)).toMatchObject({
        format_version: "1.2",
        resource_changes: [{ address: "terraform_data.network", change: { actions: ["create"], before: null } }],
        output_changes: { network: { actions: ["create"] } },
        checks: [{ address: { kind: "check", to_display: "check.short" }, status: "pass" }]
      })
      const keys = ["variables", "prior_state", "planned_values", "configuration"]
      expect(keys.filter((key) => Object.hasOwn(JSON.parse(document.out), key))).toEqual([])

      // A pipeline waits while somebody else approves the plan.
      const waiting = yield* Effect.forkChild(json(["run", "wait", first.id, "--approved", "--wait-timeout", "2m"]))
      const early = yield* json(["run", "wait", first.id, "--approved", "--wait-timeout", "1s"])
      expect([early.code, JSON.parse(early.error.split("\n").at(-1) ?? "").error.code]).toEqual([7, "timed_out"])
      expect((yield* told(["approve", first.id, "--digest", first.planDigest, "--comment", "fine"])).code).toBe(0)
      const waited = yield* Fiber.join(waiting)
      expect(waited).toMatchObject({
        code: 0,
        value: { run: { id: first.id, approvalComment: "fine" }, approvals: { state: "approved" } }
      })
      expect((yield* told(["apply", first.id, "--detailed"])).code).toBe(2)
      expect((yield* told(["apply", first.id])).code).toBe(0)
      expect((yield* told(["run", "wait", "network"])).code).toBe(0)
      expect((yield* told(["run", "get", "network", "--plan-json"])).code).toBe(0)

      // If no decision is pending, `svc plan` exits with 0.
      const again = yield* json(["plan", "network"])
      expect([again.code, again.value.run.status]).toEqual([0, "waiting_approval"])
      expect((yield* told(["run", "watch", again.value.run.id])).code).toBe(0)
      const empty = yield* json(["plan", "network", "--detailed-exitcode", "--discard-if-empty"])
      expect([empty.code, empty.value.run]).toMatchObject([0, { status: "cancelled", endedBy: { kind: "discarded" } }])
      const ended = yield* json(["run", "wait", empty.value.run.id, "--approved"])
      expect([ended.code, ended.value.run.status]).toEqual([1, "cancelled"])

      // If a decision is pending, the exit code follows svc's convention, or the tool's convention if the flag is given.
      const set = ["capsule", "set", "network", "--var", "size=5", "--discard-if-empty"]
      expect((yield* json(set)).code).toBe(3)
      expect((yield* json([...set, "--detailed-exitcode"])).code).toBe(2)
      for (const wrong of [["plan", "nothing"], ["plan"], ["plan", "network", "--ref", "nowhere"]]) {
        expect([wrong, (yield* told([...wrong, "--detailed-exitcode"])).code]).toEqual([wrong, 1])
      }

      // Another branch
      yield* server.commit({ "network/main.tf": network.replace("= []", '= ["a"]') }, "wider")
      const other = yield* json(["plan", "network", "--ref", "wider", "--idempotency-key", "once"])
      expect([other.code, other.value.run.planSummary]).toMatchObject([3, { change: 1 }])
      const same = yield* json(["plan", "network", "--ref", "wider", "--idempotency-key", "once"])
      expect(same.value.run.id).toBe(other.value.run.id)
      expect((yield* told(["plan", "network", "--ref", "wider", "--destroy"])).code).toBe(2)
      const nowhere = yield* told(["plan", "network", "--ref", "nowhere"])
      expect([nowhere.code, nowhere.error]).toEqual([1, expect.stringContaining("There is no plan of nowhere")])
    })
  )
})
