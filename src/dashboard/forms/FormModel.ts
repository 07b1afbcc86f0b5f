import type { Schema } from "effect"
import { containsRoundedNumber, isExactNumber } from "../../../schema/json/ExactNumbers.ts"
import type { Bilingual, DeclaredVariable, InstallConfig, ReportVariable } from "../api/Types.ts"

/** A question in the form. Answers to `secret` questions are sent once and never stored in the browser. */
export interface FormField {
  readonly name: string
  readonly type: ReportVariable["type"]
  readonly label: Bilingual
  readonly helper: Bilingual | undefined
  readonly placeholder: string | undefined
  readonly required: boolean
  readonly hasDefault: boolean
  readonly secret: boolean
  readonly advanced: boolean
  readonly format: string | undefined
  /** The type as written in the module. */
  readonly typeExpression: string | undefined
  /** The module's default as JSON. Never set for a secret. */
  readonly defaultJson: string | undefined
}

export interface FormGroup {
  readonly id: string
  /** Absent if the question does not belong to a feature. */
  readonly label: Bilingual | undefined
  readonly optional: boolean
  readonly fields: ReadonlyArray<FormField>
}

export interface FormModel {
  readonly groups: ReadonlyArray<FormGroup>
  readonly advanced: ReadonlyArray<FormField>
  /** The variables that the form omits, and the sources of their values. */
  readonly filled: ReadonlyArray<{ readonly name: string; readonly origin: DeclaredVariable["origin"] }>
}

/** The entered values, keyed by variable name. Numbers and JSON remain text until they are sent. */
export type Draft = Readonly<Record<string, string>>

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const bilingual = (value: unknown): Bilingual | undefined =>
  isRecord(value) && typeof value.ja === "string" && typeof value.en === "string"
    ? { ja: value.ja, en: value.en }
    : undefined

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

const records = (value: unknown): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  Array.isArray(value) ? value.filter(isRecord) : []

/** Reads the presentation that the server sends: the manifest's `inputs` and `features`. Ignores all other members. */
const presentationOf = (presentation: unknown) => {
  const document = isRecord(presentation) ? presentation : {}
  const inputs = new Map(
    records(document.inputs).flatMap((input) => (typeof input.name === "string" ? [[input.name, input] as const] : []))
  )
  const features = records(document.features).flatMap((feature) => {
    const label = bilingual(feature.label)
    const names = Array.isArray(feature.inputs) ? feature.inputs.filter((name) => typeof name === "string") : []
    return typeof feature.id === "string" && label !== undefined
      ? [{ id: feature.id, label, optional: feature.optional === true, names }]
      : []
  })
  return { inputs, features }
}

const fieldOf = (
  variable: ReportVariable | DeclaredVariable,
  input: Readonly<Record<string, unknown>> | undefined
): FormField => {
  const { defaultJson, description, typeExpression } = variable
  const secret = variable.sensitive || input?.secret === true
  return {
    name: variable.name,
    type: variable.type,
    label: bilingual(input?.label) ?? { en: variable.name, ja: variable.name },
    helper:
      bilingual(input?.helper) ??
      (description === undefined || description === "" ? undefined : { en: description, ja: description }),
    placeholder: text(input?.placeholder),
    required: variable.required || input?.required === true,
    hasDefault: variable.hasDefault,
    secret,
    advanced: input?.advanced === true,
    format: text(input?.format),
    typeExpression,
    defaultJson: secret ? undefined : defaultJson
  }
}

/** The variables in a form for an existing Capsule. If the Capsule has a manifest, only declared inputs can be changed. */
export const changeableVariables = ({
  origin,
  presentation,
  variables
}: Pick<InstallConfig, "origin" | "presentation" | "variables">): InstallConfig["variables"] => {
  if (origin !== "repository_manifest") return variables
  const { inputs } = presentationOf(presentation)
  return variables.filter(({ name }) => inputs.get(name)?.origin !== "generic")
}

/**
 * Sorts by position in the module's files. Reports from earlier releases contain no positions, so their order is preserved.
 */
const byPlace = ({ declaredAt: a }: ReportVariable, { declaredAt: b }: ReportVariable): number =>
  a === undefined || b === undefined ? 0 : a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1

/**
 * Number of questions that fit on a screen. Optional questions without a label are collapsed only if the form has more
 * questions than this.
 */
const fitsOneLook = 6

/**
 * The form for a module's variables. Inputs that have a group or a label keep the manifest's order. If there are many
 * questions, optional variables without a label are collapsed under advanced settings.
 */
export const formModel = (
  variables: ReadonlyArray<ReportVariable>,
  declared: ReadonlyArray<DeclaredVariable> = [],
  presentation: unknown = undefined
): FormModel => {
  const { inputs, features } = presentationOf(presentation)
  const origins = new Map(declared.map(({ name, origin }) => [name, origin]))
  const originOf = (name: string): DeclaredVariable["origin"] => origins.get(name) ?? "user"
  const order = [...inputs.keys()]
  const rank = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length)
  const isLabelled = (name: string): boolean => bilingual(inputs.get(name)?.label) !== undefined
  const found = variables
    .filter(({ name }) => originOf(name) === "user")
    .sort(byPlace)
    .map((variable) => fieldOf(variable, inputs.get(variable.name)))
    .sort((a, b) => rank(a.name) - rank(b.name) || Number(b.required) - Number(a.required))
  const foldsUnlabelled = found.length > fitsOneLook || found.some(({ name }) => isLabelled(name))
  const asked = found.map((field) => ({
    ...field,
    advanced: field.advanced || (foldsUnlabelled && !field.required && !isLabelled(field.name))
  }))
  const plain = asked.filter((field) => !field.advanced)
  const claimed = new Set(features.flatMap(({ names }) => names))
  const rest = plain.filter(({ name }) => !claimed.has(name))
  return {
    groups: [
      ...(rest.length === 0 ? [] : [{ id: "", label: undefined, optional: false, fields: rest }]),
      ...features
        .map((feature) => ({
          id: feature.id,
          label: feature.label,
          optional: feature.optional,
          fields: plain.filter(({ name }) => feature.names.includes(name))
        }))
        .filter(({ fields }) => fields.length > 0)
    ],
    advanced: asked.filter((field) => field.advanced),
    filled: variables
      .filter(({ name }) => originOf(name) !== "user")
      .map(({ name }) => ({ name, origin: originOf(name) }))
  }
}

export const fieldsOf = (model: FormModel): ReadonlyArray<FormField> => [
  ...model.groups.flatMap(({ fields }) => fields),
  ...model.advanced
]

export type FieldProblem = "required" | "number" | "long_number" | "json" | "boolean"

export type Parsed =
  | { readonly kind: "unset" }
  | { readonly kind: "value"; readonly value: Schema.Json }
  | { readonly kind: "problem"; readonly problem: FieldProblem; readonly detail?: string }

const problem = (which: FieldProblem, detail?: string): Parsed => ({
  kind: "problem",
  problem: which,
  ...(detail === undefined ? {} : { detail })
})

const decimalNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/

/** A number with more digits than a JavaScript number can represent is sent as a string of its digits. */
const numberOf = (typed: string): Parsed => {
  const value = Number(typed)
  if (typed === "" || !Number.isFinite(value)) return problem("number")
  return decimalNumber.test(typed) && !(isExactNumber(typed) && (Number.isSafeInteger(value) || typed.includes(".")))
    ? { kind: "value", value: typed }
    : { kind: "value", value }
}

/** Parses an answer. An empty answer means unset, except for a required string. Spaces in text are preserved. */
export const parseAnswer = (field: Pick<FormField, "type" | "required">, typed: string | undefined): Parsed => {
  if (typed === undefined || typed === "") return field.required ? problem("required") : { kind: "unset" }
  if (field.type === "string") return { kind: "value", value: typed }
  if (field.type === "boolean")
    return typed === "true" || typed === "false" ? { kind: "value", value: typed === "true" } : problem("boolean")
  if (field.type === "number") {
    return numberOf(typed.trim())
  }
  try {
    const value: Schema.Json = JSON.parse(typed)
    return containsRoundedNumber(typed) ? problem("long_number") : { kind: "value", value }
  } catch (error) {
    return problem("json", error instanceof Error ? error.message : undefined)
  }
}

/**
 * Returns the problem with an answer, even while the person is still entering it. An empty answer is a problem only when the
 * form is submitted. Messages never quote a secret.
 */
export const problemWhileTyping = (
  field: Pick<FormField, "type" | "required" | "secret">,
  typed: string
): Extract<Parsed, { readonly kind: "problem" }> | undefined => {
  const parsed = typed === "" ? undefined : parseAnswer(field, typed)
  if (parsed?.kind !== "problem") return undefined
  return field.secret ? { kind: "problem", problem: parsed.problem } : parsed
}

export interface Answers {
  readonly values: Readonly<Record<string, Schema.Json>>
  readonly problems: ReadonlyMap<string, Extract<Parsed, { readonly kind: "problem" }>>
}

/** Returns all answers in a draft, or the problems with them. */
export const answersOf = (fields: ReadonlyArray<FormField>, draft: Draft): Answers => {
  const values: Record<string, Schema.Json> = {}
  const problems = new Map<string, Extract<Parsed, { readonly kind: "problem" }>>()
  for (const field of fields) {
    const parsed = parseAnswer(field, draft[field.name])
    if (parsed.kind === "value") values[field.name] = parsed.value
    if (parsed.kind === "problem") problems.set(field.name, parsed)
  }
  return { values, problems }
}

/** Returns the part of a draft that the browser may store: everything except the answers to secret questions. */
export const keepable = (fields: ReadonlyArray<FormField>, draft: Draft): Draft => {
  const secret = new Set(fields.filter((field) => field.secret).map(({ name }) => name))
  return Object.fromEntries(Object.entries(draft).filter(([name]) => !secret.has(name)))
}
