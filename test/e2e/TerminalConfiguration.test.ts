import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
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
output "network" {
  value = terraform_data.network.output
}
output "secret_length" {
  value = nonsensitive(length(var.password))
}
`

describe.skipIf(isIncomplete)("svc capsule set", () => {
  live("changes inputs from arguments, files and standard input, up to a plan, and repeats no secret", () =>
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

      // The same values as the tool would read from its command line and its files.
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

      // Refused before anything is sent, with the flag's name, and without a value.
      const broken = yield* file("broken.tfvars", `password = "${secret}" + 1\n`)
      for (const [args, message] of [
        [[], "Nothing would change"],
        [["--var", `password=${secret}`], "other users of the machine can read arguments"],
        [["--var", "password"], "there is no terminal to ask at"],
        [["--var", "regin=x"], "Did you mean region?"],
        [["--unset", "other"], "declares no variable other"],
        [["--var", "zones=b"], "texts in it have quotes"],
        [["--var-file", broken], "line 1: password: its value is computed"],
        [["--var-file", "/nowhere"], "the file cannot be read"],
        [["--var", "region=-", "--var", "password=-"], "Only one value or file"]
      ] as const) {
        const refused = yield* told([...set, ...args])
        expect([args, refused.code, refused.error]).toEqual([args, 2, expect.stringContaining(message)])
        expect(refused.error).not.toContain(secret)
      }
      // The server judges what does not fit.
      const unfit = yield* told([...set, "--var", "size=many"])
      expect([unfit.code, unfit.error]).toEqual([1, expect.stringContaining("size")])
      // The same key and guard answer with the same plan; the guard alone is refused once the configuration has moved.
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
})
