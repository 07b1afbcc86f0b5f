import { afterAll, expect } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import * as fc from "fast-check"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Dependencies } from "../../../../actors/ledger/dependency/Dependencies.ts"
import { isExactNumber } from "../../../../schema/json/ExactNumbers.ts"
import { suite } from "../../../support/Effect.ts"
import { active, applied, planned, replanned } from "../../../support/Journey.ts"
import { plainTerraform } from "../../../support/PlainTerraform.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { unpacked } from "../../support/UnpackedExport.ts"

const tests = suite(testPlane())
const scratch = mkdtempSync(join(tmpdir(), "svc-exact-"))
afterAll(async () => {
  await tests.dispose()
  rmSync(scratch, { recursive: true, force: true })
})

const seed = Number(process.env["SVC_EXACT_SEED"] ?? Math.floor(Math.random() * 2 ** 31))
const size = Number(process.env["SVC_EXACT_VALUES"] ?? 40)

const digits = (most: number) =>
  fc
    .tuple(fc.integer({ min: 1, max: 9 }), fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: most, size: "max" }))
    .map(([first, more]) => `${first}${more.join("")}`)

/** Generates numbers of every size, as JSON text. */
const numberText = fc.oneof(
  fc.constantFrom("0", "1", "-1", "9007199254740991", "9007199254740992", "9007199254740993", "9223372036854775807"),
  fc.constantFrom("9223372036854775808", "18446744073709551616", "0.1", "0.30000000000000004", "0.0000001"),
  fc.constantFrom("12345678901234.123456", "1000000000000000000000", "123456789012345680000"),
  fc.tuple(fc.constantFrom("", "-"), digits(120)).map(([sign, whole]) => `${sign}${whole}`),
  fc
    .tuple(fc.constantFrom("", "-"), digits(20), digits(40))
    .map(([sign, whole, fraction]) => `${sign}${whole}.${fraction.replace(/0+$/, "")}5`)
)

/**
 * Generates strings with every kind of escape. The tool replaces invalid Unicode, so the strings contain only valid characters.
 */
const anyString = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.constantFrom(
    "${a}",
    "%{if}",
    "$${b}",
    "\u0000\b\f\n\r\t",
    '"\\/',
    "\u2028\u2029",
    "<&>",
    "9007199254740993",
    "null"
  ),
  fc.constantFrom("e\u0301", "1e3", "-0", "")
)
const anyKey = fc.oneof(
  fc.stringMatching(/^[a-z][a-z_0-9]{0,8}$/),
  fc.constantFrom("__proto__", "constructor", "with space", 'quo"te', "\\", "日本", "${x}", "1", "toString")
)

/** Generates a random value, as JSON text. */
const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    numberText,
    anyString.map((text) => JSON.stringify(text)),
    fc.constantFrom("null", "true", "false"),
    fc.array(tie("value"), { maxLength: 4 }).map((items) => `[${items.join()}]`),
    fc
      .uniqueArray(fc.tuple(anyKey, tie("value")), { maxLength: 4, selector: ([key]) => key })
      .map((members) => `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join()}}`)
  )
})).value

/** JSON text for types that JSON lacks, generated as lists whose elements have one type. */
const collection = fc.oneof(
  fc.array(numberText, { maxLength: 4 }).map((items) => ["number", `[${items.join()}]`] as const),
  fc
    .array(anyString, { maxLength: 4 })
    .map((items) => ["string", `[${items.map((item) => JSON.stringify(item)).join()}]`] as const)
)

const conversions = {
  list: (kind: string, name: string) => `tolist([for x in local.v.${name} : to${kind}(x)])`,
  set: (kind: string, name: string) => `toset([for x in local.v.${name} : to${kind}(x)])`,
  map: (kind: string, name: string) => `tomap({ for i, x in local.v.${name} : "k\${i}" => to${kind}(x) })`
}

const drawn = [
  '{"small":5,"exact":9223372036854775808,"odd":9007199254740993,"text":"9007199254740993"}',
  ...fc.sample(jsonText, { numRuns: size, seed })
]
const collections = fc.sample(fc.tuple(fc.constantFrom("list", "set", "map"), collection), { numRuns: 6, seed })
const names = [...drawn.map((_, index) => `v${index}`), ...collections.map((_, index) => `c${index}`)]

const valuesJson = `{${[
  ...drawn.map((text, index) => `"v${index}":${text}`),
  ...collections.map(([, [, text]], index) => `"c${index}":${text}`)
].join()}}`

const producerModule = [
  'locals { v = jsondecode(file("${path.module}/values.json")) }',
  ...drawn.map((_, index) => `output "v${index}" { value = local.v.v${index} }`),
  ...collections.map(
    ([shape, [kind]], index) => `output "c${index}" { value = ${conversions[shape](kind, `c${index}`)} }`
  )
].join("\n")

const consumerModule = [
  ...names.map((name) => `variable "${name}" {\n  type     = any\n  default  = "unset"\n  nullable = true\n}`),
  ...names.map((name) => `output "${name}" { value = jsonencode(var.${name}) }`)
].join("\n")

interface Digits {
  readonly number: string
}

/** Converts JSON text to a document that keeps every digit and distinguishes numbers from strings of digits. */
const exactly = (text: string): unknown =>
  JSON.parse(text, (_key, value: unknown, context?: { readonly source: string }) =>
    typeof value === "number" ? ({ number: String(context?.source) } satisfies Digits) : value
  )

const isDigits = (value: object): value is Digits => "number" in value && typeof value.number === "string"

/** Returns the tool's value as the API would return it. */
const shown = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(shown)
  if (isDigits(value) && Object.keys(value).length === 1) {
    const number = Number(value.number)
    return isExactNumber(value.number) && !String(number).includes("e") ? number : value.number
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shown(member)]))
}

const member = (root: unknown, name: string): unknown =>
  typeof root === "object" && root !== null ? Object.entries(root).find(([key]) => key === name)?.[1] : undefined

const bare = (folder: string, ...args: ReadonlyArray<string>) =>
  Effect.promise(async () => {
    const child = Bun.spawn([plainTerraform, ...args], {
      cwd: folder,
      env: { PATH: process.env["PATH"] ?? "", HOME: folder, CHECKPOINT_DISABLE: "1", TF_IN_AUTOMATION: "1" },
      stdout: "pipe",
      stderr: "pipe"
    })
    const [code, out, err] = await Promise.all([
      child.exited,
      new Response(child.stdout).text(),
      new Response(child.stderr).text()
    ])
    if (code !== 0) throw new Error(`terraform ${args[0]}: ${out}${err}`)
    return out
  })

/** Returns the Outputs of a module, after applying it with the tool alone, without svc. */
const bareOutputs = Effect.fnUntraced(function* (name: string, files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(scratch, `${name}-`))
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
  yield* bare(folder, "init", "-input=false")
  yield* bare(folder, "apply", "-auto-approve", "-input=false", "-json")
  return exactly(yield* bare(folder, "output", "-json"))
})

/** Converts the document back to JSON text, with every number exactly as the tool wrote it. */
const written = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(written).join()}]`
  if (isDigits(value) && Object.keys(value).length === 1) return value.number
  return `{${Object.entries(value)
    .map(([name, inner]) => `${JSON.stringify(name)}:${written(inner)}`)
    .join()}}`
}

tests.live(
  `values reach a consumer and its export exactly as they would with the tool alone (SVC_EXACT_SEED=${seed})`,
  () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const capsules = yield* Capsules
      const files = { "main.tf": producerModule, "values.json": valuesJson }
      const toolProduced = yield* bareOutputs("producer", files)
      const valueOf = (name: string) => member(member(toolProduced, name), "value")
      // The tool drops an Output whose value is null.
      const kept = names.filter((name) => member(toolProduced, name) !== undefined)
      const variableFile = `{${kept.map((name) => `"${name}":${written(valueOf(name))}`).join()}}`
      const toolConsumed = yield* bareOutputs("consumer", {
        "main.tf": consumerModule,
        "terraform.tfvars.json": variableFile
      })

      const producer = yield* active("exact-producer", files)
      const outputs = new Map((yield* capsules.outputs(producer.capsule.id)).map((one) => [one.name, one.value]))
      expect([...outputs.keys()].toSorted()).toEqual(kept.toSorted())
      const reviewed = new Map((producer.plan.outputChanges ?? []).map((one) => [one.name, one.after]))
      for (const name of kept) expect<unknown>(reviewed.get(name)).toEqual(shown(valueOf(name)))
      for (const name of kept) expect<unknown>(outputs.get(name)).toEqual(shown(valueOf(name)))

      const { capsuleId } = yield* planned("exact-consumer", { "main.tf": consumerModule })
      yield* (yield* Dependencies).create(context, capsuleId, {
        producerCapsuleId: producer.capsule.id,
        mode: "variable_injection",
        outputs: kept.map((name) => ({ from: name, to: name, required: true }))
      })
      const apply = yield* applied(yield* replanned(capsuleId))
      expect(apply.error).toBeUndefined()
      const consumed = new Map((yield* capsules.outputs(capsuleId)).map((one) => [one.name, one.value]))
      for (const name of names) expect<unknown>(consumed.get(name)).toEqual(member(member(toolConsumed, name), "value"))

      const exported = yield* unpacked(capsuleId)
      expect(exactly(yield* exported.read("module/terraform.tfvars.json"))).toEqual(exactly(variableFile))
    }),
  180_000
)
